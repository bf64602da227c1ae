//! `countersign audit verify`.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::audit::{ClockSet, Damage, ErasedBy, Log, Removed, Repaired, Report, SetAside};
use crate::error::Failure;
use crate::model::{grouped, visible};

use super::super::Globals;
use super::super::out::{print, print_json, tell};
use super::anchored::{self, Anchored};
use super::list::{claim, later, seconds};
use super::meter::Meter;
use super::{anchors, failed};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fail unless an anchor from elsewhere, or a key that was there before the records, vouches for all of the log
    #[arg(long)]
    require_anchor: bool,
    /// A checkpoint that was kept elsewhere, which the log must extend
    #[arg(long, value_name = "FILE")]
    anchor: Option<PathBuf>,
    /// The key that checks it, or else the newest checkpoint in the folder of checkpoints, or a file that has it; without it,
    /// the one in that folder
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    #[command(flatten)]
    anchors: anchors::Place,
    /// Print a JSON object instead
    #[arg(long)]
    json: bool,
}

/// How many odd records are named.
const ODD: usize = 5;

const NOT_ANCHORED: &str = "not anchored: a cut end cannot be excluded";

const COMPARED: &str =
    "the index says what the log says (the words of codes in it were not compared)";

const REMOVED: &str = "the index was removed: the next question makes it anew from the log";

const REPAIR: &str = "`countersign audit repair` says what can be repaired, and what would be lost";

const NOTHING_REMOVED: &str = "nothing was removed: the log begins with record 1, and no record says that records or contents were removed, or \
                               pieces of files set aside";

pub fn run(args: &Args, log: &Log, globals: &Globals, state_dir: &Path) -> Result<u8, Failure> {
    let store = args.anchors.store(globals, state_dir);
    let known = anchored::known(args.anchor.as_deref(), args.key.as_deref(), &store)?;
    let signed = known.as_ref().map_or(&[][..], |known| &known.signed);
    let meter = Meter::of("verifying the log");
    let telling = |read, of| meter.tell(read, of);
    let checked = log.verify_telling(Some(&store), signed, &telling);
    drop(meter);
    let (report, compared) = checked.map_err(|e| failed(&e))?;
    let anchored = match known {
        // What follows the damage was not read.
        _ if report.damage.is_some() => Anchored::default(),
        Ok(known) => Anchored::of(&known, compared, &report, &store),
        Err(why) => Anchored {
            fault: Some(why),
            ..Anchored::default()
        },
    };
    let consistent = report.consistent && anchored.fault.is_none();
    // A chain can be sound although what it says cannot be.
    let sound = consistent && report.odd_count == 0;
    let lacks = anchored.lacks.as_ref().filter(|_| consistent);
    if args.json {
        let mut json = json!(report);
        json["consistent"] = json!(sound);
        json["anchored_through"] = json!(anchored.through.filter(|_| consistent));
        let begun = anchored.begun.as_ref().filter(|_| consistent);
        json["anchored_from"] = json!(begun.map(|begun| begun.from));
        json["anchored_since"] = json!(begun.map(|begun| begun.at));
        json["anchored_by"] = json!(begun.map(|begun| &begun.origin));
        json["anchor_fault"] = json!(anchored.fault);
        json["anchor_lacks"] = json!(lacks);
        print_json(&format!("{json:#}"))?;
    } else {
        print(|out| {
            if let Some(fault) = &anchored.fault {
                writeln!(out, "damaged: {}", visible(fault))?;
            }
            text(out, &report, consistent, anchored.through)?;
            match anchored.through {
                _ if !consistent => Ok(()),
                Some(seq) => {
                    if let Some(begun) = &anchored.begun {
                        writeln!(out, "{}", visible(&begun.said(seq)))?;
                    }
                    if let Some(beside) = &anchored.beside {
                        writeln!(out, "{}", visible(beside))?;
                    }
                    writeln!(out, "anchored through seq {seq}")?;
                    let records = report.removed_through.unwrap_or(0) + report.records;
                    match records.saturating_sub(seq) {
                        0 => Ok(()),
                        newer => writeln!(
                            out,
                            "the last {newer} records are newer than the checkpoint"
                        ),
                    }
                }
                None => writeln!(out, "{NOT_ANCHORED}"),
            }
        })?;
        if let Some(lacks) = lacks.filter(|_| args.require_anchor) {
            tell(&format!("--require-anchor: {lacks}"));
        }
    }
    let unanchored = args.require_anchor && anchored.lacks.is_some();
    Ok(u8::from(!sound || unanchored))
}

/// Says that times in the log may not be those of the world; `None` if no clock was set.
fn clock_set(all: &[ClockSet]) -> Option<String> {
    const NAMED: usize = 3;
    let by = |set: &ClockSet| {
        let way = if set.seconds < 0 { "back" } else { "forward" };
        let time = match set.seconds.unsigned_abs() {
            s @ 0..120 => format!("{s} s"),
            s @ 120..7_200 => format!("{} min", s / 60),
            s @ 7_200..172_800 => format!("{} h", s / 3_600),
            s => format!("{} days", s / 86_400),
        };
        format!("{time} {way} at seq {}", set.seq)
    };
    let named: Vec<String> = all.iter().take(NAMED).map(by).collect();
    let times = match all.len() {
        0 => return None,
        1 => "once".to_owned(),
        n => format!("{n} times"),
    };
    let more = if all.len() > NAMED { ", ..." } else { "" };
    Some(format!(
        "the clock of the times was set {times} ({}{more}): the order is that of the records, and times before and after \
         that are not to be compared",
        named.join(", ")
    ))
}

