//! `countersign audit export`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::audit::export::{self, ExportError, Exported};
use crate::audit::query::Query;
use crate::audit::{Answers, Log};
use crate::error::Failure;
use crate::model::grouped;

use super::super::Globals;
use super::super::folder::{Folder, Others};
use super::super::out::{print_data_by, tell};
use super::list::later;
use super::question::{about_proposals, question};
use super::{anchors, bundle, evidence, failed, whole};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Export only these; `audit list --keys` explains it
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// What to write
    #[arg(long, value_enum, default_value = "jsonl")]
    format: Format,
    /// Write into this file instead of standard output, completely or not at all
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// With --out, replace a file of this name
    #[arg(long, requires = "out")]
    force: bool,
    /// Write into this new folder what a stranger can check and read: records, their proofs, contents, a page
    #[arg(long, value_name = "DIR", conflicts_with_all = ["format", "out"])]
    bundle: Option<PathBuf>,
    #[command(flatten)]
    anchors: anchors::Place,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// The records as the log has them, one a line
    Jsonl,
    /// One row for each proposal, safe to open in a spreadsheet
    Csv,
    /// Events of OCSF 1.8.0 for a SIEM, one a line: API Activity and Script Activity
    Ocsf,
    /// The output of one run, in its timing, for asciinema
    Asciicast,
}

impl Format {
    const fn of(self) -> export::Format {
        match self {
            Self::Jsonl => export::Format::Jsonl,
            Self::Csv => export::Format::Csv,
            Self::Ocsf => export::Format::Ocsf,
            Self::Asciicast => export::Format::Asciicast,
        }
    }
}

pub fn run(
    args: &Args,
    log: impl FnOnce() -> Result<Log, Failure>,
    globals: &Globals,
    state_dir: &Path,
) -> Result<u8, Failure> {
    let query = question(&args.query)?;
    about_proposals(&query)?;
    if let Some(dir) = &args.bundle {
        let asked = args.query.join(" ");
        let store = args.anchors.store(globals, state_dir);
        return bundle::run(dir, &query, &asked, &log()?, &store);
    }
    let target = args.out.as_deref().map(target).transpose()?;
    let log = log()?;
    let mut answers = evidence(&log)?;
    let Some((folder, name)) = target else {
        let mut ended = Ok(());
        print_data_by(|out| {
            match export::export(&mut answers, &query, args.format.of(), out, &mut |_| true) {
                Ok(_) => {}
                Err(ExportError::Write(e)) => return Err(e),
                Err(e) => ended = Err(failure(e)),
            }
            Ok(())
        })?;
        ended?;
        told_later(&answers);
        return whole(answers.faults());
    };
    let others = Others::of(args.force);
    let shown = folder.shown(&name);
    let mut exported = Exported::default();
    let mut damaged = Ok(0);
    let written = folder.write_with(&name, others, |file| {
        match filled(file, &mut answers, &query, args.format.of()) {
            Ok(done) => exported = done,
            Err(e) => {
                damaged = Err(e);
                return Err(io::Error::other("unread"));
            }
        }
        damaged = whole(answers.faults())
            .map_err(|e| e.and("without --out, everything up to the damage is printed"));
        match damaged {
            Ok(_) => Ok(()),
            Err(_) => Err(io::Error::other("damaged")),
        }
    });
    if let Err(e) = damaged {
        return Err(e.and(format!("{shown} was not written")));
    }
    let written = written.map_err(|e| Failure::general(format!("{shown}: {e}")))?;
    told_later(&answers);
    tell(&format!("{} {shown}: {}", written.verb(), amount(exported)));
    Ok(0)
}

pub(super) fn told_later(answers: &Answers) {
    if answers.unknown() > 0 {
        tell(&later(answers.unknown()));
    }
}

/// The folder and the name of a file that is to be made. The folder must be there.
fn target(path: &Path) -> Result<(Folder, String), Failure> {
    let shown = path.display();
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.filter(|_| !path.as_os_str().as_encoded_bytes().ends_with(b"/"));
    let Some(name) = name else {
        return Err(Failure::usage(format!(
            "--out takes the path of a file, and `{shown}` ends with no file name"
        )));
    };
    let folder = match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => Path::new("."),
    };
    if !folder.is_dir() {
        let folder = folder.display();
        return Err(Failure::usage(format!(
            "{folder} is no folder that {name} can be written into; make it first"
        )));
    }
    Ok((Folder::open(folder)?, name.to_owned()))
}

fn filled(
    file: &mut File,
    answers: &mut Answers,
    query: &Query,
    format: export::Format,
) -> Result<Exported, Failure> {
    let mut out = BufWriter::with_capacity(1024 * 1024, file);
    let done = export::export(answers, query, format, &mut out, &mut |_| true).map_err(failure)?;
    out.flush().map_err(|e| failure(e.into()))?;
    Ok(done)
}

pub(super) fn failure(error: ExportError) -> Failure {
    match error {
        ExportError::Log(e) => failed(&e),
        ExportError::Write(e) => Failure::general(format!("the export cannot be written: {e}")),
        ExportError::Not(why) => Failure::usage(why),
        e @ ExportError::Stopped => Failure::general(e.to_string()),
        ExportError::Lacking(why) => Failure::general(why),
    }
}

pub(super) fn count(n: u64, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {what}{s}", grouped(n))
}

fn amount(exported: Exported) -> String {
    let records = count(exported.records, "record");
    match exported.proposals {
        Some(n) => format!("{}, {records}", count(n, "proposal")),
        None => format!("{records}, the whole log"),
    }
}
