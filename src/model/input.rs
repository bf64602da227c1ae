//! What a snippet is given besides its code.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Digest, ProposalId};

/// An input as a proposer names it on the wire (protocol.md §2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum InputRequest {
    /// A data set of the user's configuration, by name.
    Dataset { dataset: String },
    /// Plain data the agent brings.
    Json { json: Value },
    /// Text the agent brings, parsed as `format` in the child.
    Text { text: String, format: TextFormat },
    /// A file an earlier succeeded run of the same session left.
    Artifact { artifact: ArtifactRef },
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

    /// The format a file's extension (without the dot, any case) stands for.
    pub fn from_extension(ext: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|f| f.as_str().eq_ignore_ascii_case(ext))
    }
}

/// How the bytes of a file become a value of the snippet's.
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
    /// As one `str`.
    Text,
    /// As `bytes`.
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
    /// What a data set's file may be.
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

/// Whether a data set's cell values may go back to an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sensitivity {
    #[default]
    Public,
    Private,
}

/// What `datasets` tells agents: no path, no cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetInfo {
    pub name: String,
    pub columns: Vec<Column>,
    pub rows: u64,
    pub sensitivity: Sensitivity,
}

/// A column as it was told from the file's text: `int64`, `float64`, `bool` or `object`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    pub dtype: String,
}

/// An input whose content is fixed: what the reviewer sees and the grant binds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundInput {
    /// The Python name it gets.
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
    },
    /// The compact JSON text, shown to the reviewer and handed to the child as it stands.
    Json {
        text: String,
    },
    Text {
        text: String,
        format: TextFormat,
    },
    /// A file that an earlier run of the session left; the log has its content.
    Artifact {
        id: ProposalId,
        artifact: String,
        media_type: String,
        format: DataFormat,
        /// The content, where it is text that a person can be asked to read.
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

/// Whether an input may be called so: an ASCII Python name, so that no two look or fold alike, of
/// at most 64 characters that begins with a letter and stands for nothing else.
pub fn is_input_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.len() <= 64
        && !TAKEN.contains(&name)
}

impl BoundInput {
    /// Whether it is a data set whose cell values are not for agents.
    pub fn is_private(&self) -> bool {
        matches!(
            self.kind,
            InputKind::Dataset {
                sensitivity: Sensitivity::Private,
                ..
            }
        )
    }

    /// Bytes of text that a file of an earlier run may have to be shown by content; what is longer
    /// is named by size and digest. What an agent brings itself is always shown.
    pub const SHOWN_MAX: u64 = 64 * 1024;

    /// The content that a reviewer is shown: what the agent brought, and short text of an earlier
    /// run. `None` for the user's own data set and for what is no text.
    pub fn brought(&self) -> Option<&str> {
        match &self.kind {
            InputKind::Dataset { .. } => None,
            InputKind::Json { text } | InputKind::Text { text, .. } => Some(text),
            InputKind::Artifact { text, .. } => text.as_deref(),
        }
    }

    /// How its bytes are read.
    pub fn format(&self) -> DataFormat {
        match &self.kind {
            InputKind::Json { .. } => DataFormat::Json,
            InputKind::Text { format, .. } => (*format).into(),
            InputKind::Artifact { format, .. } | InputKind::Dataset { format, .. } => *format,
        }
    }

    /// Whether the log keeps its content; a data set of the user's it names by digest only.
    pub const fn is_kept(&self) -> bool {
        !matches!(self.kind, InputKind::Dataset { .. })
    }
}
