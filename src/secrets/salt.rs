//! Salted digests: they identify code without telling a secret in it to whoever can guess.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::model::Digest;

/// Random bytes that belong to one proposal.
#[derive(Clone)]
pub struct Salt([u8; 32]);

impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Salt")
    }
}

impl Salt {
    /// `None` if the system has no randomness.
    pub fn new() -> Option<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self(bytes))
    }

    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// HMAC-SHA-256 (RFC 2104).
pub fn salted(salt: &Salt, bytes: &[u8]) -> Digest {
    // A key is padded with zeros to the block of the hash.
    let mut key = [0; 64];
    key[..32].copy_from_slice(&salt.0);
    let mut mac = Hmac::<Sha256>::new(&key.into());
    mac.update(bytes);
    let digest: [u8; 32] = mac.finalize().into_bytes().into();
    Digest::from_bytes(digest)
}

#[cfg(test)]
#[test]
fn it_is_the_hmac_of_rfc_4231() {
    // Test case 1 has a key of 20 bytes; HMAC pads keys with zeros.
    let mut key = [0; 32];
    key[..20].fill(0x0b);
    let expected = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
    assert_eq!(salted(&Salt(key), b"Hi There").hex(), expected);
}
