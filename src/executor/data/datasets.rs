//! Turns the inputs that a proposal names into what a reviewer sees: contents read, counted and
//! hashed.
//!
//! Everything here blocks; the shell calls it on another thread. Texts for an agent contain no
//! path.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::model::{
    Artifact, BoundInput, Column, DataFormat, DatasetInfo, Digest, InputKind, InputRequest,
    ProposalId, Sensitivity, Summary, is_input_name,
};

use crate::executor::data::convert::{Converter, Converters};
use crate::executor::data::media;
use crate::executor::data::stamp::{Stamp, settled, stamp};
use crate::sandbox::memfd;

/// The maximum size of a data set: it has to fit into memory beside everything else.
pub const BYTES_MAX: u64 = 4 << 30;

/// A data set in the user's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetSource {
    pub path: PathBuf,
    pub format: DataFormat,
    pub sensitivity: Sensitivity,
}

/// Reads a file that an earlier run left, by its digest.
pub type Contents = Box<dyn Fn(&Digest) -> Result<Vec<u8>, String> + Send + Sync>;

/// The sources of inputs whose contents are not in the proposal.
pub struct Sources {
    /// The user's data sets, by name.
    pub datasets: BTreeMap<String, DatasetSource>,
    /// The log's copies of the files of earlier runs.
    pub left: Contents,
    /// Describes and converts data sets.
    pub converters: Converters,
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sources")
            .field("datasets", &self.datasets)
            .finish_non_exhaustive()
    }
}

/// Binds a file of an earlier run as an input. `name` is the Python name, `id` the run that left
/// the file. The error is one sentence for the agent.
pub fn bind_artifact(
    name: &str,
    id: ProposalId,
    artifact: &Artifact,
    sources: &Sources,
) -> Result<BoundInput, String> {
    check_name(name)?;
    let digest: Digest = artifact
        .sha256
        .parse()
        .map_err(|_| format!("input `{name}` has no digest"))?;
    let content = (sources.left)(&digest)
        .map_err(|e| format!("input `{name}`: the log's copy of the file cannot be used: {e}"))?;
    let short = content.len() as u64 <= BoundInput::SHOWN_MAX;
    let text = (short && media::is_text(&artifact.media_type))
        .then(|| String::from_utf8(content.clone()).ok())
        .flatten();
    Ok(BoundInput {
        name: name.to_owned(),
        kind: InputKind::Artifact {
            id,
            artifact: artifact.name.clone(),
            media_type: artifact.media_type.clone(),
            format: media::format_of(&artifact.media_type),
            text,
        },
        bytes: content.len() as u64,
        sha256: Digest::of(&content),
    })
}

/// Reads, counts and hashes the requested inputs, in the order of their names; files of earlier
/// runs go through [`bind_artifact`]. The error is one sentence for the agent.
pub fn bind_with(
    requests: &BTreeMap<String, InputRequest>,
    sources: &Sources,
) -> Result<Vec<BoundInput>, String> {
    let asked = requests.values().filter_map(|request| match request {
        InputRequest::Dataset { dataset } => {
            sources.datasets.get(dataset).map(|source| source.format)
        }
        _ => None,
    });
    let converter = sources.converters.get_for(asked, PATIENCE);
    bind_all(requests, &sources.datasets, converter.as_deref())
}

/// Like [`bind_with`], without a converter.
pub fn bind(
    requests: &BTreeMap<String, InputRequest>,
    datasets: &BTreeMap<String, DatasetSource>,
) -> Result<Vec<BoundInput>, String> {
    bind_all(requests, datasets, None)
}

fn bind_all(
    requests: &BTreeMap<String, InputRequest>,
    datasets: &BTreeMap<String, DatasetSource>,
    converter: Option<&Converter>,
) -> Result<Vec<BoundInput>, String> {
    requests
        .iter()
        .map(|(name, request)| {
            check_name(name)?;
            bind_one(name, request, datasets, converter)
        })
        .collect()
}

/// The descriptions of the configured data sets for agents. An unreadable one is left out; the
/// local log has the reason.
pub fn describe(sources: &Sources) -> Vec<DatasetInfo> {
    let asked = sources.datasets.values().map(|source| source.format);
    let converter = sources.converters.get_for(asked, PATIENCE);
    describe_all(&sources.datasets, converter.as_deref())
}

