//! Where the data of the inputs goes: which columns may leave the run, by which exit, and as what.

use serde::{Deserialize, Serialize};

/// What the code does with the columns of its inputs. More is possible than happens. A column that is not listed does
/// not reach the exit in a way that the pass follows; what a branch or a mask alone gives away is not told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flows {
    /// In the order of the text.
    pub exits: Vec<Flow>,
    pub reads: Vec<ColumnRead>,
    /// Texts that the run evaluates as code: `eval`, `query`, `ols`.
    pub evaluated: Vec<Named>,
    /// Calls that list files, with their patterns.
    pub listings: Vec<Named>,
    /// Variables of the environment that are read, with their lines.
    pub variables: Vec<(u32, Vec<String>)>,
    /// Lines that touch a file which another call found, with its name and line.
    pub found_by: Vec<(u32, String, u32)>,
    /// Values that the code changes before they leave, in the order of the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alters: Vec<Alteration>,
    /// The first line from which values may pass unseen; every exit then holds everything that is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<u32>,
    /// Whether the code was too tangled to be followed; every exit then holds everything.
    pub tangled: bool,
}

/// What leaves the run at one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    pub to: Way,
    /// From 1.
    pub line: u32,
    /// The call's name, `to_csv`; the name of a public value.
    pub what: String,
    pub shares: Vec<Share>,
}

/// How data leaves a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Text on stdout or stderr.
    Output,
    /// The last expression.
    Value,
    File,
    /// A figure that is shown.
    Figure,
    /// `public.x` of the contract `scoped`.
    Public,
}

/// The part of one input that leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The input's name in Python.
    pub input: String,
    /// Columns whose values may leave as they are, in the input's order.
    pub as_is: Vec<String>,
    /// Columns of which only what was computed from each value may leave: a class, a condition, a hash.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<String>,
    /// Columns of which only counts, means and the like leave.
    pub summed: Vec<String>,
    /// Columns of the input; 0 if they are not known, and the input leaves as it is.
    pub of: usize,
}

/// The columns of one input that the code picks, with their lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnRead {
    pub input: String,
    pub columns: Vec<(String, Vec<u32>)>,
    /// Lines that pick columns by a name that is computed.
    pub computed: Vec<u32>,
}

/// Values that are changed, with the lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alteration {
    pub what: Altered,
    /// How, where a few words can say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub how: Vec<How>,
    pub lines: Vec<u32>,
}

/// What is changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Altered {
    /// Values of a column that had others before.
    Column {
        name: String,
        /// The input's name in Python; a variable, if the code made the column itself.
        of: String,
        own: bool,
    },
    /// Values whose columns are not named.
    Values { of: String },
    /// Numbers, where they are printed.
    Printing,
}

/// One part of how values are changed: `× 1.03`, `where dept == "x"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct How {
    pub by: Change,
    /// The source text of the factor, the value or the condition; the name of a column, with [`Change::From`].
    pub text: String,
}

/// What is done to values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Times,
    Over,
    Plus,
    Minus,
    /// They become this.
    Is,
    /// Only those of this value.
    Value,
    /// They are another column's.
    From,
    /// Only in the rows that a condition names.
    Where,
    /// Only in the other rows.
    Unless,
}

/// A call with the text that it takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    pub line: u32,
    pub what: String,
    pub text: String,
}
