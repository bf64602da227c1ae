//! What is read of one host's checkpoints: the few newest, or, where rows stand among them that it did not sign, everything. Whoever
//! has a host's password adds rows in its name, and must not push its own out of sight.

use crate::ballot::Key;
use crate::desk::engine::{CheckpointRow, Engine, EngineError};

use super::admitted::Said;

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathered {
    pub rows: Vec<CheckpointRow>,
    /// How many of them its key did not sign.
    pub foreign: usize,
    pub extent: Extent,
}

/// How much of what is there was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// The largest, and those that came last.
    #[default]
    Newest,
    All,
    /// The newest so many, and there are more.
    Most(usize),
}

impl Gathered {
    /// `rows`: the newest. Where the host signed them all, no others are read.
    pub async fn of(
        engine: &Engine,
        host: &str,
        key: &Key,
        rows: Vec<CheckpointRow>,
    ) -> Result<Self, EngineError> {
        let foreign = |rows: &[CheckpointRow]| {
            let all = rows.iter();
            all.filter(|row| Said::read(key, row).is_err()).count()
        };
        let mut gathered = Self {
            foreign: foreign(&rows),
            rows,
            extent: Extent::Newest,
        };
        if gathered.foreign == 0 {
            return Ok(gathered);
        }
        let mut whole = engine.whole(host).await?;
        gathered.extent = match whole.is_all {
            true => Extent::All,
            false => Extent::Most(whole.rows.len()),
        };
        // The oldest doubts, and the largest.
        let mut more = gathered.rows;
        more.retain(|row| !whole.rows.contains(row));
        whole.rows.extend(more);
        gathered.foreign = foreign(&whole.rows);
        gathered.rows = whole.rows;
        Ok(gathered)
    }

    /// That others write in its name, if so.
    pub fn intrusion(&self) -> Option<String> {
        (self.foreign > 0).then(|| foreign(self.foreign, self.rows.len()))
    }
}

impl Extent {
    /// What follows where a checkpoint is not there.
    pub fn missing(self) -> String {
        match self {
            Self::Newest | Self::All => "is gone from the engine".to_owned(),
            Self::Most(n) => {
                format!("is not among the newest {n} rows of this host, which were read")
            }
        }
    }
}

/// Rows that stand under a host's name and that its key did not sign.
pub(super) fn foreign(foreign: usize, all: usize) -> String {
    format!(
        "{foreign} of {all} rows under its name are not signed by its key. If it had another key before, they may be of that; if not, somebody \
         else has its password of the engine and fills its room there: give its login a new one"
    )
}
