//! Whether a vote is its voter's: an SSH signature (PROTOCOL.sshsig of OpenSSH) over the text that we make ourselves.

use jiff::Timestamp;
use ssh_key::{HashAlg, PublicKey, SshSig};

use crate::model::{Ballot, Digest, NAMESPACE, Nonce, Person, ProposalId, Viewed, Vote, VoteKind};

use super::electorate::Electorate;
use super::key::Key;
use super::lines::short;

/// The longest armour that is read. A signature of an accepted key has less than 1 KiB.
pub const ARMOUR_MAX: usize = 4 << 10;

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----\n";
const END: &str = "-----END SSH SIGNATURE-----";

/// Flags of a security key (FIDO2, authenticator data).
const TOUCHED: u8 = 0x01;
const VERIFIED: u8 = 0x04;
/// More data follows, which SSH does not sign.
const MORE: u8 = 0x40 | 0x80;

/// What a security key says of one signature, signed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecurityKey {
    /// Somebody touched it.
    pub touched: bool,
    /// It checked a PIN or a fingerprint.
    pub verified: bool,
    /// Some keys always say 0.
    pub counter: u32,
}

/// A vote whose signature is its voter's, over this ballot. Only [`verify`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub(super) voter: Person,
    pub(super) kind: VoteKind,
    pub(super) key: String,
    pub(super) security_key: Option<SecurityKey>,
    pub(super) viewed: Viewed,
    pub(super) reason: Option<String>,
    pub(super) proposal: ProposalId,
    pub(super) terms: Digest,
    pub(super) nonce: Nonce,
}

impl Checked {
    pub fn voter(&self) -> &Person {
        &self.voter
    }

    pub fn kind(&self) -> VoteKind {
        self.kind
    }

    /// The fingerprint of the key that signed.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// `None` if the key is not on a security key.
    pub fn security_key(&self) -> Option<SecurityKey> {
        self.security_key
    }

    pub fn viewed(&self) -> &Viewed {
        &self.viewed
    }

    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    pub fn proposal(&self) -> ProposalId {
        self.proposal
    }

    /// The digest of the terms that the ballot named.
    pub fn terms(&self) -> Digest {
        self.terms
    }

    /// The nonce of the offer's version that the ballot named.
    pub fn nonce(&self) -> Nonce {
        self.nonce
    }
}

/// Why a vote does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    #[error("`{0}` is not in people.toml of this host")]
    UnknownVoter(Person),
    #[error("`{0}` has no key in allowed_signers of this host")]
    NoKey(Person),
    #[error("the signature has {0} bytes; at most {ARMOUR_MAX} are read")]
    TooLong(usize),
    #[error("the signature cannot be read: {0}")]
    Unreadable(String),
    #[error("the signature has version {0}; only version 1 is known")]
    Version(u32),
    #[error("the signature has reserved bytes, whose meaning is not known")]
    Reserved,
    #[error("the signature is by {found}, and its key is of type {key}")]
    Algorithm { found: String, key: String },
    #[error("the signature is for the namespace `{found}`, not for `{wanted}`")]
    Namespace { found: String, wanted: String },
    #[error("the key {key} signed, which is `{owner}`'s and not `{voter}`'s")]
    SomebodyElse {
        key: String,
        owner: Person,
        voter: Person,
    },
    #[error("the key {key} signed, which is not in allowed_signers of this host")]
    UnknownKey { key: String },
    #[error("the key {key} signed, and {wanted} was expected")]
    OtherKey { key: String, wanted: String },
    #[error("the key {0} is revoked")]
    Revoked(String),
    #[error("the key {key} is valid from {from} on only")]
    NotYet { key: String, from: Timestamp },
    #[error("the key {key} was valid until {until}")]
    Expired { key: String, until: Timestamp },
    #[error("the security key added data that nothing signs (flags {0:#04x})")]
    Flags(u8),
    #[error("the signature is not over this text: it is for another vote, or forged")]
    OtherText,
}

/// Checks one vote against the text that this host makes for it.
///
/// `now` is this host's time. The deadline, and whether the proposal still waits, are for who keeps them.
pub fn verify(
    ballot: &Ballot,
    vote: &Vote,
    electorate: &Electorate,
    now: Timestamp,
) -> Result<Checked, Invalid> {
    let voter = &vote.voter;
    if !electorate.knows(voter) {
        return Err(Invalid::UnknownVoter(voter.clone()));
    }
    if electorate.signers().of(voter).next().is_none() {
        return Err(Invalid::NoKey(voter.clone()));
    }
    let signature = read(&vote.signature)?;
    let mut theirs = electorate.signers().of(voter);
    let Some(signer) = theirs.find(|s| s.key.public().key_data() == signature.public_key()) else {
        return Err(whose(&signature, voter, electorate));
    };
    let key = signer.key.fingerprint().to_owned();
    if electorate.revoked().has(&signer.key) {
        return Err(Invalid::Revoked(key));
    }
    // In whole seconds, as OpenSSH has it.
    let second = now.as_second();
    if let Some(from) = signer.valid_after
        && second < from.as_second()
    {
        return Err(Invalid::NotYet { key, from });
    }
    if let Some(until) = signer.valid_before
        && second > until.as_second()
    {
        return Err(Invalid::Expired { key, until });
    }
    let reason = vote.reason.as_deref();
    let text = ballot.text(vote.kind, voter, &vote.viewed, reason);
    let security_key = check(&signer.key, &signature, NAMESPACE, text.as_bytes())?;
    Ok(Checked {
        voter: voter.clone(),
        kind: vote.kind,
        key,
        security_key,
        viewed: vote.viewed,
        reason: vote.reason.clone(),
        proposal: ballot.proposal,
        terms: ballot.terms,
        nonce: ballot.nonce,
    })
}

