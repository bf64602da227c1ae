//! What a question selects, written for other programs, the oldest proposal first. Each line of the log is read and
//! hashed again before anything of it is written, and no more than a few proposals are in memory.

mod asciicast;
mod csv;
mod ocsf;

use std::io::{self, Write};

use super::error::AuditError;
use super::query::Query;
use super::{Answers, Told};

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The records as the log has them.
    Jsonl,
    /// One row for each proposal.
    Csv,
    /// Events of the Open Cybersecurity Schema Framework.
    Ocsf,
    /// The output of one run, in its timing.
    Asciicast,
}

/// How much was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// `None` if the whole log was written.
    pub proposals: Option<u64>,
    pub records: u64,
}

/// Hears after each proposal, or each record of a whole log, how many were written; false ends the export.
pub type GoesOn<'a> = &'a mut dyn FnMut(u64) -> bool;

/// Why nothing more is written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("{0}")]
    Log(#[from] AuditError),
    #[error("{0}")]
    Write(#[from] io::Error),
    /// Nothing was written.
    #[error("{0}")]
    Not(String),
    /// What is selected cannot be written whole.
    #[error("{0}")]
    Lacking(String),
    #[error("it was stopped")]
    Stopped,
}

/// Writes what a question selects.
///
/// # Errors
/// When the log cannot be read at all, `out` cannot be written to, or nothing selected can be written in this format. A
/// damaged log ends the export early: see [`Answers::faults`].
pub fn export(
    answers: &mut Answers,
    query: &Query,
    format: Format,
    out: &mut dyn Write,
    goes_on: GoesOn<'_>,
) -> Result<Exported, ExportError> {
    match format {
        Format::Jsonl if query.is_empty() => whole_log(answers, out, goes_on),
        Format::Jsonl => each(answers, query, out, goes_on, |out, told| {
            for record in &told.records {
                line(out, record.line.as_bytes())?;
            }
            Ok(())
        }),
        Format::Csv => {
            csv::heading(out)?;
            each(answers, query, out, goes_on, csv::row)
        }
        Format::Ocsf => {
            let log = answers.log();
            each(answers, query, out, goes_on, |out, told| {
                ocsf::events(out, told, &log)
            })
        }
        Format::Asciicast => one_run(answers, query, out),
    }
}

/// The only run that a question selects.
fn one_run(
    answers: &mut Answers,
    query: &Query,
    out: &mut dyn Write,
) -> Result<Exported, ExportError> {
    let mut found: Vec<Told> = Vec::new();
    // Two are enough to know that it is not one.
    let _ = answers.each_told(query, |told| {
        if asciicast::finished(told).is_some() {
            found.push(told.clone());
        }
        if found.len() > 1 { Err(()) } else { Ok(()) }
    })?;
    match &found[..] {
        [] => Err(ExportError::Not(
            "the query selects no run that ended, and an asciicast is of one".to_owned(),
        )),
        [told] => {
            asciicast::recording(out, told, &answers.log())?;
            Ok(Exported {
                proposals: Some(1),
                records: told.records.len() as u64,
            })
        }
        [one, other, ..] => Err(ExportError::Not(format!(
            "an asciicast is of one run, and the query selects several, {} and {} among them; id:{} selects one",
            one.case.id, other.case.id, one.case.id
        ))),
    }
}

fn whole_log(
    answers: &mut Answers,
    out: &mut dyn Write,
    goes_on: GoesOn<'_>,
) -> Result<Exported, ExportError> {
    let mut exported = Exported::default();
    let drills: Vec<String> = answers.waiting_drills()?;
    let written = answers.each_line(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        if drills.iter().any(|id| text.contains(id)) {
            return Ok(());
        }
        exported.records += 1;
        line(out, bytes)?;
        going(goes_on(exported.records))
    })?;
    written?;
    Ok(exported)
}

fn each(
    answers: &mut Answers,
    query: &Query,
    out: &mut dyn Write,
    goes_on: GoesOn<'_>,
    write: impl Fn(&mut dyn Write, &Told) -> io::Result<()>,
) -> Result<Exported, ExportError> {
    let (mut proposals, mut records) = (0, 0);
    let written = answers.each_told(query, |told| {
        if told.case.is_waiting_drill() {
            return Ok(());
        }
        proposals += 1;
        records += told.records.len() as u64;
        write(out, told)?;
        going(goes_on(proposals))
    })?;
    let proposals = Some(proposals);
    written?;
    Ok(Exported { proposals, records })
}

fn going(goes_on: bool) -> Result<(), ExportError> {
    match goes_on {
        true => Ok(()),
        false => Err(ExportError::Stopped),
    }
}

fn line(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(bytes)?;
    out.write_all(b"\n")
}

#[cfg(test)]
#[path = "export_tests.rs"]
mod tests;

#[cfg(test)]
mod ocsf_tests;
#[cfg(test)]
mod votes_tests;