fn describe_all(
    datasets: &BTreeMap<String, DatasetSource>,
    converter: Option<&Converter>,
) -> Vec<DatasetInfo> {
    datasets
        .iter()
        .filter_map(|(name, source)| match read(source, converter) {
            Ok(table) => Some(DatasetInfo {
                name: name.clone(),
                format: source.format,
                columns: table.columns,
                rows: table.rows,
                sensitivity: source.sensitivity,
            }),
            Err(e) => {
                tracing::warn!(dataset = %name, path = %source.path.display(), "{e}");
                None
            }
        })
        .collect()
}

fn bind_one(
    name: &str,
    request: &InputRequest,
    datasets: &BTreeMap<String, DatasetSource>,
    converter: Option<&Converter>,
) -> Result<BoundInput, String> {
    match request {
        InputRequest::Dataset { dataset } => {
            let source = datasets
                .get(dataset)
                .ok_or_else(|| format!("there is no data set `{dataset}`"))?;
            let table = read(source, converter).map_err(|e| {
                tracing::warn!(dataset = %dataset, path = %source.path.display(), "{e}");
                format!("data set `{dataset}` cannot be read: {}", public(&e))
            })?;
            Ok(BoundInput {
                name: name.to_owned(),
                kind: InputKind::Dataset {
                    dataset: dataset.clone(),
                    format: source.format,
                    rows: table.rows,
                    columns: table.columns,
                    sensitivity: source.sensitivity,
                    texts: table.texts,
                    summary: table
                        .summary
                        .map(|summary| shown(summary, source.sensitivity)),
                },
                bytes: table.bytes,
                sha256: table.sha256,
            })
        }
        InputRequest::Json { json } => {
            let text = serde_json::to_string(json)
                .map_err(|e| format!("input `{name}` is no JSON: {e}"))?;
            Ok(brought(name, &text.clone(), InputKind::Json { text }))
        }
        InputRequest::Text { text, format } => Ok(brought(
            name,
            text,
            InputKind::Text {
                text: text.clone(),
                format: *format,
            },
        )),
        InputRequest::Artifact { .. } => Err(format!(
            "input `{name}`: the file of an earlier run was not found"
        )),
    }
}

/// The summary as a person is shown it. A public data set of the same content may have been read
/// before a private one.
fn shown(summary: Arc<Summary>, sensitivity: Sensitivity) -> Arc<Summary> {
    match sensitivity {
        Sensitivity::Public => summary,
        Sensitivity::Private => Arc::new(summary.masked()),
    }
}

fn brought(name: &str, text: &str, kind: InputKind) -> BoundInput {
    BoundInput {
        name: name.to_owned(),
        kind,
        bytes: text.len() as u64,
        sha256: Digest::of(text.as_bytes()),
    }
}

fn check_name(name: &str) -> Result<(), String> {
    if is_input_name(name) {
        return Ok(());
    }
    Err(format!(
        "`{}` cannot name an input: use letters, digits and `_`, beginning with a letter, at most \
         64, and no name that Python or every snippet has already",
        name.chars().take(64).collect::<String>()
    ))
}

