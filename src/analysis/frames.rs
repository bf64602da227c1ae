//! The worker's protocol: a four-byte little-endian length, then that many bytes.
//!
//! Dashboard → worker: first the policies as one JSON array, then one request per snippet: the
//! profile's name (one byte of length), the setting as JSON (four bytes of length), then the code.
//! Worker → dashboard: one empty frame when it is ready, then `[verdict, facts for the child, places,
//! flows]` as JSON for each request.

use std::io::{self, Read, Write};

use crate::model::Setting;

/// The limit on frames, larger than any snippet and any set of policies.
pub const MOST: usize = 64 * 1024 * 1024;

/// The payload preceded by its length.
pub fn framed(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len() + 4);
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(payload);
    out
}

/// A request for a verdict.
///
/// # Errors
///
/// If the setting cannot be serialized as JSON.
pub fn request(profile: &str, setting: &Setting, code: &[u8]) -> io::Result<Vec<u8>> {
    let (profile, setting) = (profile.as_bytes(), serde_json::to_vec(setting)?);
    let mut out = Vec::with_capacity(profile.len() + setting.len() + code.len() + 5);
    out.push(u8::try_from(profile.len()).unwrap_or(u8::MAX));
    out.extend_from_slice(profile);
    let length = u32::try_from(setting.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&setting);
    out.extend_from_slice(code);
    Ok(out)
}

/// Splits a request into the profile, the setting and the code.
pub fn read_request(frame: &[u8]) -> Option<(&str, Setting, &[u8])> {
    let (length, rest) = frame.split_first()?;
    let (profile, rest) = rest.split_at_checked(usize::from(*length))?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (setting, code) = rest.split_at_checked(length)?;
    let setting = serde_json::from_slice(setting).ok()?;
    Some((std::str::from_utf8(profile).ok()?, setting, code))
}

/// Reads one frame; `None` at the end of the stream.
pub fn read(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0u8; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "frame too large",
        ));
    }
    let mut payload = vec![0; length];
    from.read_exact(&mut payload)?;
    Ok(Some(payload))
}

/// Writes one frame.
pub fn write(to: &mut impl Write, payload: &[u8]) -> io::Result<()> {
    to.write_all(&framed(payload))?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_round_trips_and_garbage_is_refused() {
        let setting = Setting {
            datasets: ["sales".to_owned()].into(),
            ..Setting::default()
        };
        let frame = framed(&request("analysis", &setting, b"x\xff").unwrap());
        let payload = read(&mut frame.as_slice()).unwrap().unwrap();
        let expected = ("analysis", setting, &b"x\xff"[..]);
        assert_eq!(read_request(&payload), Some(expected));
        assert_eq!(read_request(b"\x01a\x09\0\0\0{}"), None);
        assert_eq!(read_request(b"\x01a\x01\0\0\0{"), None);
        assert_eq!(read_request(b""), None);
        assert_eq!(read_request(b"\x09x"), None);
        assert!(read(&mut &b""[..]).unwrap().is_none());
        assert!(read(&mut &b"\xff\xff\xff\xff"[..]).is_err());
        assert!(read(&mut &b"\x05\0\0\0ab"[..]).is_err());
    }
}
