//! Drills: proposals that the dashboard itself makes, to tell a person whether they still read. Nothing of a
//! drill can run. The log says from the start that it is one; the screen says so once it was decided.

use serde::{Deserialize, Serialize};

use super::{BoundInput, Effects, ProposalId, Reviewer, Touch, Verdict, Viewed};

/// What is wrong with a drill's code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drill {
    /// The name of the template that it was made from.
    pub template: String,
    pub harm: Harm,
    /// The line that a careful reader objects to, counted from 1.
    pub line: u32,
    /// What that line does, in words that follow "line 4 ".
    pub does: String,
    /// Of a harm that touches nothing outside the code. The log does not have it: it would have to be kept readable.
    #[serde(skip)]
    pub wording: Wording,
}

/// How to tell whether a harm that no effect shows is gone. Texts are compared without blanks and comments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wording {
    /// While the code has one of these, it is not.
    pub wrong: Vec<String>,
    /// Unless the code has one of these, it is not.
    pub right: Vec<String>,
}

impl Wording {
    fn stands_in(&self, code: &str) -> bool {
        let said = code
            .lines()
            .map(|line| line.split('#').next().unwrap_or(line));
        let said: String = said.flat_map(str::split_whitespace).collect();
        let has = |texts: &[String]| {
            texts
                .iter()
                .any(|text| said.contains(&*text.replace(' ', "")))
        };
        has(&self.wrong) || !has(&self.right)
    }
}

/// What would have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Harm {
    /// Private rows are printed.
    PrivateData,
    /// A file is written that the title does not speak of.
    Write,
    /// The environment of the run is read.
    Environment,
    /// A constant is not what the title says.
    Constant,
    /// Rows are left out that the title speaks of.
    Rows,
    /// Data is sent away.
    Network,
    /// A program is run.
    Program,
}

/// How a drill ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrillEnd {
    /// A person who looked at it denied it, or edited the line away.
    Caught,
    /// A person granted it; nothing ran.
    Granted,
    /// It expired, the dashboard closed, or it was denied unseen with everything else of its agent.
    Unanswered,
}

/// The content of [`super::LogEvent::Drilled`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrilledLog {
    pub id: ProposalId,
    pub end: DrillEnd,
    #[serde(flatten)]
    pub drill: Drill,
    /// `None` if nobody decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Reviewer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewed: Option<Viewed>,
}

/// The drills of a dashboard, in its `opened` record: with the seed, they can be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrillPlan {
    /// About how many decisions pass between two drills.
    pub every: u64,
    pub seed: u64,
}

impl Drill {
    /// Whether this code still does the harm, in whatever words. `verdict`: on this code.
    pub fn stands_in(&self, code: &str, verdict: &Verdict, inputs: &[BoundInput]) -> bool {
        let effects = Effects::of(verdict, inputs);
        match self.harm {
            Harm::PrivateData => tells_private(&effects) || acts(&effects, code),
            Harm::Write | Harm::Environment | Harm::Network | Harm::Program => acts(&effects, code),
            Harm::Constant | Harm::Rows => self.wording.stands_in(code) || acts(&effects, code),
        }
    }
}

/// Whether code does anything that no title of a drill speaks of.
fn acts(effects: &Effects, code: &str) -> bool {
    let lines: Vec<&str> = code.lines().collect();
    // An import alone does nothing yet.
    let imports = |line: &u32| {
        let line = lines.get((*line as usize).saturating_sub(1));
        line.map(|line| line.trim_start()).is_some_and(|l| {
            (l.starts_with("import ") || l.starts_with("from ")) && !l.contains(';')
        })
    };
    let does = |touch: &Touch| !touch.lines.iter().all(imports);
    let environment = |what: &str| what.contains("environ") || what.contains("getenv");
    let lists = [
        &effects.writes,
        &effects.deletes,
        &effects.network,
        &effects.runs,
        &effects.system,
        &effects.unread,
    ];
    let reads = effects.reads.iter();
    lists.into_iter().flatten().any(does)
        || reads
            .into_iter()
            .any(|touch| environment(&touch.what) && does(touch))
}

/// Whether values of private data leave, or what was computed from each.
fn tells_private(effects: &Effects) -> bool {
    let tangled = effects.tangled && effects.private();
    let parts = effects.leaves.iter().flat_map(|leaving| &leaving.parts);
    tangled
        || parts
            .into_iter()
            .any(|part| part.private && !(part.as_is.is_empty() && part.rows.is_empty()))
}

impl Harm {
    const ALL: [Self; 7] = [
        Self::PrivateData,
        Self::Write,
        Self::Environment,
        Self::Constant,
        Self::Rows,
        Self::Network,
        Self::Program,
    ];

    /// The one that [`Harm::as_str`] calls so.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|harm| harm.as_str() == name)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PrivateData => "private data",
            Self::Write => "write",
            Self::Environment => "environment",
            Self::Constant => "constant",
            Self::Rows => "rows",
            Self::Network => "network",
            Self::Program => "program",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_number_stands_until_the_right_one_took_its_place() {
        let text = |text: &str| vec![text.to_owned()];
        let wording = Wording {
            wrong: text("LIMIT = 95"),
            right: text("75"),
        };
        for (code, stands) in [
            ("LIMIT = 95\n", true),
            ("LIMIT=95 # 75\n", true),
            ("LIMIT = 90\n", true),
            ("LIMIT = 75  # was: LIMIT = 95\n", false),
            ("# LIMIT = 95\nLIMIT = 75\n", false),
            ("print(r > 75)\n", false),
        ] {
            assert_eq!(wording.stands_in(code), stands, "{code}");
        }
    }
}
