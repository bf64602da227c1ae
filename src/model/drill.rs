//! Drills: proposals that the dashboard itself makes, to tell a person whether they still read. Nothing of a
//! drill can run. The log says from the start that it is one; the screen says so once it was decided.

use serde::{Deserialize, Serialize};

use super::{ProposalId, Reviewer, Viewed};

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
    /// Whether this code still has the line, wherever it stands now, with other blanks, over several lines or with more
    /// behind it. `proposed`: the code as proposed.
    pub fn stands_in(&self, code: &str, proposed: &str) -> bool {
        let index = (self.line as usize).saturating_sub(1);
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        let said = code.lines().filter(|line| !line.trim().starts_with('#'));
        let said: String = said.map(bare).collect();
        let wrong = proposed.lines().nth(index).map(bare);
        wrong.is_none_or(|wrong| said.contains(&wrong))
    }
}

impl Harm {
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
    fn a_line_that_was_moved_or_indented_still_stands_and_one_that_was_changed_does_not() {
        let drill = Drill {
            template: "t".to_owned(),
            harm: Harm::Write,
            line: 2,
            does: "writes".to_owned(),
        };
        let proposed = "x = 1\nsend(x)\nprint(x)\n";
        assert!(drill.stands_in(proposed, proposed));
        assert!(drill.stands_in("if x:\n    send(x)\n", proposed));
        assert!(!drill.stands_in("x = 1\nprint(x)\n", proposed));
    }
}
