//! What people have to agree on before a proposal runs, and what one of them signs.
//!
//! A vote is an SSH signature (PROTOCOL.sshsig of OpenSSH, namespace [`NAMESPACE`]) over the text of a [`Ballot`]. Nobody
//! parses that text: the host makes it from its own records for the voter and the kind of vote that are claimed, and
//! verifies the signature over it. What was carried in between cannot change what was signed.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Capability, Digest, GrantDigest, ProposalId, Verdict, VerdictKind, Viewed, VotedLog};

/// The namespace of votes (protocol.md §8).
pub const NAMESPACE: &str = "grant@countersign";
/// The namespace of what a host states: offers, decisions, outcomes.
pub const HOST_NAMESPACE: &str = "host@countersign";

/// A name in `allowed_signers` and in the file of people: 1 to 128 of `A-Z a-z 0-9 . _ @ + -`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Person(String);

/// What a person may be asked about: 1 to 64 of `a-z 0-9 _ -`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Role(String);

/// Why a name cannot be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no name of a {what}: 1 to {most} of {allowed}")]
pub struct BadName {
    name: String,
    what: &'static str,
    most: usize,
    allowed: &'static str,
}

macro_rules! name {
    ($type:ident, $what:literal, $most:literal, $allowed:literal, $in_set:expr) => {
        impl $type {
            pub fn new(name: &str) -> Result<Self, BadName> {
                let fits = (1..=$most).contains(&name.len()) && name.bytes().all($in_set);
                match fits {
                    true => Ok(Self(name.to_owned())),
                    false => Err(BadName {
                        name: name
                            .chars()
                            .take(40)
                            .collect::<String>()
                            .escape_debug()
                            .to_string(),
                        what: $what,
                        most: $most,
                        allowed: $allowed,
                    }),
                }
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl FromStr for $type {
            type Err = BadName;

            fn from_str(name: &str) -> Result<Self, BadName> {
                Self::new(name)
            }
        }

        impl TryFrom<String> for $type {
            type Error = BadName;

            fn try_from(name: String) -> Result<Self, BadName> {
                Self::new(&name)
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> Self {
                name.0
            }
        }
    };
}

name!(Person, "person", 128, "A-Z a-z 0-9 . _ @ + -", |b: u8| {
    b.is_ascii_alphanumeric() || b"._@+-".contains(&b)
});
name!(Role, "role", 64, "a-z 0-9 _ -", |b: u8| {
    b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b)
});

/// What a vote says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VoteKind {
    Grant,
    /// Ends what waits.
    Deny,
    /// Ends what waits, and what is granted and not released.
    Veto,
}

impl VoteKind {
    pub const ALL: [Self; 3] = [Self::Grant, Self::Deny, Self::Veto];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Grant => "grant",
            Self::Deny => "deny",
            Self::Veto => "veto",
        }
    }
}

/// How many people have to grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Quorum {
    /// This many different people, at least one.
    People(u8),
    /// Everybody who has one of the rule's roles, but the person whose agent asks.
    All(All),
}

/// The word `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum All {
    All,
}

/// What a rule is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum When {
    #[default]
    Always,
    /// Code with this verdict, `flagged` or `clear`.
    Verdict(VerdictKind),
    /// Code that can do one of these.
    Capabilities(BTreeSet<Capability>),
}

impl When {
    pub fn applies_to(&self, verdict: &Verdict) -> bool {
        match self {
            Self::Always => true,
            Self::Verdict(kind) => verdict.verdict == *kind,
            Self::Capabilities(some) => verdict
                .capabilities
                .iter()
                .any(|used| some.contains(&used.capability)),
        }
    }
}

/// One rule of a policy's `[grant]`. Every rule that applies has to be met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    pub when: When,
    pub quorum: Quorum,
    /// Whose grants count: people with one of these roles; everybody's if it is empty.
    pub roles: BTreeSet<Role>,
    /// Whether the person whose agent asks does not count. Always true if more than one person has to grant.
    pub not_self: bool,
    /// Who may end it until it is released, besides those whose grants count: people with one of these roles.
    pub veto: BTreeSet<Role>,
    /// Whether a grant's key has to be a security key that somebody touched.
    pub touch: bool,
    /// Whether that key has to have checked a PIN or a fingerprint.
    pub pin: bool,
}

