//! `revoked_keys`: the list of keys that must not sign any more: a line of a `.pub` file or a fingerprint a line.

use std::collections::HashSet;

use ssh_key::{HashAlg, PublicKey};

use super::error::{BallotError, VotingFile};
use super::key::{Key, TYPES};
use super::lines::{numbered, short, text, word};

/// Keys that are revoked. Whether anybody has them does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Revoked {
    fingerprints: HashSet<String>,
    points: HashSet<Vec<u8>>,
}

impl Revoked {
    /// # Errors
    /// The first line that is neither a public key nor a fingerprint.
    pub fn read(bytes: &[u8]) -> Result<Self, BallotError> {
        if bytes.starts_with(b"SSHKRL\n") {
            return Err(BallotError::new(
                VotingFile::Revoked,
                "is a binary list of `ssh-keygen -k`; write one public key or one SHA256: fingerprint a line",
            ));
        }
        let text = text(VotingFile::Revoked, bytes)?;
        let mut revoked = Self::default();
        for (number, line) in numbered(text) {
            let line = line.trim_matches([' ', '\t']);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            revoked
                .add(line)
                .map_err(|why| BallotError::at(VotingFile::Revoked, number, why))?;
        }
        Ok(revoked)
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        let (first, rest) = word(line);
        if first.starts_with("SHA256:") {
            let read = first.parse::<ssh_key::Fingerprint>();
            // Another spelling would not be found again.
            if !read.is_ok_and(|read| read.to_string() == first) {
                return Err(format!(
                    "`{}` is no fingerprint: SHA256: and 43 characters, as `ssh-keygen -l` prints them",
                    short(first)
                ));
            }
            self.fingerprints.insert(first.to_owned());
            return Ok(());
        }
        if TYPES.contains(&first) {
            let key = Key::read(line).map_err(|e| e.to_string())?;
            self.fingerprints.insert(key.fingerprint().to_owned());
            self.points.insert(key.point().to_vec());
            return Ok(());
        }
        // No such key signs here, but the list may serve other programs too.
        let (base64, _) = word(rest);
        let Ok(key) = PublicKey::from_openssh(&format!("{first} {base64}")) else {
            return Err(format!(
                "`{}` is neither a public key, as in a `.pub` file, nor a SHA256: fingerprint",
                short(line)
            ));
        };
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        self.fingerprints.insert(fingerprint);
        Ok(())
    }

    pub fn has(&self, key: &Key) -> bool {
        self.fingerprints.contains(key.fingerprint()) || self.points.contains(key.point())
    }

    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }

    pub fn is_empty(&self) -> bool {
        self.fingerprints.is_empty()
    }
}
