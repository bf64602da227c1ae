//! What a grant binds, and the digest over it. The dashboard computes it before a grant, and `audit verify` again from the
//! log's records.

use sha2::{Digest as _, Sha256};

use super::{BoundInput, Digest, GrantDigest, InputKind, Limits, ProposalId, Tier};

/// Everything that affects a run.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    pub id: ProposalId,
    pub code: Digest,
    /// Their texts do not count: `sha256` stands for them.
    pub inputs: &'a [BoundInput],
    /// Whether the values of private inputs are returned.
    pub told: bool,
    pub profile: &'a str,
    pub policy: Digest,
    pub limits: &'a Limits,
    pub tier: Tier,
    pub environment: Digest,
}

impl Bound<'_> {
    /// SHA-256 over a labelled, length-prefixed list.
    pub fn digest(&self) -> GrantDigest {
        self.of(b"countersign grant 2", |input| input.without_text().kind)
    }

    /// The digest that earlier versions wrote: their inputs' texts count.
    pub fn digest_with_texts(&self) -> GrantDigest {
        self.of(b"countersign grant 1", |input| input.kind.clone())
    }

    fn of(&self, format: &[u8], kind: impl Fn(&BoundInput) -> InputKind) -> GrantDigest {
        let mut hash = Sha256::new();
        let mut put = |label: &str, value: &[u8]| {
            for part in [label.as_bytes(), value] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        };
        put("format", format);
        put("proposal", self.id.to_string().as_bytes());
        put("code", self.code.as_bytes());
        for input in self.inputs {
            // It holds strings, numbers and digests, so serialising cannot fail.
            let kind = serde_json::to_vec(&kind(input)).unwrap_or_default();
            put("input", input.name.as_bytes());
            put("input kind", &kind);
            put("input content", input.sha256.as_bytes());
            if self.told && input.is_private() {
                put("input values", b"told");
            }
        }
        put("profile", self.profile.as_bytes());
        put("policy", self.policy.as_bytes());
        put(
            "limits",
            &serde_json::to_vec(self.limits).unwrap_or_default(),
        );
        put("tier", self.tier.as_str().as_bytes());
        put("environment", self.environment.as_bytes());
        GrantDigest(Digest::from_bytes(hash.finalize().into()))
    }
}