impl Rule {
    /// The table `[[grant]]` that means this rule.
    pub fn as_toml(&self) -> String {
        let listed = |roles: &BTreeSet<Role>| {
            let roles: Vec<String> = roles.iter().map(|role| format!("\"{role}\"")).collect();
            roles.join(", ")
        };
        let when = match &self.when {
            When::Always => String::new(),
            When::Verdict(kind) => format!("when = \"{kind}\"\n"),
            When::Capabilities(some) => {
                let some: Vec<String> = some.iter().map(|c| format!("\"{c}\"")).collect();
                format!("when = [{}]\n", some.join(", "))
            }
        };
        let quorum = match self.quorum {
            Quorum::People(n) => n.to_string(),
            Quorum::All(_) => "\"all\"".to_owned(),
        };
        format!(
            "[[grant]]\n{when}quorum = {quorum}\nroles = [{}]\nnot_self = {}\nveto = [{}]\ntouch = {}\npin = {}\n",
            listed(&self.roles),
            self.not_self,
            listed(&self.veto),
            self.touch,
            self.pin,
        )
    }
}

/// `2 people of data or security, each with a touched key, if flagged; legal may veto`.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |roles: &BTreeSet<Role>, word: &str| {
            let roles: Vec<&str> = roles.iter().map(Role::as_str).collect();
            roles.join(word)
        };
        match self.quorum {
            Quorum::People(1) => f.write_str("1 person")?,
            Quorum::People(n) => write!(f, "{n} people")?,
            Quorum::All(_) => f.write_str("everybody")?,
        }
        if !self.roles.is_empty() {
            write!(f, " of {}", listed(&self.roles, " or "))?;
        }
        if self.not_self && self.quorum == Quorum::People(1) {
            f.write_str(" other than the one whose agent asks")?;
        }
        match (self.touch, self.pin) {
            (false, false) => {}
            (true, false) => f.write_str(", with a touched security key")?,
            (false, true) => f.write_str(", with a security key and its PIN")?,
            (true, true) => f.write_str(", with a touched security key and its PIN")?,
        }
        match &self.when {
            When::Always => {}
            When::Verdict(kind) => write!(f, ", if {kind}")?,
            When::Capabilities(some) => {
                let some: Vec<&str> = some.iter().map(|c| c.as_str()).collect();
                write!(f, ", if it can {}", some.join(" or "))?;
            }
        }
        match self.veto.is_empty() {
            true => Ok(()),
            false => write!(f, "; {} may veto", listed(&self.veto, " or ")),
        }
    }
}

/// The rules that apply to one proposal. Empty: one person at the dashboard decides, without a signature.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Terms(pub Vec<Rule>);

impl Terms {
    /// The rules of a policy that apply to code with this verdict.
    pub fn of(rules: &[Rule], verdict: &Verdict) -> Self {
        Self(
            rules
                .iter()
                .filter(|rule| rule.when.applies_to(verdict))
                .cloned()
                .collect(),
        )
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// SHA-256 over a label and the rules as JSON, each with its length before it, in their order.
    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        let mut put = |part: &[u8]| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        put(b"countersign terms 1");
        for rule in &self.0 {
            // It holds strings, numbers and words, so serialising cannot fail.
            put(&serde_json::to_vec(rule).unwrap_or_default());
        }
        Digest::from_bytes(hash.finalize().into())
    }
}

/// 32 random bytes that a host draws for each version of an offer, so that no vote counts for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nonce(pub Digest);

/// What all votes on one offer have in common. The host keeps it; a reviewer makes it from the offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ballot {
    pub proposal: ProposalId,
    /// Fingerprint of the host's key: `SHA256:` and 43 characters of base64.
    pub host: String,
    /// SHA-256 of the bytes that the host signed as its offer: everything shown.
    pub offer: Digest,
    pub code: Digest,
    pub grant: GrantDigest,
    pub terms: Digest,
    pub nonce: Nonce,
    pub deadline: Timestamp,
}

/// One person's vote, as it is carried and kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    pub kind: VoteKind,
    pub voter: Person,
    pub viewed: Viewed,
    /// For the agent, if it is a denial or a veto.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The signature in the armour of OpenSSH, as it came: encoding it anew would change it.
    pub signature: String,
}

impl VotedLog {
    /// What the vote is on.
    pub fn ballot(&self) -> Ballot {
        Ballot {
            proposal: self.id,
            host: self.host_key.clone(),
            offer: self.offer,
            code: self.code,
            grant: self.grant,
            terms: self.terms.digest(),
            nonce: self.nonce,
            deadline: self.deadline,
        }
    }
}

