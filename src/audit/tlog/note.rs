//! Signed notes: C2SP `signed-note`. A text, an empty line, and signatures.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::error::TlogError;
use super::keys::{Kind, VerifierKey};

/// Longest note that is read. A checkpoint has three lines and a line for each signature.
pub const NOTE_MAX: usize = 64 * 1024;
/// Most signatures that are read of one note.
const SIGNATURES_MAX: usize = 64;

/// A signature line, unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub name: String,
    pub id: u32,
    pub bytes: Vec<u8>,
}

/// A text and its signatures, unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// With its last line feed.
    pub text: String,
    pub signatures: Vec<Signature>,
}

impl Signature {
    /// A line, without its line feed.
    pub fn parse(line: &str) -> Result<Self, TlogError> {
        let bad = || TlogError::Note("a signature line reads `— name base64`");
        let rest = line.strip_prefix("— ").ok_or_else(bad)?;
        let (name, signature) = rest.split_once(' ').ok_or_else(bad)?;
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == '+') {
            return Err(bad());
        }
        let bytes = STANDARD.decode(signature).map_err(|_| bad())?;
        let (id, bytes) = bytes.split_first_chunk::<4>().ok_or_else(bad)?;
        if bytes.is_empty() {
            return Err(bad());
        }
        Ok(Self {
            name: name.to_owned(),
            id: u32::from_be_bytes(*id),
            bytes: bytes.to_vec(),
        })
    }

    /// The line, with its line feed.
    pub fn line(&self) -> String {
        let mut bytes = self.id.to_be_bytes().to_vec();
        bytes.extend_from_slice(&self.bytes);
        format!("— {} {}\n", self.name, STANDARD.encode(bytes))
    }

    pub fn is_by(&self, key: &VerifierKey) -> bool {
        self.name == key.name && self.id == key.id
    }
}

impl Note {
    /// A text that this key signed.
    pub fn signed(text: String, key: &VerifierKey, signature: &[u8]) -> Self {
        let signature = Signature {
            name: key.name.clone(),
            id: key.id,
            bytes: signature.to_vec(),
        };
        Self {
            text,
            signatures: vec![signature],
        }
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, TlogError> {
        let bad = TlogError::Note;
        if bytes.len() > NOTE_MAX {
            return Err(bad("it is longer than 64 KiB"));
        }
        let note = std::str::from_utf8(bytes).map_err(|_| bad("it is not UTF-8"))?;
        if note.bytes().any(|b| b < 0x20 && b != b'\n') {
            return Err(bad("it has control characters"));
        }
        let (text, lines) = note
            .rsplit_once("\n\n")
            .ok_or(bad("it has no empty line before signatures"))?;
        let lines = lines
            .strip_suffix('\n')
            .ok_or(bad("its last line is incomplete"))?;
        let signatures: Vec<Signature> = lines
            .split('\n')
            .map(Signature::parse)
            .collect::<Result<_, _>>()?;
        if signatures.len() > SIGNATURES_MAX {
            return Err(bad("it has more than 64 signatures"));
        }
        Ok(Self {
            text: format!("{text}\n"),
            signatures,
        })
    }

    /// The whole note.
    pub fn print(&self) -> String {
        let lines: String = self.signatures.iter().map(Signature::line).collect();
        format!("{}\n{lines}", self.text)
    }

    /// Checks that the key signed the text. Signatures of other keys are ignored; every one that names this key must
    /// be right.
    pub fn check(&self, key: &VerifierKey) -> Result<(), TlogError> {
        let mut of_key = self
            .signatures
            .iter()
            .filter(|line| line.is_by(key))
            .peekable();
        if of_key.peek().is_none() {
            let names: Vec<_> = self
                .signatures
                .iter()
                .map(|s| format!("{}+{:08x}", s.name, s.id))
                .collect();
            return Err(TlogError::UnknownKey {
                wanted: format!("{}+{:08x}", key.name, key.id),
                found: names.join(", ").chars().take(300).collect(),
            });
        }
        match of_key.all(|line| signed(key, &self.text, &line.bytes)) {
            true => Ok(()),
            false => Err(TlogError::BadSignature(key.name.clone())),
        }
    }
}

/// Whether a signature of the key's kind is of this text.
fn signed(key: &VerifierKey, text: &str, bytes: &[u8]) -> bool {
    match key.kind {
        Kind::Note => key.signed(text.as_bytes(), bytes),
        Kind::Cosignature => {
            let Some((time, signature)) = bytes.split_first_chunk::<8>() else {
                return false;
            };
            let time = u64::from_be_bytes(*time);
            let message = format!("cosignature/v1\ntime {time}\n{text}");
            // The time must be there, and a signed number can hold it.
            (1..=i64::MAX as u64).contains(&time) && key.signed(message.as_bytes(), signature)
        }
    }
}

#[cfg(test)]
#[path = "note_tests.rs"]
mod tests;
