//! What the code of a proposal is given besides its text, so that the same code under other conditions is not called
//! the same.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::super::{BoundInput, InputKind};
use super::Earlier;

/// The first half of a SHA-256 digest.
type Half = [u8; 16];

/// What the code of a proposal is given besides its text, in digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Given {
    policy: Half,
    /// The data sets by the names in Python, with their contents.
    data: Half,
    /// What the agent brought, by the names in Python, with the contents.
    brought: Half,
}

/// What differs between two proposals besides their code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Other {
    Profile,
    /// The profile has the same name and says something else.
    Policy,
    /// Other data sets, or the same under other names.
    DataSets,
    /// The same data sets with other contents.
    Contents,
    Brought,
}

impl Given {
    pub(super) fn of(policy: &str, inputs: &[BoundInput]) -> Self {
        let digest = |which: &dyn Fn(&BoundInput) -> bool| {
            let mut parts: Vec<Vec<u8>> = inputs
                .iter()
                .filter(|input| which(input))
                .map(|input| {
                    let kind = match &input.kind {
                        InputKind::Dataset { dataset, .. } => dataset.as_str(),
                        InputKind::Json { .. } => "json",
                        InputKind::Text { format, .. } => format.as_str(),
                        InputKind::Artifact { media_type, .. } => media_type,
                    };
                    let texts = [
                        input.name.as_bytes(),
                        kind.as_bytes(),
                        input.sha256.as_bytes(),
                    ];
                    texts
                        .iter()
                        .flat_map(|text| {
                            let length = (text.len() as u64).to_le_bytes();
                            length.into_iter().chain(text.iter().copied())
                        })
                        .collect()
                })
                .collect();
            parts.sort_unstable();
            half(&parts.concat())
        };
        let is_data = |input: &BoundInput| matches!(input.kind, InputKind::Dataset { .. });
        Self {
            policy: half(policy.as_bytes()),
            data: digest(&is_data),
            brought: digest(&|input| !is_data(input)),
        }
    }
}

/// The first 16 bytes of a SHA-256 digest.
fn half(bytes: &[u8]) -> Half {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    key
}

impl Earlier {
    /// Equal for two proposals that differ in numbers only. `None` if the shape is not known.
    pub fn likeness(&self) -> Option<[u8; 16]> {
        let Given {
            policy,
            data,
            brought,
        } = &*self.given;
        let parts = [
            &self.shape?.numbers[..],
            policy,
            data,
            brought,
            self.profile.as_bytes(),
        ];
        Some(half(&parts.concat()))
    }

    /// What differs from this one besides the code; nothing if the same code does the same.
    pub fn others(&self, other: &Self) -> Vec<Other> {
        let mut found = Vec::new();
        if self.profile != other.profile {
            found.push(Other::Profile);
        } else if self.given.policy != other.given.policy {
            found.push(Other::Policy);
        }
        if self.data != other.data {
            found.push(Other::DataSets);
        } else if self.given.data != other.given.data {
            found.push(Other::Contents);
        }
        if self.given.brought != other.given.brought {
            found.push(Other::Brought);
        }
        found
    }
}
