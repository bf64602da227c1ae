//! How much the effects say, by the room that they have.

use super::super::words;

/// The names that a list has before the rest becomes a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    /// Columns of an input.
    pub read: usize,
    /// Columns that leave by one way.
    pub leaving: usize,
    pub tells: Tells,
}

/// How much is said beside what a person decides on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tells {
    /// Everything.
    All,
    /// All but what is the same for most proposals.
    Own,
    /// What is touched, altered and leaves, without lines and numbers.
    Least,
}

impl Lengths {
    /// The usual lengths, then shorter ones where rows are few.
    pub const SHORTER: [Self; 5] = [
        Self::USUAL,
        Self {
            read: 4,
            ..Self::USUAL
        },
        Self {
            read: 2,
            ..Self::USUAL
        },
        Self {
            read: 0,
            ..Self::USUAL
        },
        Self {
            read: 0,
            leaving: 3,
            ..Self::USUAL
        },
    ];
    pub const USUAL: Self = Self {
        read: 8,
        leaving: 6,
        tells: Tells::All,
    };
    pub const WHOLE: Self = Self {
        read: usize::MAX,
        leaving: usize::MAX,
        tells: Tells::All,
    };
    pub const FOLDED: Self = Self {
        tells: Tells::Least,
        ..Self::USUAL
    };

    /// The length of a list that is the same wherever lists are not whole.
    pub const fn or(self, usual: usize) -> usize {
        match self.read {
            usize::MAX => usize::MAX,
            _ => usual,
        }
    }

    pub const fn is_least(self) -> bool {
        matches!(self.tells, Tells::Least)
    }

    /// Where it is, in few words.
    pub fn at(self, lines: &[u32]) -> Option<String> {
        let few = (!lines.is_empty() && !self.is_least()).then_some(2)?;
        Some(format!(" {}", words::at_lines(lines, few)))
    }
}

/// How much room the effects have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// As few rows as possible: paragraphs are joined where that saves one.
    Two,
    /// A paragraph for each question.
    Each,
    /// The same below the labels of the sheet.
    Sheet,
}

impl Room {
    /// Columns of a paragraph's label.
    pub const fn label(self) -> usize {
        match self {
            Self::Two | Self::Each => 8,
            Self::Sheet => 12,
        }
    }

    /// Lists of this room.
    pub const fn of(self, lists: Lengths) -> Lengths {
        match self {
            Self::Two => Lengths {
                tells: Tells::Own,
                ..lists
            },
            Self::Each | Self::Sheet => lists,
        }
    }
}
