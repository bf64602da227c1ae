//! Code that ran and succeeded, kept as a file that its user can read, copy and run again.
//!
//! `<state>/kept/run_<time>_<id>.py`: a header of comments, a line that ends it, then the exact bytes that
//! were granted, but for secrets, which are replaced. Kept files are a convenience: the log has the same bytes, and whoever reads a kept file must
//! verify it against the log.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use jiff::{Timestamp, tz::TimeZone};
use nix::fcntl::OFlag;

use crate::model::{BoundInput, Digest, InputKind, KeptRun, ProposalId, visible};
use crate::secrets::{self, Beside, Counts, Secrets};

use super::error::AuditError;
use super::log::Log;

/// The last line of the header.
const END: &str = "# ---- the code that was granted begins on the next line ----";
/// Longest field of the header, in characters.
const FIELD: usize = 200;
/// Longest kept file: the largest code that can be proposed, and a header.
const BYTES_MAX: u64 = 2 * 1024 * 1024;

/// A kept file as read back, unverified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub id: ProposalId,
    pub code: Vec<u8>,
}

/// Why a file is not a kept run.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    #[error("{path} cannot be read: {source}", path = path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{path} is not a kept run: {what}", path = path.display())]
    Other { path: PathBuf, what: &'static str },
}

fn folder(state_dir: &Path) -> PathBuf {
    state_dir.join("kept")
}

/// Keeps the code of runs, as the log has it.
#[derive(Clone, Debug)]
pub struct Keeper {
    state_dir: PathBuf,
    secrets: Secrets,
    /// Where the log has codes in which secrets were replaced.
    kept_as: secrets::Kept,
}

impl Keeper {
    pub const fn new(state_dir: PathBuf, secrets: Secrets, kept_as: secrets::Kept) -> Self {
        Self {
            state_dir,
            secrets,
            kept_as,
        }
    }

    /// Writes a run's code into the state folder, once its record is durable. An existing file is not changed.
    pub fn keep(&self, run: &KeptRun) -> Result<PathBuf, KeepError> {
        let folder = folder(&self.state_dir);
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e.into()),
            _ => {}
        }
        let path = folder.join(name(run.id, run.at));
        let (code, found) = self.code(run)?;
        let created = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(OFlag::O_NOFOLLOW.bits())
            .open(&path);
        match created {
            Ok(mut file) => {
                file.write_all(header(run, &code, &found, &self.secrets).as_bytes())?;
                file.write_all(code.as_bytes())?;
                Ok(path)
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(path),
            Err(e) => Err(e.into()),
        }
    }

    /// The code as the log has it, and what was replaced. Other texts of its proposal say what is secret in it too.
    fn code(&self, run: &KeptRun) -> Result<(String, Counts), KeepError> {
        let kept_as = self.kept_as.of_proposal(run.id, &run.digest);
        if kept_as == run.digest {
            // The log may have replaced it too long ago to be remembered.
            let mut found = Counts::new();
            let code = self.secrets.redact_code(&run.code, &mut found);
            return Ok((code.into_owned(), found));
        }
        let bytes = Log::open(&self.state_dir)?
            .blob(&kept_as)
            .map_err(KeepError::Content)?;
        let code = String::from_utf8_lossy(&bytes).into_owned();
        let found = replaced(&run.code, &code);
        Ok((code, found))
    }
}

/// Why a run's code was not kept as a file.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Log(#[from] AuditError),
    #[error("the log's own text of it cannot be read: {0}")]
    Content(String),
}

/// How many secrets of which kind have marks in a code, but for marks that its agent wrote.
fn replaced(code: &str, kept: &str) -> Counts {
    let mut found = Counts::new();
    for kind in secrets::kinds_in(kept) {
        let mark = secrets::replacement(kind);
        let marks = |text: &str| text.matches(&mark).count() as u64;
        let new = marks(kept).saturating_sub(marks(code));
        if new > 0 {
            found.insert(kind.to_owned(), new);
        }
    }
    found
}

/// `run_2026-04-27T01-23-45Z_<id>.py`: sorts by time and needs no quoting in a shell.
fn name(id: ProposalId, at: Timestamp) -> String {
    let at = at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H-%M-%SZ");
    format!("run_{at}_{id}.py")
}

