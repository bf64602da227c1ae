//! Who signs checkpoints: the key in the folder of checkpoints, or a command that has one, such as that of a smartcard.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::command::{Errand, WITHIN};
use super::keys::{Kind, SignerKey, VerifierKey};

/// Most bytes that a command may answer. A signature has 64, and 88 in base64.
const ANSWER_MAX: usize = 1024;

/// The variables that the command gets: what finds programs, the user's files, and agents that have keys.
const VARIABLES: [&str; 9] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK",
    "GNUPGHOME",
];

/// A command that signs: the note's text comes on its standard input, and its standard output is the Ed25519 signature,
/// as 64 bytes or in base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCommand {
    command: Vec<String>,
    key: VerifierKey,
    within: Duration,
}

impl KeyCommand {
    /// # Errors
    /// If the key is not one that signs notes.
    pub fn new(command: &[String], key: VerifierKey) -> Result<Self, &'static str> {
        match key.kind {
            Kind::Note => Ok(Self {
                command: command.to_vec(),
                key,
                within: WITHIN,
            }),
            Kind::Cosignature => Err(
                "it is the key of a witness: that of a log has A at the beginning of its base64",
            ),
        }
    }

    pub(super) fn key(&self) -> &VerifierKey {
        &self.key
    }

    fn sign(&self, text: &str, ends: impl Fn() -> bool) -> Result<[u8; 64], String> {
        let errand = Errand {
            key: "key_command",
            argv: &self.command,
            within: self.within,
            only: Some(&VARIABLES),
            answer: Some(ANSWER_MAX),
        };
        let answer = errand.run(text, ends)?;
        let signature = signature(&answer).ok_or_else(|| {
            let n = answer.len();
            format!("key_command answered {n} bytes that are no Ed25519 signature: it has 64 bytes, or is their base64")
        })?;
        // Nothing is stored that nobody could check.
        match self.key.signed(text.as_bytes(), &signature) {
            true => Ok(signature),
            false => Err(format!(
                "key_command answered a signature that `key_public` ({}) does not verify: another key signed, or another text",
                self.key.name
            )),
        }
    }
}

/// 64 bytes, or their base64 with space around it.
fn signature(answer: &[u8]) -> Option<[u8; 64]> {
    if let Ok(raw) = answer.try_into() {
        return Some(raw);
    }
    let decoded = STANDARD.decode(answer.trim_ascii()).ok()?;
    decoded.try_into().ok()
}

/// Who signs.
#[derive(Debug)]
pub(super) enum Signer {
    File(SignerKey),
    Command(KeyCommand),
}

impl Signer {
    pub fn verifier(&self) -> &VerifierKey {
        match self {
            Self::File(key) => &key.verifier,
            Self::Command(command) => &command.key,
        }
    }

    /// Signs a text. A command has less time once `ends`.
    ///
    /// # Errors
    /// Why the command did not sign it, in words.
    pub fn sign(&self, text: &str, ends: impl Fn() -> bool) -> Result<[u8; 64], String> {
        match self {
            Self::File(key) => Ok(key.sign(text.as_bytes())),
            Self::Command(command) => command.sign(text, ends),
        }
    }
}

#[cfg(test)]
#[path = "signer_tests.rs"]
pub(super) mod tests;
