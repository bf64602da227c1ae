//! Which program has the screen: the dashboard, or the one that only reads a log.

use super::glossary::GLOSSARY;
use super::keys::Command;
use super::words::{plain, reviewed as words};
use crate::audit::Stage;

/// What the screen belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Program {
    #[default]
    Dashboard,
    /// `countersign audit`: the log alone. Nothing can be decided there.
    Review(Reviewed),
}

/// What `countersign audit` says of the log that it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reviewed {
    /// The state folder.
    pub folder: String,
    /// The command that tells all that is wrong with the log.
    pub verify: String,
    pub vouched: Vouched,
    pub index: Stage,
    /// Whether a dashboard has the log open.
    pub is_written: bool,
}

/// What vouches for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vouched {
    /// The whole log is being read and compared with its latest checkpoint.
    Checking,
    /// It is consistent in itself, and has no checkpoint.
    NotAnchored,
    /// It extends the checkpoint that signs records up to this one.
    Through(u64),
    /// Its checkpoints cannot be used.
    Unusable(String),
    /// The first fault.
    Damaged(String),
    /// It is not the log that was signed.
    Contradicted(String),
}

impl Program {
    /// Whether a key or a name leads to this command.
    pub(super) const fn has(&self, command: Command) -> bool {
        match self {
            Self::Dashboard => true,
            Self::Review(_) => reads(command),
        }
    }

    /// What the help says of a command.
    pub(super) const fn words(&self, command: Command) -> &'static str {
        match self {
            Self::Dashboard => command.words(),
            Self::Review(_) => words::does(command),
        }
    }

    /// The same in plain lines.
    pub(super) const fn spoken(&self, command: Command) -> &'static str {
        match (self, command) {
            (Self::Dashboard, _) | (_, Command::Redraw) => plain::command(command),
            (Self::Review(_), _) => words::does(command),
        }
    }

    /// What words on its screens mean.
    pub(super) const fn glossary(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Dashboard => GLOSSARY,
            Self::Review(_) => words::GLOSSARY,
        }
    }

    /// Why nothing is drawn in so small a terminal.
    pub(super) fn too_small(&self, columns: u16, rows: u16) -> String {
        match self {
            Self::Dashboard => super::words::too_small(columns, rows),
            Self::Review(_) => words::too_small(columns, rows),
        }
    }

    /// Why nothing is read out in so few columns.
    pub(super) fn too_narrow(&self, columns: u16, fewest: u16) -> String {
        match self {
            Self::Dashboard => plain::too_narrow(columns, fewest),
            Self::Review(_) => words::plain::too_narrow(columns, fewest),
        }
    }

    pub(super) fn commands(&self) -> impl Iterator<Item = Command> {
        let all = Command::ALL.iter().copied();
        all.filter(|command| self.has(*command))
    }
}

/// The commands of the program that only reads.
const fn reads(command: Command) -> bool {
    use Command as C;
    match command {
        C::Down
        | C::Up
        | C::Left
        | C::Right
        | C::NextPane
        | C::PreviousPane
        | C::Open
        | C::PageCode
        | C::PageDown
        | C::PageUp
        | C::Top
        | C::Bottom
        | C::Details
        | C::Inputs
        | C::Diff
        | C::OpenOutside
        | C::Facets
        | C::Export
        | C::Statistics
        | C::Palette
        | C::Redraw
        | C::Search
        | C::SearchNext
        | C::SearchPrevious
        | C::Theme
        | C::Help
        | C::Back
        | C::Suspend
        | C::Quit => true,
        C::NextPoint
        | C::PreviousPoint
        | C::Wrap
        | C::Zoom
        | C::AsDrawn
        | C::Save
        | C::Copy
        | C::Order
        | C::Filter
        | C::Alike
        | C::Urgent
        | C::TimeLeft
        | C::Grant
        | C::Confirm
        | C::Deny
        | C::Edit
        | C::DenyAll
        | C::Pause
        | C::Resume
        | C::Kill
        | C::Queue
        | C::Audit
        | C::Policies => false,
    }
}
