//! What a person elsewhere is told about a vote that is asked of them.

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoticeEvent {
    /// A vote is asked of them.
    Waits,
    /// Those who were asked first did not decide in time, so they are asked too.
    Escalated,
    /// What they were asked is over, however.
    Ended,
}

impl NoticeEvent {
    pub const ALL: [Self; 3] = [Self::Waits, Self::Escalated, Self::Ended];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waits => "waits",
            Self::Escalated => "escalated",
            Self::Ended => "ended",
        }
    }
}
