//! What is known about a run when its code is judged.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{BoundInput, Column, DataFormat, InputKind, Tier};

/// What a verdict depends on besides the code and the policy. Rules skip what is unknown; the default knows
/// nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The tier that the run will at least have. A policy can require a stronger one.
    pub tier: Option<Tier>,
    /// The names that the proposal's inputs bind.
    pub inputs: Option<BTreeSet<String>>,
    /// The data sets that an input may name.
    pub datasets: BTreeSet<String>,
    pub python: Option<Installed>,
    /// What is known of the values of the inputs, by the names that they bind.
    #[serde(default)]
    pub values: BTreeMap<String, Value>,
}

/// The value of an input as the run finds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    pub form: Form,
    /// The columns of a table; the fields of the first records of a list.
    pub columns: Vec<Column>,
    /// The columns of a table in which more than three quarters of the rows have a text that no
    /// number can be part of. So any four of them have such texts in a row together.
    #[serde(default)]
    pub texts: BTreeSet<String>,
}

/// What kind of Python value an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A DataFrame with these columns and an index without a name.
    Table,
    /// A DataFrame whose index may have names of its own.
    Indexed,
    /// A list of plain data.
    List,
}

impl Value {
    /// A verdict does not look at the columns of wider tables: every request for one would carry
    /// them.
    const COLUMNS_MAX: usize = 1_000;

    /// `None` if nothing about the value is certain.
    pub fn of(input: &BoundInput) -> Option<Self> {
        let (format, columns, texts) = match &input.kind {
            InputKind::Dataset {
                format,
                columns,
                texts,
                ..
            } => (*format, columns.clone(), texts.clone()),
            InputKind::Text { text, format } => {
                let format = DataFormat::from(*format);
                (format, header(text, format)?, BTreeSet::new())
            }
            InputKind::Json { .. } | InputKind::Artifact { .. } => return None,
        };
        let form = match format {
            DataFormat::Csv | DataFormat::Tsv => Form::Table,
            DataFormat::Parquet => Form::Indexed,
            DataFormat::Jsonl => Form::List,
            DataFormat::Json | DataFormat::Arrow | DataFormat::Text | DataFormat::Bytes => {
                return None;
            }
        };
        // pandas makes other names of these: numbered ones, and pairs in a header of two rows.
        let mut names = BTreeSet::new();
        let plain = columns.iter().all(|c| {
            !c.name.is_empty() && !c.name.starts_with('(') && names.insert(c.name.as_str())
        });
        let certain = form == Form::List || (plain && !columns.is_empty());
        (certain && columns.len() <= Self::COLUMNS_MAX).then_some(Self {
            form,
            columns,
            texts,
        })
    }
}

/// The names in the first row of a text that an agent brings. The types of the columns are unknown.
fn header(text: &str, format: DataFormat) -> Option<Vec<Column>> {
    let delimiter = match format {
        DataFormat::Csv => b',',
        DataFormat::Tsv => b'\t',
        _ => return Some(Vec::new()),
    };
    let mut csv = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let names = csv.headers().ok()?;
    let column = |name: &str| Column {
        name: name.to_owned(),
        dtype: String::new(),
    };
    Some(names.iter().map(column).collect())
}

/// The Python that runs use: its version and its modules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// `sys.version_info[:2]`.
    pub version: (u32, u32),
    /// Top-level modules that some policy lists and that are not installed.
    pub missing: BTreeSet<String>,
    /// Top-level modules that are installed, without the standard library; empty if unknown.
    pub present: BTreeSet<String>,
    /// The releases of the distributions that are here, by their names.
    pub releases: BTreeMap<String, String>,
}

impl Installed {
    /// Whether a policy lists the module with this dotted path and it is not installed.
    pub fn lacks(&self, path: &str) -> bool {
        let top = path.split('.').next().unwrap_or(path);
        self.missing.contains(top)
    }

    /// Whether a top-level module that no policy lists is certainly not installed.
    pub fn surely_lacks(&self, top: &str) -> bool {
        !self.present.is_empty() && !self.present.contains(top)
    }
}
