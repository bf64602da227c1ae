//! The inputs of a snippet.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Digest, ProposalId, Summary};

/// An input as a proposer names it on the wire (protocol.md §2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum InputRequest {
    /// A data set of the user's configuration, by name.
    Dataset { dataset: String },
    /// Plain data that the agent brings.
    Json { json: Value },
    /// Text that the agent brings; the child parses it as `format`.
    Text { text: String, format: TextFormat },
    /// A file from an earlier successful run of the same session.
    Artifact { artifact: ArtifactRef },
}

impl InputRequest {
    /// Whether the columns of its value are known once it is read.
    pub const fn tells_columns(&self) -> bool {
        match self {
            Self::Dataset { .. } => true,
            Self::Text { format, .. } => !matches!(format, TextFormat::Json),
            Self::Json { .. } | Self::Artifact { .. } => false,
        }
    }
}

/// Names an artifact of an earlier run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtifactRef {
    pub id: ProposalId,
    pub name: String,
}

/// How the text of a `{text, format}` input or the file of a data set is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextFormat {
    Csv,
    Tsv,
    Json,
    Jsonl,
}

impl TextFormat {
    pub const ALL: [TextFormat; 4] = [Self::Csv, Self::Tsv, Self::Json, Self::Jsonl];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
        }
    }

    /// The format for a file extension, without the dot and in any case.
    pub fn from_extension(ext: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|f| f.as_str().eq_ignore_ascii_case(ext))
    }
}

/// How the bytes of a file become a Python value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataFormat {
    Csv,
    Tsv,
    Json,
    Jsonl,
    Parquet,
    /// Arrow IPC, file or stream.
    Arrow,
    /// One `str`.
    Text,
    /// One `bytes`.
    Bytes,
}

impl DataFormat {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Text => "text",
            Self::Bytes => "bytes",
        }
    }
}

impl DataFormat {
    /// The formats that a data set's file may have.
    pub const DATASETS: [Self; 5] = [Self::Csv, Self::Tsv, Self::Json, Self::Jsonl, Self::Parquet];
}

impl From<TextFormat> for DataFormat {
    fn from(format: TextFormat) -> Self {
        match format {
            TextFormat::Csv => Self::Csv,
            TextFormat::Tsv => Self::Tsv,
            TextFormat::Json => Self::Json,
            TextFormat::Jsonl => Self::Jsonl,
        }
    }
}

/// Whether agents may see a data set's cell values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sensitivity {
    #[default]
    Public,
    Private,
}

/// A value in at least this many rows of a private column does not identify one person; what fewer rows share is
/// redacted, and sums over fewer rows are.
pub const ROWS_MIN: u32 = 5;

/// What `datasets` reports to agents; never a path or a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetInfo {
    pub name: String,
    pub format: DataFormat,
    pub columns: Vec<Column>,
    pub rows: u64,
    pub sensitivity: Sensitivity,
}

/// A column, with the type inferred from the file's text: `int64`, `float64`, `bool` or `object`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    pub dtype: String,
}

/// An input with fixed content, which the reviewer sees and the grant binds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundInput {
    /// Its name in Python.
    pub name: String,
    pub kind: InputKind,
    /// Size of the content in bytes.
    pub bytes: u64,
    /// SHA-256 of the content: a data set's file bytes, JSON as compact UTF-8, text as UTF-8.
    pub sha256: Digest,
}

/// Where an input's content comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum InputKind {
    Dataset {
        dataset: String,
        format: DataFormat,
        rows: u64,
        columns: Vec<Column>,
        sensitivity: Sensitivity,
        /// The columns that are surely text, see [`Value`](super::Value). Only verdicts need them.
        #[serde(skip)]
        texts: BTreeSet<String>,
        /// For the person alone; without values if the data set is private.
        #[serde(skip)]
        summary: Option<Arc<Summary>>,
    },
    /// The compact JSON text, shown to the reviewer and passed to the child unchanged.
    Json {
        text: String,
    },
    Text {
        text: String,
        format: TextFormat,
    },
    /// A file from an earlier run of the session; the log has its content.
    Artifact {
        id: ProposalId,
        artifact: String,
        media_type: String,
        format: DataFormat,
        /// The content, if it is text of a length that a person can read.
        text: Option<String>,
    },
}

/// Python's keywords, and the names every snippet already has.
const TAKEN: [&str; 37] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield", "pd", "np",
];

/// Whether an input may have this name: an ASCII Python name of at most 64 characters that begins with a letter
/// and has no other meaning. ASCII, so that no two names look alike or are equal after NFKC.
pub fn is_input_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.len() <= 64
        && !TAKEN.contains(&name)
}

impl BoundInput {
    /// As the log names it: its content is a blob.
    #[must_use]
    pub fn without_text(&self) -> Self {
        let mut input = self.clone();
        match &mut input.kind {
            InputKind::Json { text } | InputKind::Text { text, .. } => text.clear(),
            InputKind::Artifact { text, .. } => *text = None,
            InputKind::Dataset { .. } => {}
        }
        input
    }

    /// Whether agents must not see its cell values.
    pub fn is_private(&self) -> bool {
        matches!(
            self.kind,
            InputKind::Dataset {
                sensitivity: Sensitivity::Private,
                ..
            }
        )
    }

    /// Longest text from an earlier run that the reviewer is shown; longer files are shown as size and digest.
    /// Content that an agent brings itself is always shown.
    pub const SHOWN_MAX: u64 = 64 * 1024;

    /// The content that the reviewer is shown: what the agent brought, and short text from an earlier run.
    /// `None` for the user's own data sets and for content that is not text.
    pub fn brought(&self) -> Option<&str> {
        match &self.kind {
            InputKind::Dataset { .. } => None,
            InputKind::Json { text } | InputKind::Text { text, .. } => Some(text),
            InputKind::Artifact { text, .. } => text.as_deref(),
        }
    }

    /// The format of its bytes.
    pub fn format(&self) -> DataFormat {
        match &self.kind {
            InputKind::Json { .. } => DataFormat::Json,
            InputKind::Text { format, .. } => (*format).into(),
            InputKind::Artifact { format, .. } | InputKind::Dataset { format, .. } => *format,
        }
    }

    /// Whether the log keeps the content. It names the user's own data sets only by digest.
    pub const fn is_kept(&self) -> bool {
        !matches!(self.kind, InputKind::Dataset { .. })
    }
}