/// Checks that `key` signed `text` for `namespace`: one's own signature, or what a host states.
pub fn signed_by(
    key: &Key,
    armour: &str,
    namespace: &str,
    text: &[u8],
) -> Result<Option<SecurityKey>, Invalid> {
    check(key, &read(armour)?, namespace, text)
}

/// The key that an armour names as its signer's. Whose key that is, and whether it signed, this does not say.
pub fn key_of(armour: &str) -> Result<Key, Invalid> {
    let signature = read(armour)?;
    let public = PublicKey::new(signature.public_key().clone(), "");
    let line = public.to_openssh();
    let line = line.map_err(|e| Invalid::Unreadable(short(&e.to_string())))?;
    Key::read(&line).map_err(|e| Invalid::Unreadable(e.to_string()))
}

/// Reads the armour, and refuses whatever in it has no meaning here.
fn read(armour: &str) -> Result<SshSig, Invalid> {
    if armour.len() > ARMOUR_MAX {
        return Err(Invalid::TooLong(armour.len()));
    }
    let unreadable = |why: &str| Invalid::Unreadable(why.to_owned());
    // What OpenSSH would not read is no signature that an auditor can check.
    if !armour.starts_with(BEGIN) || !armour.trim_end_matches('\n').ends_with(END) {
        return Err(unreadable(
            "it does not begin and end as `ssh-keygen -Y sign` writes it",
        ));
    }
    let signature =
        SshSig::from_pem(armour).map_err(|e| Invalid::Unreadable(short(&e.to_string())))?;
    if signature.version() != SshSig::VERSION {
        return Err(Invalid::Version(signature.version()));
    }
    if !signature.reserved().is_empty() {
        return Err(Invalid::Reserved);
    }
    match signature.hash_alg() {
        HashAlg::Sha256 | HashAlg::Sha512 => Ok(signature),
        _ => Err(unreadable("its hash is neither sha256 nor sha512")),
    }
}

fn check(
    key: &Key,
    signature: &SshSig,
    namespace: &str,
    text: &[u8],
) -> Result<Option<SecurityKey>, Invalid> {
    let public = key.public();
    if public.key_data() != signature.public_key() {
        return Err(Invalid::OtherKey {
            key: fingerprint(signature),
            wanted: key.fingerprint().to_owned(),
        });
    }
    if signature.namespace() != namespace {
        return Err(Invalid::Namespace {
            found: short(signature.namespace()),
            wanted: namespace.to_owned(),
        });
    }
    // The crate does not compare them for security keys.
    if signature.algorithm() != public.algorithm() {
        return Err(Invalid::Algorithm {
            found: short(signature.algorithm().as_str()),
            key: public.algorithm().to_string(),
        });
    }
    public
        .verify(namespace, text, signature)
        .map_err(|_| Invalid::OtherText)?;
    if !key.is_security_key() {
        return Ok(None);
    }
    // They are signed, as PROTOCOL.u2f says.
    let [.., flags, a, b, c, d] = signature.signature_bytes() else {
        return Err(Invalid::Unreadable(
            "it lacks the flags of its key".to_owned(),
        ));
    };
    match flags & MORE {
        0 => Ok(Some(SecurityKey {
            touched: flags & TOUCHED != 0,
            verified: flags & VERIFIED != 0,
            counter: u32::from_be_bytes([*a, *b, *c, *d]),
        })),
        _ => Err(Invalid::Flags(*flags)),
    }
}

/// A key that is not the voter's.
fn whose(signature: &SshSig, voter: &Person, electorate: &Electorate) -> Invalid {
    let key = fingerprint(signature);
    let mut all = electorate.signers().iter();
    let owner = all.find(|s| s.key.public().key_data() == signature.public_key());
    match owner {
        Some(signer) => Invalid::SomebodyElse {
            key,
            owner: signer.person.clone(),
            voter: voter.clone(),
        },
        None => Invalid::UnknownKey { key },
    }
}

fn fingerprint(signature: &SshSig) -> String {
    signature
        .public_key()
        .fingerprint(HashAlg::Sha256)
        .to_string()
}
