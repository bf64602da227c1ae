//! The worker's protocol: a little-endian length of four bytes, then that many bytes.
//!
//! Dashboard → worker: first the policies as one JSON array, then a request for each snippet
//! (one byte of length and the profile's name, then the code). Worker → dashboard: one empty
//! frame when it is ready, then `[verdict, facts for the child]` as JSON for each request.

use std::io::{self, Read, Write};

/// Larger than any snippet and any set of policies.
pub const MOST: usize = 64 * 1024 * 1024;

/// A frame with its length before it.
pub fn framed(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len() + 4);
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(payload);
    out
}

/// A request for a verdict.
pub fn request(profile: &str, code: &[u8]) -> Vec<u8> {
    let profile = profile.as_bytes();
    let mut out = Vec::with_capacity(profile.len() + code.len() + 1);
    out.push(u8::try_from(profile.len()).unwrap_or(u8::MAX));
    out.extend_from_slice(profile);
    out.extend_from_slice(code);
    out
}

/// Takes a request apart.
pub fn read_request(frame: &[u8]) -> Option<(&str, &[u8])> {
    let (length, rest) = frame.split_first()?;
    let (profile, code) = rest.split_at_checked(usize::from(*length))?;
    Some((std::str::from_utf8(profile).ok()?, code))
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
    fn a_request_comes_back_as_it_was_and_garbage_does_not() {
        let frame = framed(&request("analysis", b"x\xff"));
        let payload = read(&mut frame.as_slice()).unwrap().unwrap();
        assert_eq!(read_request(&payload), Some(("analysis", &b"x\xff"[..])));
        assert_eq!(read_request(b""), None);
        assert_eq!(read_request(b"\x09x"), None);
        assert!(read(&mut &b""[..]).unwrap().is_none());
        assert!(read(&mut &b"\xff\xff\xff\xff"[..]).is_err());
        assert!(read(&mut &b"\x05\0\0\0ab"[..]).is_err());
    }
}
