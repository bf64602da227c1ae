//! What a log says of earlier proposals beside one, as plain facts: a screen has words for them, and a host's offer takes
//! them to screens elsewhere. Titles and reasons come from agents and people: draw them only as claims.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Digest, Other, ProposalId};

/// One thing that is new about a proposal, or is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum News {
    /// Something like it was denied, and not granted since.
    Denied {
        what: Like,
        at: Option<Timestamp>,
        /// The data sets that it was about, if they are others than this one's.
        other: Option<Vec<Arc<str>>>,
        reason: Option<Arc<str>>,
    },
    /// Its agent never had this data set in what was granted.
    FirstRead { dataset: Arc<str>, private: bool },
    /// Its agent was denied something about these data sets.
    DeniedData {
        data: Vec<Arc<str>>,
        at: Option<Timestamp>,
    },
    /// The same code for the same data, this many times; the last time.
    Same { times: u32, at: Option<Timestamp> },
    /// The same code, and what else differed.
    SameBut { at: Option<Timestamp>, than: Than },
    /// The same code for other data sets.
    OtherData { data: Vec<Arc<str>> },
    /// The same code but for this.
    Alike {
        but: But,
        at: Option<Timestamp>,
        than: Than,
    },
    /// Other code under its title.
    Titled { at: Timestamp },
    /// This code never was. `titled`: follows [`Self::Titled`].
    Never { titled: bool },
    /// How the proposals of its agent were decided.
    OfAgent {
        granted: u32,
        denied: u32,
        blocked: u32,
    },
}

/// What was denied before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Like {
    Code,
    Title,
    Shape,
}

/// In what two codes of one shape differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum But {
    Spacing,
    Comments,
    Numbers,
    Texts,
}

/// What an earlier proposal had otherwise, besides its code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Than {
    pub differs: Vec<Other>,
    pub profile: Arc<str>,
    pub data: Vec<Arc<str>>,
}

/// What a host's log says beside a proposal that it offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Before {
    /// Whether the host had read its whole log. If not, it says nothing yet.
    pub is_read: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub news: Vec<News>,
    /// What was granted of the same agent, title or shape; the most alike first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<GrantedBefore>,
}

/// A code that was granted before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantedBefore {
    pub proposal: ProposalId,
    pub at: Timestamp,
    pub agent: Arc<str>,
    pub title: Option<Arc<str>>,
    pub data: Vec<Arc<str>>,
    pub code: Digest,
    /// `None`: it is too long for an offer, or the host has it no more.
    pub text: Option<Arc<str>>,
}

impl GrantedBefore {
    /// The text, if it is what the digest says.
    pub fn checked(&self) -> Option<&Arc<str>> {
        let text = self.text.as_ref();
        text.filter(|text| Digest::of(text.as_bytes()) == self.code)
    }
}