/// Opens a regular file. A FIFO in its place must not block.
pub fn open(path: &Path) -> io::Result<File> {
    let file = File::options()
        .read(true)
        .custom_flags(nix::libc::O_NONBLOCK | nix::libc::O_CLOEXEC)
        .open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    let what = if kind.is_dir() {
        "it is a folder"
    } else if kind.is_fifo() || kind.is_socket() {
        "it is a pipe or socket"
    } else {
        "it is a device"
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

#[derive(Clone)]
struct Table {
    columns: Vec<Column>,
    /// The columns that are surely text. Only a converter finds them.
    texts: BTreeSet<String>,
    /// Only a converter makes one.
    summary: Option<Arc<Summary>>,
    rows: u64,
    bytes: u64,
    sha256: Digest,
    /// The converter's result: the outer option is `None` if no converter read the file, the inner
    /// if the table is not handed over.
    #[expect(clippy::option_option, reason = "each of them says something")]
    converted: Option<Option<(Arc<OwnedFd>, u64)>>,
}

impl Table {
    fn frame_bytes(&self) -> u64 {
        self.converted
            .iter()
            .flatten()
            .map(|(_, bytes)| bytes)
            .sum()
    }

    fn frame(&self) -> Option<(OwnedFd, u64)> {
        let (frame, bytes) = self.converted.as_ref()?.as_ref()?;
        match memfd::untouched(frame) {
            Ok(own) => Some((own, *bytes)),
            Err(e) => {
                tracing::warn!("a converted table is not handed over: {e}");
                None
            }
        }
    }

    /// Whether this is as good as the result of this converter.
    fn serves(&self, converter: Option<&Converter>) -> bool {
        converter.is_none() || self.converted.is_some()
    }
}

/// Maximum size of all kept converted tables together. The oldest is dropped first and made again
/// when its file is next touched; until then runs read the file themselves.
const FRAMES_MAX: u64 = 4 << 30;

/// How long a data set waits for a Python to describe it.
const PATIENCE: Duration = Duration::from_secs(20);

type Key = (PathBuf, DataFormat);

/// Stamp and description of every data set that was read, the latest last. It has at most as many
/// entries as there are configured data sets.
static KNOWN: Mutex<Vec<(Key, Stamp, Table)>> = Mutex::new(Vec::new());

fn known() -> MutexGuard<'static, Vec<(Key, Stamp, Table)>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The description of the file. The file is read again only if it was touched, so an agent that
/// asks often causes no disk access. A change without a trace is detected at the run, unless the
/// table was converted: then the run gets the table of the content that was shown, whatever the
/// file contains.
fn read(source: &DatasetSource, converter: Option<&Converter>) -> io::Result<Table> {
    let key = (source.path.clone(), source.format);
    if let Some(before) = stamp(&source.path)
        && let Some((_, _, table)) = known()
            .iter()
            .find(|(k, stamp, table)| *k == key && *stamp == before && table.serves(converter))
    {
        return Ok(table.clone());
    }
    let before = settled(&source.path);
    let table = match converter {
        Some(converter) => convert(source, converter)?,
        None => read_anew(source)?,
    };
    if let Some(before) = before.filter(|before| stamp(&source.path) == Some(*before)) {
        let mut known = known();
        known.retain(|(k, ..)| *k != key);
        known.push((key, before, table.clone()));
        let mut total: u64 = known.iter().map(|(_, _, t)| t.frame_bytes()).sum();
        for (_, _, old) in known.iter_mut() {
            if total <= FRAMES_MAX {
                break;
            }
            total -= old.frame_bytes();
            old.converted = old.converted.take().map(|_| None);
        }
    }
    Ok(table)
}

/// The converted table of a data set whose content is still what was shown, as sealed file and
/// size. `None` if that is unknown without reading the data set again.
pub fn frame_of(source: &DatasetSource, shown: Digest) -> Option<(OwnedFd, u64)> {
    let now = stamp(&source.path)?;
    let known = known();
    let (_, _, table) = known.iter().find(|((path, format), stamp, table)| {
        *path == source.path && *format == source.format && *stamp == now && table.sha256 == shown
    })?;
    table.frame()
}

/// The converted table of this content, from whichever file it was read.
pub fn frame_with(format: DataFormat, content: Digest) -> Option<(OwnedFd, u64)> {
    converted(format, content)?.frame()
}

fn converted(format: DataFormat, content: Digest) -> Option<Table> {
    let known = known();
    let same = |(key, _, table): &&(Key, Stamp, Table)| {
        key.1 == format && table.sha256 == content && table.frame_bytes() > 0
    };
    known.iter().find(same).map(|(_, _, table)| table.clone())
}

/// Forgets this content.
#[cfg(test)]
pub fn forget(content: Digest) {
    known().retain(|(_, _, table)| table.sha256 != content);
}

/// Has the converter read a sealed copy, so that the hashed bytes are those described and handed
/// over.
fn convert(source: &DatasetSource, converter: &Converter) -> io::Result<Table> {
    let mut file = open(&source.path)?;
    let (copy, sha256, bytes) = memfd::of_reader("dataset", &mut file, BYTES_MAX)?;
    if let Some(table) = converted(source.format, sha256) {
        return Ok(table);
    }
    let input = BoundInput {
        name: "table".to_owned(),
        kind: InputKind::Dataset {
            dataset: String::new(),
            format: source.format,
            rows: 0,
            columns: Vec::new(),
            sensitivity: source.sensitivity,
            texts: BTreeSet::new(),
            summary: None,
        },
        bytes,
        sha256,
    };
    let made = converter.convert(&input, copy).map_err(|fault| {
        tracing::warn!(path = %source.path.display(), detail = %fault.detail, "{fault}");
        let text = fault.to_string().replace("input table is", "it is");
        io::Error::new(io::ErrorKind::InvalidData, text)
    })?;
    Ok(Table {
        columns: made.columns,
        texts: made.texts,
        summary: made.summary,
        rows: made.rows,
        bytes,
        sha256,
        converted: Some(made.frame.map(|frame| (frame, made.frame_bytes))),
    })
}

/// Used if no Python is ready in time: counts and hashes csv or tsv in a single pass.
fn read_anew(source: &DatasetSource) -> io::Result<Table> {
    let delimiter = match source.format {
        DataFormat::Csv => b',',
        DataFormat::Tsv => b'\t',
        other => {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!(
                    "{} is read once the Python environment is ready",
                    other.as_str()
                ),
            ));
        }
    };
    let mut hashing = Hashing {
        inner: open(&source.path)?.take(BYTES_MAX + 1),
        hash: Sha256::new(),
        bytes: 0,
    };
    let (columns, rows) = columns(&mut hashing, delimiter)?;
    // The csv reader stops after the last byte of the data; the rest is hashed here.
    io::copy(&mut hashing, &mut io::sink())?;
    if hashing.bytes > BYTES_MAX {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {BYTES_MAX} bytes"),
        ));
    }
    Ok(Table {
        columns,
        texts: BTreeSet::new(),
        summary: None,
        rows,
        bytes: hashing.bytes,
        sha256: Digest::from_bytes(hashing.hash.finalize().into()),
        converted: None,
    })
}