/// `found`: what was replaced in its code.
fn header(run: &KeptRun, code: &str, found: &Counts, secrets: &Secrets) -> String {
    let mut text = String::from(
        "# Kept by Countersign: a person granted this code, it ran and it succeeded.\n",
    );
    let brought = run.inputs.iter().filter_map(BoundInput::brought);
    let claims = [run.title.as_deref(), run.agent.as_deref()];
    let texts = [run.code.as_ref()].into_iter().chain(brought);
    let beside = Beside::of(secrets, texts.chain(claims.into_iter().flatten()));
    let own = |text: &str| beside.redact(text).into_owned();
    let mut field = |name: &str, value: &str| {
        let value: String = visible(value).chars().take(FIELD).collect();
        text.push_str(&format!("# {name:<9}{value}\n"));
    };
    field("run", &run.id.to_string());
    field("at", &run.at.to_string());
    // The digest of code that holds a secret would tell it to whoever can guess.
    field("digest", &Digest::of(code.as_bytes()).to_string());
    for (kind, number) in found {
        let what = format!("{number} {kind}: this is not what ran, and cannot be run again");
        field("redacted", &what);
    }
    field("profile", &run.profile);
    if let Some(agent) = &run.agent {
        field("agent", &format!("{} (its own word)", own(agent)));
    }
    if let Some(title) = &run.title {
        field("title", &format!("{} (its own word)", own(title)));
    }
    for one in run.inputs.iter() {
        field("input", &own(&input(one, &beside)));
    }
    text.push_str("# To run it again for yourself: countersign replicate FILE\n");
    text.push_str(END);
    text.push('\n');
    text
}

/// Its digest would tell a secret in it to whoever can guess.
fn input(one: &BoundInput, beside: &Beside<'_>) -> String {
    let what = match &one.kind {
        InputKind::Dataset {
            dataset, format, ..
        } => format!("data set {dataset}, {}", format.as_str()),
        InputKind::Json { .. } => "json from its agent".to_owned(),
        InputKind::Text { format, .. } => format!("{} from its agent", format.as_str()),
        InputKind::Artifact { id, artifact, .. } => format!("{artifact} of the run {id}"),
    };
    let secret = one
        .brought()
        .is_some_and(|text| beside.redact(text) != text);
    let digest = match secret {
        true => "kept without its secrets".to_owned(),
        false => one.sha256.to_string(),
    };
    format!("{}: {what}, {} bytes, {digest}", one.name, one.bytes)
}