/// Whose keys they are, the files of that time say and no record does.
fn votes(report: &Report) -> String {
    match report.votes {
        1 => "1, signed by the key that its record names".to_owned(),
        n => format!(
            "{}, each signed by the key that its record names",
            grouped(n)
        ),
    }
}

/// The first line names the first bad record, or says that there is none.
fn text(
    out: &mut dyn Write,
    report: &Report,
    consistent: bool,
    anchored: Option<u64>,
) -> std::io::Result<()> {
    let mut bad: Vec<_> = report.impossible.iter().chain(&report.bad_blobs).collect();
    bad.sort_by_key(|damage| damage.seq);
    for damage in bad.into_iter().chain(&report.damage) {
        writeln!(out, "damaged: {}", visible(&damage.to_string()))?;
    }
    if let Some(damage) = &report.index {
        writeln!(out, "changed: {}", visible(&damage.to_string()))?;
        writeln!(out, "{REMOVED}")?;
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
    if report.odd_count > 0 {
        let (records, s) = match report.odd_count {
            1 => ("1 record".to_owned(), "s"),
            n => (format!("{} records", grouped(n)), ""),
        };
        writeln!(out, "{records} say{s} what this program never writes:")?;
        for odd in report.odd.iter().take(ODD) {
            writeln!(out, "  {}", visible(&odd.to_string()))?;
        }
        match report.odd_count.saturating_sub(ODD as u64) {
            0 => {}
            more => writeln!(out, "  and {} more", grouped(more))?,
        }
    }
    if report.damage.is_some() {
        writeln!(out, "sound before it: {}", count(report))?;
        writeln!(out, "{REPAIR}")?;
    } else if !consistent || report.odd_count > 0 {
        writeln!(out, "the chain is intact: {}", count(report))?;
    } else {
        writeln!(out, "consistent: {}, head {}", count(report), report.head)?;
    }
    if report.votes > 0 && report.odd_count == 0 {
        writeln!(out, "votes: {}", votes(report))?;
    }
    if report.votes_unchecked > 0 {
        let n = grouped(report.votes_unchecked);
        writeln!(
            out,
            "votes not checked, since a secret was replaced in what they are about: {n}"
        )?;
    }
    if let Some(line) = clock_set(&report.clock_set) {
        writeln!(out, "{line}")?;
    }
    if let Some(seq) = report.removed_through {
        writeln!(
            out,
            "records up to seq {seq} were removed under retention, as a later record says"
        )?;
    }
    for removed in &report.removals {
        writeln!(out, "{}", gone(removed))?;
        // The command that removes signs at once. Whoever cut the log and wrote a record of it did not.
        match anchored {
            Some(through) if removed.seq > through => {
                writeln!(out, "no checkpoint signs that removal")?;
            }
            Some(_) => writeln!(out, "a checkpoint signs that removal")?,
            None => {}
        }
    }
    for erased in &report.erasures {
        writeln!(out, "{}", gone_of(erased, anchored))?;
    }
    for piece in &report.set_aside {
        writeln!(out, "{}", aside(piece))?;
    }
    // Behind damage nothing was read, and what was signed and is not there did not go by itself.
    let as_signed = consistent == report.consistent;
    if report.damage.is_none() && as_signed && report.nothing_removed() {
        writeln!(out, "{NOTHING_REMOVED}")?;
    }
    if report.index_compared && report.index.is_none() {
        writeln!(out, "{COMPARED}")?;
    }
    if report.erased > 0 {
        let s = if report.erased == 1 { "" } else { "s" };
        writeln!(out, "{} content{s} erased as recorded", report.erased)?;
    }
    if report.unerased > 0 {
        writeln!(
            out,
            "{} recorded as erased are still there: the next start of the dashboard removes them",
            report.unerased
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

/// What one removal says of itself.
fn gone(removed: &Removed) -> String {
    let (through, days) = (removed.through_seq, removed.retention_days);
    let (what, why) = match removed.gap.as_deref() {
        Some(gap) => {
            let (oldest, newest) = (seconds(gap.oldest), seconds(gap.newest));
            let what = format!("seq {}-{through}, of {oldest} to {newest},", gap.first_seq);
            let bytes = gap.retention_bytes;
            (what, bytes.map(|bytes| format!("over {bytes} bytes")))
        }
        None => (format!("up to seq {through}"), None),
    };
    let why = why.unwrap_or_else(|| format!("older than {days} days"));
    format!(
        "removed {what} {why}, on {} by uid {}, as seq {} says",
        seconds(removed.at),
        removed.uid,
        removed.seq
    )
}

/// What one erasure says of itself.
fn gone_of(erased: &ErasedBy, anchored: Option<u64>) -> String {
    let s = if erased.contents == 1 { "" } else { "s" };
    let signed = match anchored {
        Some(through) if erased.seq > through => "; no checkpoint signs that",
        Some(_) => "; a checkpoint signs that",
        None => "",
    };
    format!(
        "erased {} content{s} of {} on {} by uid {}, as seq {} says: \"{}\"{signed}",
        erased.contents,
        erased.id,
        seconds(erased.at),
        erased.uid,
        erased.seq,
        claim(&erased.reason, 200)
    )
}

/// A piece of a file that is in quarantine.
fn aside(piece: &SetAside) -> String {
    let why = match piece.uid {
        Some(uid) => format!("in a repair by uid {uid}"),
        None => "as a crash left them".to_owned(),
    };
    format!(
        "set aside {} bytes of {} on {}, {why}, as seq {} says: quarantine/{}",
        piece.bytes,
        claim(&piece.from, 40),
        seconds(piece.at),
        piece.seq,
        claim(&piece.file, 100)
    )
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
