//! `countersign audit verify`.

use std::io::Write;

use serde_json::json;

use crate::audit::{Damage, Log, Repaired, Report};
use crate::error::Failure;
use crate::model::visible;

use super::super::out::{print, print_json};
use super::failed;
use super::list::{later, seconds};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fail unless something outside the folder vouches for the log's end
    #[arg(long)]
    require_anchor: bool,
    /// Print a JSON object instead
    #[arg(long)]
    json: bool,
}

const NOT_ANCHORED: &str = "not anchored: a cut end cannot be excluded";

const REPAIR: &str = "`countersign audit repair` says what can be repaired, and what would be lost";

pub fn run(args: &Args, log: &Log) -> Result<u8, Failure> {
    let report = log.verify().map_err(|e| failed(&e))?;
    let anchored = report.anchored_through();
    if args.json {
        let mut json = json!(report);
        json["anchored_through"] = json!(anchored);
        print_json(&format!("{json:#}"))?;
    } else {
        print(|out| {
            text(out, &report)?;
            match anchored {
                _ if !report.consistent => Ok(()),
                Some(seq) => writeln!(out, "anchored through seq {seq}"),
                None => writeln!(out, "{NOT_ANCHORED}"),
            }
        })?;
    }
    let unanchored = args.require_anchor && anchored.is_none();
    Ok(u8::from(!report.consistent || unanchored))
}

/// The first line names the first bad record, or says that there is none.
fn text(out: &mut dyn Write, report: &Report) -> std::io::Result<()> {
    let mut bad: Vec<_> = report.impossible.iter().chain(&report.bad_blobs).collect();
    bad.sort_by_key(|damage| damage.seq);
    for damage in bad.into_iter().chain(&report.damage) {
        writeln!(out, "damaged: {}", visible(&damage.to_string()))?;
    }
    let more = |count: u64, named: &[Damage]| count - named.len() as u64;
    for (more, what) in [
        (more(report.impossible_count, &report.impossible), "records"),
        (more(report.bad_blob_count, &report.bad_blobs), "blobs"),
    ] {
        if more > 0 {
            writeln!(out, "and {more} more {what}")?;
        }
    }
    if report.damage.is_some() {
        writeln!(out, "sound before it: {}", count(report))?;
        writeln!(out, "{REPAIR}")?;
    } else if !report.consistent {
        writeln!(out, "the chain is intact: {}", count(report))?;
    } else {
        writeln!(out, "consistent: {}, head {}", count(report), report.head)?;
    }
    if let Some(seq) = report.removed_through {
        writeln!(
            out,
            "records up to seq {seq} were removed under retention, as a later record says"
        )?;
    }
    if report.in_journal > 0 {
        writeln!(
            out,
            "the last {} stand in the journal; the next start of the dashboard puts them in their place",
            report.in_journal
        )?;
    }
    // One repair can set several files aside, and leaves a record for each of them.
    let same = |a: &Repaired, b: &Repaired| a.lost == b.lost && a.uid == b.uid;
    for repair in report.repairs.chunk_by(same) {
        let Some(first) = repair.first() else {
            continue;
        };
        let by = first
            .uid
            .map_or_else(String::new, |uid| format!(" by uid {uid}"));
        let seqs: Vec<String> = repair.iter().map(|one| one.seq.to_string()).collect();
        writeln!(
            out,
            "repaired {}{by}, as seq {} says: {}",
            seconds(first.at),
            seqs.join(", "),
            visible(&first.lost)
        )?;
    }
    if report.unknown > 0 {
        writeln!(out, "{}", later(report.unknown))?;
    }
    Ok(())
}

fn count(report: &Report) -> String {
    let s = |n: u64| if n == 1 { "" } else { "s" };
    format!(
        "{} record{} in {} segment{}, {} blob{}",
        report.records,
        s(report.records),
        report.segments,
        s(report.segments),
        report.blobs,
        s(report.blobs)
    )
}
