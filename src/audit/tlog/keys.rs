//! Keys of signed notes: C2SP `signed-note`, with Ed25519 (RFC 8032) only.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};

use super::error::TlogError;

/// What a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The text of a note.
    Note = 1,
    /// A checkpoint, as a witness: C2SP `tlog-cosignature`.
    Cosignature = 4,
}

/// A key that checks signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierKey {
    pub name: String,
    pub kind: Kind,
    pub id: u32,
    key: VerifyingKey,
}

/// Whether a text can name a key.
fn is_name(name: &str) -> bool {
    let odd = |c: char| c.is_whitespace() || c == '+' || c.is_control();
    !name.is_empty() && name.len() <= 200 && !name.contains(odd)
}

/// The first four bytes of a hash identify a key together with its name.
fn id(name: &str, kind: Kind, key: &VerifyingKey) -> u32 {
    let hash = Sha256::new()
        .chain_update(name)
        .chain_update([b'\n', kind as u8])
        .chain_update(key.as_bytes())
        .finalize();
    u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
}

impl VerifierKey {
    fn new(name: &str, kind: Kind, key: VerifyingKey) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            id: id(name, kind, &key),
            key,
        }
    }

    /// Whether this key signed the message. Weak keys and signatures with more than one form are refused.
    pub fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let signature = Signature::from_slice(signature);
        signature.is_ok_and(|signature| self.key.verify_strict(message, &signature).is_ok())
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![self.kind as u8];
        bytes.extend_from_slice(self.key.as_bytes());
        write!(
            f,
            "{}+{:08x}+{}",
            self.name,
            self.id,
            STANDARD.encode(bytes)
        )
    }
}

impl FromStr for VerifierKey {
    type Err = TlogError;

    fn from_str(text: &str) -> Result<Self, TlogError> {
        let bad = TlogError::Key;
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(hash), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(bad("it has not three parts"));
        };
        if !is_name(name) {
            return Err(bad("its name is empty, too long, or has a space"));
        }
        let bytes = STANDARD
            .decode(key)
            .map_err(|_| bad("its last part is not base64"))?;
        let (kind, key) = match bytes.split_first() {
            Some((1, key)) => (Kind::Note, key),
            Some((4, key)) => (Kind::Cosignature, key),
            _ => return Err(bad("it is of another kind than Ed25519")),
        };
        let key = <[u8; 32]>::try_from(key).map_err(|_| bad("an Ed25519 key has 32 bytes"))?;
        let key = VerifyingKey::from_bytes(&key).map_err(|_| bad("it is no point of the curve"))?;
        if key.is_weak() {
            return Err(bad("everybody could sign for it"));
        }
        let new = Self::new(name, kind, key);
        match format!("{:08x}", new.id) == hash {
            true => Ok(new),
            false => Err(bad("its hash is not that of its name and key")),
        }
    }
}

/// A key that signs.
pub struct SignerKey {
    key: SigningKey,
    pub verifier: VerifierKey,
}

impl fmt::Debug for SignerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SignerKey")
            .field(&self.verifier.name)
            .finish()
    }
}

const PRIVATE: &str = "PRIVATE+KEY+";

impl SignerKey {
    pub fn new(name: &str, kind: Kind, seed: &[u8; 32]) -> Self {
        let key = SigningKey::from_bytes(seed);
        let verifier = VerifierKey::new(name, kind, key.verifying_key());
        Self { key, verifier }
    }

    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.key.sign(message).to_bytes()
    }

    /// The text of its file, as other tools for signed notes write it.
    pub fn text(&self) -> String {
        let VerifierKey { name, kind, id, .. } = &self.verifier;
        let mut bytes = vec![*kind as u8];
        bytes.extend_from_slice(self.key.as_bytes());
        format!("{PRIVATE}{name}+{id:08x}+{}\n", STANDARD.encode(bytes))
    }

    pub fn parse(text: &str) -> Result<Self, TlogError> {
        let bad = || TlogError::Key("the signing key's file is not one");
        let rest = text.trim_end().strip_prefix(PRIVATE).ok_or_else(bad)?;
        let mut parts = rest.splitn(3, '+');
        let (Some(name), Some(hash), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(bad());
        };
        let bytes = STANDARD.decode(key).map_err(|_| bad())?;
        let Some((1, seed)) = bytes.split_first() else {
            return Err(bad());
        };
        let seed = <[u8; 32]>::try_from(seed).map_err(|_| bad())?;
        let new = Self::new(name, Kind::Note, &seed);
        match is_name(name) && format!("{:08x}", new.verifier.id) == hash {
            true => Ok(new),
            false => Err(bad()),
        }
    }
}
