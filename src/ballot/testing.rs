//! Keys for tests that sign in this process, security keys among them: what a token would sign is signed by a plain key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use p256::ecdsa::signature::Signer as _;
use sha2::{Digest as _, Sha256};
use ssh_key::{HashAlg, SshSig};

use super::Electorate;
use crate::model::{Ballot, NAMESPACE, Person, Viewed, Vote, VoteKind};

/// What a token is asked for and says of it.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub flags: u8,
    pub counter: u32,
}

#[derive(Clone)]
enum Secret {
    Ed25519(ed25519_dalek::SigningKey),
    P256(p256::ecdsa::SigningKey),
}

/// A key made from one byte, so that each test has the keys it names.
#[derive(Clone)]
pub struct TestKey {
    secret: Secret,
    token: Option<Token>,
}

impl TestKey {
    pub fn new(seed: u8) -> Self {
        let secret = ed25519_dalek::SigningKey::from_bytes(&[seed; 32]);
        Self {
            secret: Secret::Ed25519(secret),
            token: None,
        }
    }

    pub fn p256(seed: u8) -> Self {
        let secret = p256::ecdsa::SigningKey::from_slice(&[seed; 32]).unwrap();
        Self {
            secret: Secret::P256(secret),
            token: None,
        }
    }

    /// The same key on a token.
    pub fn on_token(mut self, flags: u8, counter: u32) -> Self {
        self.token = Some(Token { flags, counter });
        self
    }

    pub fn kind(&self) -> &'static str {
        match (&self.secret, self.token) {
            (Secret::Ed25519(_), None) => "ssh-ed25519",
            (Secret::Ed25519(_), Some(_)) => "sk-ssh-ed25519@openssh.com",
            (Secret::P256(_), None) => "ecdsa-sha2-nistp256",
            (Secret::P256(_), Some(_)) => "sk-ecdsa-sha2-nistp256@openssh.com",
        }
    }

    fn public_blob(&self) -> Vec<u8> {
        let mut blob = string(self.kind().as_bytes());
        match &self.secret {
            Secret::Ed25519(key) => blob.extend(string(key.verifying_key().as_bytes())),
            Secret::P256(key) => {
                blob.extend(string(b"nistp256"));
                let point = key.verifying_key().to_encoded_point(false);
                blob.extend(string(point.as_bytes()));
            }
        }
        if self.token.is_some() {
            blob.extend(string(b"ssh:"));
        }
        blob
    }

    /// As in a `.pub` file.
    pub fn line(&self) -> String {
        format!("{} {}", self.kind(), STANDARD.encode(self.public_blob()))
    }

    /// A line of `allowed_signers`.
    pub fn signer(&self, person: &str) -> String {
        format!("{person} namespaces=\"{NAMESPACE}\" {}\n", self.line())
    }

    fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        match &self.secret {
            Secret::Ed25519(key) => key.sign(bytes).to_bytes().to_vec(),
            Secret::P256(key) => {
                let signature: p256::ecdsa::Signature = key.sign(bytes);
                let (r, s) = signature.split_bytes();
                [mpint(&r), mpint(&s)].concat()
            }
        }
    }

    /// Signs as `ssh-keygen -Y sign` does.
    pub fn sign(&self, namespace: &str, text: &[u8]) -> String {
        self.sign_as(self.kind(), 1, &[], namespace, text)
    }

    /// As [`Self::sign`], with parts that OpenSSH would not write.
    pub fn sign_as(
        &self,
        algorithm: &str,
        version: u32,
        reserved: &[u8],
        namespace: &str,
        text: &[u8],
    ) -> String {
        let signed = SshSig::signed_data(namespace, HashAlg::Sha512, text).unwrap();
        let mut signature = string(algorithm.as_bytes());
        match self.token {
            None => signature.extend(string(&self.raw(&signed))),
            Some(Token { flags, counter }) => {
                let mut bytes = Sha256::digest(b"ssh:").to_vec();
                bytes.push(flags);
                bytes.extend(counter.to_be_bytes());
                bytes.extend(Sha256::digest(&signed));
                signature.extend(string(&self.raw(&bytes)));
                signature.push(flags);
                signature.extend(counter.to_be_bytes());
            }
        }
        let blob = [
            b"SSHSIG".to_vec(),
            version.to_be_bytes().to_vec(),
            string(&self.public_blob()),
            string(namespace.as_bytes()),
            string(reserved),
            string(b"sha512"),
            string(&signature),
        ];
        armour(&blob.concat())
    }

    pub fn vote(&self, ballot: &Ballot, kind: VoteKind, voter: &str) -> Vote {
        let voter = Person::new(voter).unwrap();
        let viewed = Viewed::default();
        let text = ballot.text(kind, &voter, &viewed, None);
        Vote {
            kind,
            voter,
            viewed,
            reason: None,
            signature: self.sign(NAMESPACE, text.as_bytes()),
        }
    }
}

fn string(bytes: &[u8]) -> Vec<u8> {
    let mut out = (bytes.len() as u32).to_be_bytes().to_vec();
    out.extend_from_slice(bytes);
    out
}

/// A positive number, as RFC 4251 writes it.
fn mpint(bytes: &[u8]) -> Vec<u8> {
    let first = bytes.iter().position(|b| *b != 0).unwrap_or(bytes.len());
    let mut number = bytes[first..].to_vec();
    if number.first().is_some_and(|b| b & 0x80 != 0) {
        number.insert(0, 0);
    }
    string(&number)
}

/// The armour of OpenSSH: lines of 70.
pub fn armour(blob: &[u8]) -> String {
    let text = STANDARD.encode(blob);
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(70)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    let lines = lines.join("\n");
    format!("-----BEGIN SSH SIGNATURE-----\n{lines}\n-----END SSH SIGNATURE-----\n")
}

/// An electorate of these people, each with what `people.toml` says of them and a key of their own. Agents have uid 0.
pub fn people(rows: &[(&str, &str)]) -> Electorate {
    let mut signers = String::new();
    let mut file = "[agents]\nuids = [0]\n".to_owned();
    for (seed, (name, text)) in (1..).zip(rows) {
        signers.push_str(&TestKey::new(seed).signer(name));
        file.push_str(&format!("[people.\"{name}\"]\n{text}\n"));
    }
    Electorate::read(signers.as_bytes(), file.as_bytes(), b"").unwrap()
}