struct Hashing<R> {
    inner: R,
    hash: Sha256,
    bytes: u64,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.hash.update(&buffer[..n]);
        self.bytes += n as u64;
        Ok(n)
    }
}

/// Nobody can judge a table with more columns.
const COLUMNS_MAX: usize = 10_000;

fn columns(reader: impl Read, delimiter: u8) -> io::Result<(Vec<Column>, u64)> {
    let mut csv = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .from_reader(reader);
    let odd = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let header = csv.headers().map_err(|e| odd(csv_error(&e)))?.clone();
    if header.is_empty() {
        return Err(odd("it is empty".to_owned()));
    }
    if header.len() > COLUMNS_MAX {
        return Err(odd(format!("it has more than {COLUMNS_MAX} columns")));
    }
    let mut kinds = vec![ColumnType::default(); header.len()];
    let mut rows = 0u64;
    let mut record = csv::StringRecord::new();
    while csv
        .read_record(&mut record)
        .map_err(|e| odd(csv_error(&e)))?
    {
        rows += 1;
        for (kind, cell) in kinds.iter_mut().zip(&record) {
            kind.see(cell);
        }
    }
    let columns = header
        .iter()
        .zip(kinds)
        .map(|(name, kind)| Column {
            // A byte order mark belongs to the file and not to the first name.
            name: name.trim_start_matches('\u{feff}').to_owned(),
            dtype: kind.dtype().to_owned(),
        })
        .collect();
    Ok((columns, rows))
}

fn csv_error(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Utf8 { .. } => "it is not UTF-8".to_owned(),
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!(
            "line {} has {len} fields where the header has {expected_len}",
            error.position().map_or(0, csv::Position::line)
        ),
        csv::ErrorKind::Io(e) => e.to_string(),
        _ => "it is not a table".to_owned(),
    }
}

/// The text of an error for an agent: the kind of failure, without a path.
fn public(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it is not there any more".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "permission denied: the dashboard's user may not read it".to_owned()
        }
        // This error was made in this file, or by the csv reader about the content.
        _ if error.get_ref().is_some() => error.to_string(),
        other => other.to_string(),
    }
}

/// The narrowest type that fits every cell of a column, as pandas would report it.
#[derive(Clone, Copy, Debug, Default)]
struct ColumnType {
    int: bool,
    float: bool,
    bool: bool,
    text: bool,
    missing: bool,
}

/// The values that pandas' `read_csv` treats as missing by default.
const MISSING: &[&str] = &[
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
];

impl ColumnType {
    fn see(&mut self, cell: &str) {
        let trimmed = cell.trim();
        if MISSING.contains(&trimmed) {
            self.missing = true;
        } else if trimmed.parse::<i64>().is_ok() {
            self.int = true;
        } else if trimmed.parse::<f64>().is_ok() {
            self.float = true;
        } else if matches!(
            trimmed,
            "True" | "TRUE" | "true" | "False" | "FALSE" | "false"
        ) {
            self.bool = true;
        } else {
            self.text = true;
        }
    }

    const fn dtype(self) -> &'static str {
        match (self.text, self.bool, self.float, self.int) {
            (true, ..) => "object",
            (_, true, false, false) if !self.missing => "bool",
            (_, true, ..) => "object",
            (_, _, true, _) => "float64",
            (_, _, _, true) if !self.missing => "int64",
            // Missing values turn integers into floats; a column of only missing values is float
            // too.
            _ if self.int || self.missing => "float64",
            _ => "object",
        }
    }
}

#[cfg(test)]
#[path = "../tests/datasets.rs"]
mod tests;
