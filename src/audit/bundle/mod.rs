//! What a question selects as one folder that a stranger can check and a person can read: the records with a proof of
//! each, the checkpoint that signs them, every content that they name, and a page.

mod page;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io::{self, Write};

use jiff::Timestamp;

use super::contents::named_by;
use super::export::{ExportError, GoesOn};
use super::query::Query;
use super::tlog::{Begun, Prover, Signed, VerifierKey};
use super::{Answers, AuditError, Log, Logged, Record, Told, erased, gap};
use crate::model::{Digest, grouped};

/// The most proposals of a bundle: its page is for reading.
pub const PROPOSALS_MAX: usize = 1_000;

/// How much a bundle has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bundled {
    pub proposals: u64,
    pub records: u64,
    pub contents: u64,
}

/// The checkpoint of a bundle.
pub struct Anchor<'a> {
    pub key: &'a VerifierKey,
    pub signed: &'a Signed,
    /// Since when the key signs, if that is known.
    pub begun: Option<&'a Begun>,
    pub prover: &'a Prover,
}

/// Where the files of a bundle go.
pub type Put<'a> = &'a mut dyn FnMut(&str, &[u8]) -> io::Result<()>;

/// Whether a bundle can have as many proposals as a question selects.
///
/// # Errors
/// When it selects none or too many, or the log cannot be read.
pub fn fits(answers: &mut Answers, query: &Query) -> Result<(), ExportError> {
    match answers.count(query)? {
        0 => {
            let none = "the query selects no proposal, and a bundle is of some";
            Err(ExportError::Not(none.to_owned()))
        }
        n if n > PROPOSALS_MAX => Err(ExportError::Not(too_many(n))),
        _ => Ok(()),
    }
}

/// What is said of so many proposals.
pub fn too_many(proposals: usize) -> String {
    format!(
        "the query selects {} proposals, and a bundle has {} at most: since: and until: split them",
        grouped(proposals as u64),
        grouped(PROPOSALS_MAX as u64)
    )
}

/// Writes the files of a bundle through `put`, and its page to `page`; `asked` is the question's text.
///
/// # Errors
/// When the log or a content of it cannot be read or is damaged, when a record is newer than the checkpoint, and when
/// the question selects nothing or too much.
pub fn bundle(
    answers: &mut Answers,
    (query, asked): (&Query, &str),
    anchor: &Anchor<'_>,
    put: Put<'_>,
    page: &mut dyn Write,
    goes_on: GoesOn<'_>,
) -> Result<Bundled, ExportError> {
    fits(answers, query)?;
    let mut bundling = Bundling {
        log: answers.log(),
        anchor,
        put,
        lines: Vec::new(),
        contents: BTreeSet::new(),
        done: Bundled::default(),
    };
    let removals = answers.removals()?;
    let gap = gap(&removals, &page::time);
    page::head(page, anchor, asked, gap.as_deref())?;
    page::table(page, &rows(answers, query)?)?;
    if let Some(newest) = removals.first() {
        bundling.tell_gap(newest)?;
    }
    let ended = answers.each_told(query, |told| {
        bundling.add(told, page)?;
        match goes_on(bundling.done.proposals) {
            true => Ok(()),
            false => Err(ExportError::Stopped),
        }
    })?;
    ended?;
    page::foot(page)?;
    bundling.end()
}

/// What the bundle has, the oldest first.
fn rows(answers: &mut Answers, query: &Query) -> Result<Vec<Logged>, AuditError> {
    let mut all = Vec::new();
    let ended: Result<(), Infallible> = answers.each(query, usize::MAX, |row| {
        // A drill that waits is not told.
        if !row.drill || row.settled.is_some() {
            all.push(row);
        }
        Ok(())
    })?;
    let Ok(()) = ended;
    all.reverse();
    Ok(all)
}

struct Bundling<'a> {
    log: Log,
    anchor: &'a Anchor<'a>,
    put: Put<'a>,
    /// The records, by their numbers.
    lines: Vec<(u64, String)>,
    /// The contents that are written.
    contents: BTreeSet<Digest>,
    done: Bundled,
}