impl Ballot {
    /// One for tests, the same each time.
    #[cfg(test)]
    pub fn sample() -> Self {
        let digest = |text: &str| Digest::of(text.as_bytes());
        Self {
            proposal: ProposalId::from_uuid(uuid::Uuid::from_u128(1)),
            host: "SHA256:abc".to_owned(),
            offer: digest("offer"),
            code: digest("code"),
            grant: GrantDigest(digest("grant")),
            terms: Terms::default().digest(),
            nonce: Nonce(digest("nonce")),
            deadline: "2026-11-28T12:34:56.9Z".parse().unwrap_or_default(),
        }
    }

    /// The bytes that a voter signs: thirteen lines of ASCII, each with a line feed, in this order.
    ///
    /// They say what the voter looked at and the digest of the reason, so that neither can be changed on the way, and no
    /// time: a signer's clock proves nothing.
    pub fn text(
        &self,
        kind: VoteKind,
        voter: &Person,
        viewed: &Viewed,
        reason: Option<&str>,
    ) -> String {
        let deadline = Timestamp::from_second(self.deadline.as_second()).unwrap_or(self.deadline);
        let reason = reason.map_or_else(
            || "-".to_owned(),
            |reason| format!("sha256:{}", Digest::of(reason.as_bytes()).hex()),
        );
        // It holds numbers and words, so serialising cannot fail.
        let viewed = serde_json::to_string(viewed).unwrap_or_default();
        format!(
            "countersign vote 1\n\
             kind {}\n\
             proposal {}\n\
             host {}\n\
             offer sha256:{}\n\
             code sha256:{}\n\
             grant sha256:{}\n\
             terms sha256:{}\n\
             nonce {}\n\
             deadline {deadline}\n\
             voter {voter}\n\
             viewed {viewed}\n\
             reason {reason}\n",
            kind.as_str(),
            self.proposal,
            self.host,
            self.offer.hex(),
            self.code.hex(),
            self.grant.0.hex(),
            self.terms.hex(),
            self.nonce.0.hex(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each field of a ballot, and each of what the voter adds, is in the text and changes it.
    #[test]
    fn a_vote_is_for_one_text_and_everything_it_means_is_in_it() {
        let ana = Person::new("ana@example.org").unwrap();
        let viewed = Viewed::default();
        let text = Ballot::sample().text(VoteKind::Grant, &ana, &viewed, None);
        assert_eq!(text.lines().count(), 13);
        assert!(text.is_ascii() && text.ends_with("reason -\n"), "{text}");
        assert!(text.contains("\ndeadline 2026-11-28T12:34:56Z\n"), "{text}");
        let other = Digest::of(b"other");
        let ballots: [fn(&mut Ballot, Digest); 8] = [
            |b, _| b.proposal = ProposalId::new(),
            |b, _| b.host.push('d'),
            |b, d| b.offer = d,
            |b, d| b.code = d,
            |b, d| b.grant = GrantDigest(d),
            |b, d| b.terms = d,
            |b, d| b.nonce = Nonce(d),
            |b, _| b.deadline = Timestamp::UNIX_EPOCH,
        ];
        for change in ballots {
            let mut changed = Ballot::sample();
            change(&mut changed, other);
            assert_ne!(changed.text(VoteKind::Grant, &ana, &viewed, None), text);
        }
        let ben = Person::new("ben").unwrap();
        let seen = Viewed {
            lines_seen: 1,
            ..viewed
        };
        for changed in [
            Ballot::sample().text(VoteKind::Veto, &ana, &viewed, None),
            Ballot::sample().text(VoteKind::Grant, &ben, &viewed, None),
            Ballot::sample().text(VoteKind::Grant, &ana, &seen, None),
            Ballot::sample().text(VoteKind::Grant, &ana, &viewed, Some("a\nvoter ben")),
        ] {
            assert_eq!(changed.lines().count(), 13);
            assert_ne!(changed, text);
        }
    }

    #[test]
    fn a_name_takes_no_character_that_a_line_could_end_with_or_a_pattern_be_made_of() {
        for bad in ["", "a b", "a\nb", "a,b", "a*", "ä", "a\u{200b}", "a/b"] {
            assert!(Person::new(bad).is_err(), "{bad:?}");
            assert!(Role::new(bad).is_err(), "{bad:?}");
        }
        assert!(Role::new("Data").is_err());
        assert!(Person::new(&"a".repeat(129)).is_err());
        let error = Person::new("a b").unwrap_err().to_string();
        assert!(error.contains("`a b`") && error.contains("A-Z"), "{error}");
    }
}
