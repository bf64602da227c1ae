//! Public keys that may sign votes.

use ed25519_dalek::VerifyingKey;
use ssh_key::public::KeyData;
use ssh_key::{HashAlg, PublicKey};

use crate::model::did_you_mean;

use super::lines::{short, word};

/// The types that are accepted, best first.
pub const TYPES: [&str; 4] = [
    "sk-ssh-ed25519@openssh.com",
    "ssh-ed25519",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "ecdsa-sha2-nistp256",
];

const MAKE: &str = "make one with `ssh-keygen -t ed25519-sk -O verify-required`, or without a security key \
                    with `ssh-keygen -t ed25519`";

/// A public key of an accepted type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    public: PublicKey,
    fingerprint: String,
    /// The point on the curve, the same for each type and encoding of one key.
    point: Vec<u8>,
}

/// Why a key may not sign votes, and which may.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct KeyError(String);

impl Key {
    /// Reads a line as `ssh-keygen` writes it into a `.pub` file: the type, the key in base64, perhaps a comment.
    pub fn read(line: &str) -> Result<Self, KeyError> {
        let (kind, rest) = word(line);
        let (base64, _) = word(rest);
        Self::of(kind, base64)
    }

    pub(super) fn of(kind: &str, base64: &str) -> Result<Self, KeyError> {
        let says = |message: String| Err(KeyError(message));
        if !TYPES.contains(&kind) {
            return says(refusal(kind));
        }
        if base64.is_empty() {
            return says(format!(
                "`{kind}` is not followed by a key; copy the whole line of the `.pub` file"
            ));
        }
        let damaged = || {
            format!(
                "the key after `{kind}` is damaged; copy the whole line of the `.pub` file again"
            )
        };
        let line = format!("{kind} {base64}");
        let Ok(public) = PublicKey::from_openssh(&line) else {
            return says(damaged());
        };
        // Another spelling of the same bytes would be another line for `grep`, and the same key.
        if public.to_openssh().as_deref() != Ok(line.as_str()) {
            return says(damaged());
        }
        let point = point(public.key_data())?;
        Ok(Self {
            fingerprint: public.fingerprint(HashAlg::Sha256).to_string(),
            public,
            point,
        })
    }

    /// `SHA256:` and 43 characters of base64, as `ssh-keygen -l` prints it.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The type and the key in base64, without a comment.
    pub fn line(&self) -> String {
        // Read from this text, so writing it cannot fail.
        self.public.to_openssh().unwrap_or_default()
    }

    /// Whether it is on a security key, whose signatures say whether somebody touched it.
    pub fn is_security_key(&self) -> bool {
        matches!(
            self.public.key_data(),
            KeyData::SkEd25519(_) | KeyData::SkEcdsaSha2NistP256(_)
        )
    }

    pub(super) fn public(&self) -> &PublicKey {
        &self.public
    }

    pub(super) fn point(&self) -> &[u8] {
        &self.point
    }
}

/// The point of a key that can be trusted: on its curve, and not of a small order, for which anybody can sign.
fn point(key: &KeyData) -> Result<Vec<u8>, KeyError> {
    let unsafe_point = |why: &str| {
        KeyError(format!(
            "the key is {why}, so others could sign with it; {MAKE}"
        ))
    };
    let ed25519 = |bytes: &[u8; 32]| {
        let key =
            VerifyingKey::from_bytes(bytes).map_err(|_| unsafe_point("no point of its curve"))?;
        match key.is_weak() {
            true => Err(unsafe_point("a weak ed25519 key")),
            false => Ok(bytes.to_vec()),
        }
    };
    let p256 = |bytes: &[u8]| {
        // OpenSSH knows no compressed points.
        if bytes.first() != Some(&4) {
            return Err(unsafe_point("no point of its curve"));
        }
        let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(bytes)
            .map_err(|_| unsafe_point("no point of its curve"))?;
        Ok(key.to_encoded_point(false).as_bytes().to_vec())
    };
    match key {
        KeyData::Ed25519(key) => ed25519(key.as_ref()),
        KeyData::SkEd25519(key) => ed25519(key.public_key().as_ref()),
        KeyData::Ecdsa(key) => p256(key.as_sec1_bytes()),
        KeyData::SkEcdsaSha2NistP256(key) => p256(key.ec_point().as_bytes()),
        other => Err(KeyError(refusal(other.algorithm().as_str()))),
    }
}

/// Whether a word is the type of a key rather than an option.
pub(super) fn is_type(word: &str) -> bool {
    ["ssh-", "ecdsa-", "sk-", "rsa-", "webauthn-"]
        .iter()
        .any(|prefix| word.starts_with(prefix))
}

/// Why keys of this type are not accepted, and which are.
fn refusal(kind: &str) -> String {
    let kind = short(kind);
    if kind.contains("-cert-v01@") {
        return format!("`{kind}` is a certificate, and none is accepted; list the key itself");
    }
    let what = match &*kind {
        "ssh-rsa" | "rsa-sha2-256" | "rsa-sha2-512" => "an RSA key",
        "ssh-dss" => "a DSA key",
        "ecdsa-sha2-nistp384" | "ecdsa-sha2-nistp521" => "a key of another curve than nistp256",
        _ if kind.starts_with("webauthn-") => "a key of a browser",
        _ => {
            return format!(
                "`{kind}` is no type of a key{}; accepted are {}",
                did_you_mean(&kind, TYPES),
                TYPES.join(", ")
            );
        }
    };
    format!("`{kind}` is {what}, and none is accepted; {MAKE}")
}