impl Bundling<'_> {
    fn add(&mut self, told: &Told, page: &mut dyn Write) -> Result<(), ExportError> {
        if told.case.is_waiting_drill() {
            return Ok(());
        }
        for record in &told.records {
            self.prove(record)?;
            self.keep(record, &told.records)?;
            self.lines.push((record.seq, record.line.clone()));
        }
        self.done.proposals += 1;
        self.done.records += told.records.len() as u64;
        page::proposal(page, told, &self.log)?;
        Ok(())
    }

    /// The record of the newest removal, if the checkpoint signs it already.
    fn tell_gap(&mut self, newest: &Record) -> Result<(), ExportError> {
        if newest.seq <= self.anchor.signed.checkpoint.size {
            self.prove(newest)?;
            self.lines.push((newest.seq, newest.line.clone()));
            self.done.records += 1;
        }
        Ok(())
    }

    fn prove(&mut self, record: &Record) -> Result<(), ExportError> {
        let size = self.anchor.signed.checkpoint.size;
        if record.seq > size {
            return Err(ExportError::Lacking(newer(record.seq, size)));
        }
        let proof =
            self.anchor
                .prover
                .proof(self.anchor.signed, record.seq, record.line.as_bytes());
        let proof = proof.map_err(|e| ExportError::Lacking(format!("nothing is proved: {e}")))?;
        let name = format!("proofs/{}.tlog-proof", record.seq);
        Ok((self.put)(&name, proof.as_bytes())?)
    }

    /// Writes the contents that a record names.
    fn keep(&mut self, record: &Record, records: &[Record]) -> Result<(), ExportError> {
        for named in named_by(&record.event) {
            let known = |at: Timestamp| at.to_string();
            if self.contents.contains(&named.digest) {
                continue;
            }
            let hex = named.digest.hex();
            match self.log.blob(&named.digest) {
                Ok(bytes) => {
                    (self.put)(&format!("blobs/{hex}"), &bytes)?;
                    self.contents.insert(named.digest);
                }
                // The log was not to keep it.
                Err(_) if !named.required => {}
                Err(_) if erased(records, &named.digest, &known).is_some() => {}
                Err(why) => {
                    let kind = record.event.kind();
                    return Err(ExportError::Lacking(format!(
                        "record {} ({kind}) names the content {hex}: {why}",
                        record.seq
                    )));
                }
            }
        }
        Ok(())
    }

    fn end(mut self) -> Result<Bundled, ExportError> {
        self.lines.sort_unstable();
        let mut lines = String::new();
        for (_, line) in &self.lines {
            lines.push_str(line);
            lines.push('\n');
        }
        let signed = self.anchor.signed.note.print();
        let key = format!("{}\n", self.anchor.key);
        let begun = self.anchor.begun.map_or_else(String::new, |begun| {
            format!(
                "\nThe log is {}.\n",
                begun.said(self.anchor.signed.checkpoint.size)
            )
        });
        let readme = format!("{README}{begun}");
        for (name, content) in [
            ("records.jsonl", lines.as_bytes()),
            ("checkpoint", signed.as_bytes()),
            ("key.pub", key.as_bytes()),
            ("countersign_proof.py", CHECKER),
            ("README.txt", readme.as_bytes()),
        ] {
            (self.put)(name, content)?;
        }
        self.done.contents = self.contents.len() as u64;
        Ok(self.done)
    }
}

/// Why a record cannot be proved yet.
pub fn newer(seq: u64, size: u64) -> String {
    format!(
        "record {seq} is newer than the newest checkpoint, which ends at {size}: the dashboard makes the next one within \
         a minute, and when it closes"
    )
}

/// Checks a bundle with Python's standard library alone.
const CHECKER: &[u8] = include_bytes!("../../../assets/check/countersign_proof.py");

const README: &str = include_str!("README.txt");