/// Reads a kept file back.
///
/// # Errors
/// When the file cannot be read or is not a kept run.
pub fn read(path: &Path) -> Result<Kept, KeptError> {
    let io = |source| KeptError::Io {
        path: path.to_owned(),
        source,
    };
    let other = |what| KeptError::Other {
        path: path.to_owned(),
        what,
    };
    let meta = fs::metadata(path).map_err(io)?;
    if !meta.is_file() || meta.len() > BYTES_MAX {
        return Err(other("it is not a regular file of at most 2 MiB"));
    }
    let bytes = fs::read(path).map_err(io)?;
    let mut rest = bytes.as_slice();
    let mut id = None;
    loop {
        let Some(end) = rest.iter().position(|b| *b == b'\n') else {
            return Err(other("the line that ends its header is missing"));
        };
        let (line, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        if line == END.as_bytes() {
            break;
        }
        if !line.starts_with(b"# ") {
            return Err(other("the line that ends its header is missing"));
        }
        if let Some(value) = line.strip_prefix(b"# run      ") {
            id = std::str::from_utf8(value).ok().and_then(|v| v.parse().ok());
        }
    }
    let id = id.ok_or_else(|| other("its header names no run"))?;
    Ok(Kept {
        id,
        code: rest.to_vec(),
    })
}

/// The kept files that are older than `days`, oldest first, by the time in their names. Files with other
/// names are not kept runs and are left out.
pub fn outdated(state_dir: &Path, days: u64, now: Timestamp) -> io::Result<Vec<PathBuf>> {
    let Some(before) = super::older_than(days, now) else {
        return Ok(Vec::new());
    };
    let entries = match fs::read_dir(folder(state_dir)) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let at = path.file_name().and_then(|n| n.to_str()).and_then(kept_at);
        if at.is_some_and(|at| at < before) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Every kept file with its run and its length.
pub fn all(state_dir: &Path) -> io::Result<Vec<(PathBuf, ProposalId, u64)>> {
    let mut found = Vec::new();
    for (path, id) in runs(state_dir)? {
        let bytes = fs::symlink_metadata(&path).map_or(0, |meta| meta.len());
        found.push((path, id, bytes));
    }
    Ok(found)
}

fn runs(state_dir: &Path) -> io::Result<Vec<(PathBuf, ProposalId)>> {
    let entries = match fs::read_dir(folder(state_dir)) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if let Some(id) = run_of(&path) {
            found.push((path, id));
        }
    }
    found.sort();
    Ok(found)
}

/// The kept files of these runs.
pub(super) fn all_of(state_dir: &Path, ids: &HashSet<ProposalId>) -> io::Result<Vec<PathBuf>> {
    let mut found = runs(state_dir)?;
    found.retain(|(_, id)| ids.contains(id));
    Ok(found.into_iter().map(|(path, _)| path).collect())
}

/// The run that a kept file is named after.
pub fn run_of(path: &Path) -> Option<ProposalId> {
    let name = path.file_name()?.to_str()?;
    let (_, id) = name
        .strip_prefix("run_")?
        .strip_suffix(".py")?
        .split_once('_')?;
    id.parse().ok()
}

fn kept_at(name: &str) -> Option<Timestamp> {
    let rest = name.strip_prefix("run_")?.strip_suffix(".py")?;
    let (at, id) = rest.split_once('_')?;
    id.parse::<ProposalId>().ok()?;
    let (day, time) = at.split_once('T')?;
    format!("{day}T{}", time.replace('-', ":")).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TextFormat;

    fn keeper(state: &Path) -> Keeper {
        let secrets = Secrets::default();
        Keeper::new(state.to_owned(), secrets, secrets::Kept::default())
    }

    fn run(code: &str) -> KeptRun {
        KeptRun {
            id: ProposalId::new(),
            at: "2026-04-27T01:23:45.678Z".parse().unwrap(),
            digest: Digest::of(code.as_bytes()),
            profile: "analysis".to_owned(),
            agent: Some("a\nb\u{202e}".to_owned()),
            title: Some(
                "# ---- the code that was granted begins on the next line ----\n".to_owned(),
            ),
            inputs: vec![BoundInput {
                name: "sales".to_owned(),
                kind: InputKind::Text {
                    text: "x".to_owned(),
                    format: TextFormat::Csv,
                },
                bytes: 1,
                sha256: Digest::of(b"x"),
            }]
            .into(),
            code: code.into(),
        }
    }

    #[test]
    fn kept_code_is_read_back_exactly() {
        let state = tempfile::tempdir().unwrap();
        for code in [
            "print(1)",
            "print(1)\n",
            "",
            "# run      x\r\nprint('é')\n\n",
        ] {
            let run = run(code);
            let path = keeper(state.path()).keep(&run).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap();
            assert_eq!(name, format!("run_2026-04-27T01-23-45Z_{}.py", run.id));
            let kept = read(&path).unwrap();
            assert_eq!((kept.id, kept.code.as_slice()), (run.id, code.as_bytes()));
            // A second time changes nothing.
            assert_eq!(keeper(state.path()).keep(&run).unwrap(), path);
            // The header names the inputs, and no text of the agent's can start a line.
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains("# input    sales: csv from its agent, 1 bytes"));
            assert_eq!(text.lines().filter(|l| *l == END).count(), 1);
        }
    }

    #[test]
    fn a_file_that_is_not_a_kept_run_is_refused_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.py");
        for (text, expected) in [
            ("print(1)\n", "ends its header is missing"),
            ("# a comment", "ends its header is missing"),
            (&format!("# run      none\n{END}\nprint(1)"), "names no run"),
        ] {
            fs::write(&path, text).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(
            read(dir.path())
                .unwrap_err()
                .to_string()
                .contains("regular file")
        );
        assert!(
            read(&dir.path().join("none"))
                .unwrap_err()
                .to_string()
                .contains("cannot be read")
        );
    }

    #[test]
    fn only_old_kept_runs_are_outdated() {
        let state = tempfile::tempdir().unwrap();
        let old = keeper(state.path()).keep(&run("1")).unwrap();
        fs::write(state.path().join("kept/notes.txt"), "mine").unwrap();
        fs::write(
            state.path().join("kept/run_2001-01-01T00-00-00Z_mine.py"),
            "mine",
        )
        .unwrap();
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let found = outdated(state.path(), 30, at("2026-05-27T01:23:44Z")).unwrap();
        assert!(found.is_empty());
        let found = outdated(state.path(), 30, at("2026-05-27T01:23:46Z")).unwrap();
        assert_eq!(found, [old]);
        assert!(
            outdated(&state.path().join("none"), 1, Timestamp::now())
                .unwrap()
                .is_empty()
        );
        assert!(
            outdated(state.path(), u64::MAX, Timestamp::now())
                .unwrap()
                .is_empty()
        );
    }
}
