//! `countersign audit show`.

use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::audit::query::Query;
use crate::audit::{Answers, History, Log, Record, Teller, erased, gap, story, withheld};
use crate::error::Failure;
use crate::model::{
    Artifact, Digest, Drill, DrillEnd, DrilledLog, EditedLog, InputKind, LogEvent, ProposalId,
    ProposedLog, Verdict, visible,
};

use super::super::folder::{Folder, Kind, Others};
use super::super::out::{print, print_json, tell};
use super::fields::fields;
use super::list::{claim, later, seconds};
use super::{answers_to, failed, tell_gap, whole};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The proposal's id, or its beginning or end (at least four digits)
    id: String,
    /// Print a JSON object instead
    #[arg(long)]
    json: bool,
    /// Say whether this file has exactly the code of the proposal, and print nothing else
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "out"])]
    code: Option<PathBuf>,
    /// Write the files that the run left, charts among them, into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// With --out, replace files of the same names
    #[arg(long, requires = "out")]
    force: bool,
    /// Read the whole log for it, and not only what its index and a search for the id name
    #[arg(long)]
    from_log: bool,
}

/// Code is shorter than this.
const CODE_MAX: u64 = 4 * 1024 * 1024;
/// Characters shown of one line of an agent's text.
const LINE: usize = 2_000;

pub fn run(args: &Args, log: &Log) -> Result<u8, Failure> {
    let folder = args.out.as_deref().map(Folder::open).transpose()?;
    let mut answers = answers_to(log, &Query::default(), "show", args.from_log)?;
    let id = resolve(&args.id, &mut answers)?;
    let history = answers.records(id).map_err(|e| failed(&e))?;
    if history.records.is_empty() && history.unknown == 0 {
        whole(&history.faults)?;
        let unknown = Failure::general(format!("the log knows no proposal {id}"));
        let removals = answers.removals().map_err(|e| failed(&e))?;
        return Err(match gap(&removals, &seconds) {
            Some(gap) => unknown.and(gap),
            None => unknown,
        });
    }
    if let Some(file) = &args.code {
        let same = is_code(file, log, &history)?;
        whole(&history.faults)?;
        return Ok(u8::from(!same));
    }
    if args.json {
        print_json(&as_json(id, log, &history))?;
    } else {
        print(|out| as_text(out, id, log, &history))?;
    }
    let begins = history.records.first().map(|first| &first.event);
    if begins.is_some_and(|first| !matches!(first, LogEvent::Proposed(_))) {
        tell_gap(&mut answers)?;
    }
    if let Some(folder) = folder {
        save(log, &history, &folder, Others::of(args.force))?;
    }
    whole(&history.faults)
}

/// Prints which code of the proposal this file has, and returns whether it has one.
fn is_code(file: &Path, log: &Log, history: &History) -> Result<bool, Failure> {
    let unread = |e: io::Error| Failure::general(format!("{}: {e}", file.display()));
    let mut code = Vec::new();
    let opened = File::open(file).map_err(unread)?;
    opened
        .take(CODE_MAX)
        .read_to_end(&mut code)
        .map_err(unread)?;
    let mut last = None;
    for record in &history.records {
        let same = log
            .is_code(&record.event, &code)
            .map_err(Failure::general)?;
        let which = match &record.event {
            LogEvent::Edited(_) => "as a person edited it",
            _ => "as it was proposed",
        };
        last = same.filter(|same| *same).map(|_| which).or(last);
    }
    let name = claim(&file.display().to_string(), 200);
    tell(&match last {
        Some(which) => format!("{name} matches: it is the code {which}, byte for byte"),
        None => format!("{name} does not match: it is not the code of this proposal"),
    });
    Ok(last.is_some())
}

/// Writes the run's files, each after it was compared with the log's digest.
fn save(log: &Log, history: &History, folder: &Folder, others: Others) -> Result<(), Failure> {
    let finished = history.records.iter().find_map(|r| match &r.event {
        LogEvent::Finished(f) => Some(f),
        _ => None,
    });
    let files = finished.map_or(&[][..], |f| &f.artifacts);
    let mut left = 0_usize;
    for file in files {
        match save_one(log, file, folder, others) {
            Ok(shown) => tell(&shown),
            // The others are written nevertheless.
            Err(why) => {
                let digest = file.sha256.parse::<Digest>().ok();
                let erased = digest.and_then(|d| erased(&history.records, &d, &seconds));
                let why = erased.map_or(why, |erased| {
                    format!("{}: {erased}", claim(&file.name, 100))
                });
                left += 1;
                tell(&format!("not written: {why}"));
            }
        }
    }
    match left {
        0 => Ok(()),
        _ => Err(Failure::general(format!(
            "{left} of {} files not written",
            files.len()
        ))),
    }
}

/// Returns the file's path, or why it is not written.
fn save_one(log: &Log, file: &Artifact, folder: &Folder, others: Others) -> Result<String, String> {
    // A copied log may be malicious.
    if !Artifact::is_name(&file.name) {
        let name = claim(&file.name, 100);
        return Err(format!("artifact {name}: its name is no plain file name"));
    }
    let shown = folder.shown(&file.name);
    let digest = file.sha256.parse::<Digest>();
    let digest = digest.map_err(|_| format!("{shown}: it has no digest"))?;
    let content = log.blob(&digest).map_err(|why| format!("{shown}: {why}"))?;
    match folder.write(&file.name, &content, Kind::Private, others) {
        Ok(_) => Ok(shown),
        Err(e) => Err(format!("{shown}: {e}")),
    }
}

/// The only proposal whose id matches.
pub(super) fn resolve(text: &str, answers: &mut Answers) -> Result<ProposalId, Failure> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let part = text.to_lowercase();
    let digits = part.chars().filter(char::is_ascii_hexdigit).count();
    if digits < 4 || !part.chars().all(|c| c.is_ascii_hexdigit() || c == '-') {
        return Err(Failure::usage(format!(
            "`{}` is no proposal id: give a UUID as `audit list` prints it, or at least four digits \
             of its beginning or end",
            claim(text, 60)
        )));
    }
    let found = answers.ids(&part).map_err(|e| failed(&e))?;
    match (found.first(), found.get(1)) {
        (Some(id), None) => Ok(*id),
        (None, _) => {
            whole(answers.faults())?;
            Err(Failure::general(format!(
                "the log knows no proposal whose id begins or ends with {part}"
            )))
        }
        (Some(a), Some(b)) => Err(Failure::usage(format!(
            "several ids begin or end with {part}, among them {a} and {b}; give more digits"
        ))),
    }
}

/// The records as they were written, and the contents that they name.
fn as_json(id: ProposalId, log: &Log, history: &History) -> String {
    let mut contents = serde_json::Map::new();
    for record in &history.records {
        for (_, digest) in record.event.texts() {
            contents.entry(digest.hex()).or_insert_with(|| {
                log.blob(&digest)
                    .map_or(Value::Null, |bytes| json!(String::from_utf8_lossy(&bytes)))
            });
        }
    }
    // Print each line unchanged, so that its hash can be checked.
    let lines: Vec<&str> = history.records.iter().map(|r| r.line.as_str()).collect();
    format!(
        "{{\"id\":\"{id}\",\"records\":[{}],\"contents\":{},\"unknown\":{},\"damage\":{}}}",
        lines.join(",\n"),
        Value::Object(contents),
        history.unknown,
        json!(history.faults.first()),
    )
}

/// What happened in sentences, then each record, then the contents.
fn as_text(out: &mut dyn Write, id: ProposalId, log: &Log, history: &History) -> io::Result<()> {
    writeln!(out, "{id}, all times in UTC")?;
    let teller = Teller {
        at: &|at| seconds(at),
        given: &|text| format!("\"{}\"", claim(text, LINE).replace('"', "\\\"")),
    };
    for line in story(&history.records, teller) {
        writeln!(out, "{line}")?;
    }
    if let Some(said) = withheld(&history.records, &|digest| log.blob(digest).ok()) {
        writeln!(out, "{said}")?;
    }
    for record in &history.records {
        writeln!(out)?;
        writeln!(
            out,
            "{}  seq {}  {} by {}",
            seconds(record.ts),
            record.seq,
            record.event.kind(),
            claim(&record.actor, 20)
        )?;
        facts(out, record)?;
    }
    for (name, digest) in history.records.iter().flat_map(|r| r.event.texts()) {
        writeln!(out, "\n  {}  {digest}", claim(&name, 66))?;
        match log.blob(&digest) {
            Ok(bytes) => content(out, &bytes)?,
            Err(why) => match erased(&history.records, &digest, &seconds) {
                Some(erased) => writeln!(out, "    {erased}")?,
                None => writeln!(out, "    damaged: {}", visible(&why))?,
            },
        }
    }
    if history.unknown > 0 {
        writeln!(out, "\n{}", later(history.unknown))?;
    }
    Ok(())
}

/// Numbered lines, with hidden characters escaped.
fn content(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    let text = String::from_utf8_lossy(bytes);
    for (n, line) in text.split_terminator('\n').enumerate() {
        writeln!(out, "  {:5}  {}", n + 1, visible(line))?;
    }
    Ok(())
}

fn facts(out: &mut dyn Write, record: &Record) -> io::Result<()> {
    match &record.event {
        LogEvent::Proposed(p) => proposed(out, p),
        LogEvent::Edited(e) => edited(out, e),
        LogEvent::Drilled(d) => drilled(out, d),
        LogEvent::Erased {
            contents,
            reason,
            by,
            ..
        } => {
            let login = claim(by.login.as_deref().unwrap_or("-"), 100);
            writeln!(
                out,
                "  by {login} (uid {}): {}",
                by.uid,
                claim(reason, LINE)
            )?;
            for content in contents {
                writeln!(
                    out,
                    "  erased {}  {}",
                    content.part.as_str(),
                    content.sha256
                )?;
            }
            Ok(())
        }
        LogEvent::Finished(f) => {
            let limit = f
                .limit
                .map_or(String::new(), |l| format!(", limit {}", l.as_str()));
            writeln!(
                out,
                "  {}{limit} after {} ms, {}",
                f.state,
                f.duration_ms,
                match &f.exit {
                    crate::model::Exit::Code(code) => format!("exit code {code}"),
                    crate::model::Exit::Signal(name) => format!("signal {}", claim(name, 20)),
                }
            )?;
            if let Some(reason) = &f.unkept {
                let reason = claim(reason, LINE);
                writeln!(out, "  its output is not in the log: {reason}")?;
            }
            if let Some(error) = &f.error {
                let line = error.line.map_or(String::new(), |l| format!(" line {l}"));
                writeln!(
                    out,
                    "  {}{line}: {}",
                    error.kind.as_str(),
                    claim(&error.message, LINE)
                )?;
            }
            for line in f.monitored() {
                writeln!(out, "  {}", claim(&line, LINE))?;
            }
            for a in &f.artifacts {
                writeln!(
                    out,
                    "  artifact {}  {} bytes  {}",
                    claim(&a.name, 100),
                    a.bytes,
                    claim(&a.sha256, 64)
                )?;
            }
            Ok(())
        }
        // The other kinds are short: their fields show everything.
        event => {
            for (name, said) in fields(event)? {
                writeln!(out, "  {name}: {said}")?;
            }
            Ok(())
        }
    }
}

fn proposed(out: &mut dyn Write, p: &ProposedLog) -> io::Result<()> {
    if let Some(drill) = &p.drill {
        writeln!(
            out,
            "  a drill of the dashboard, of which nothing can run; the agent is that of another proposal"
        )?;
        wrong(out, drill)?;
    }
    let says = |text: Option<&str>| text.map_or("-".to_owned(), |t| claim(t, LINE));
    writeln!(
        out,
        "  agent says {}; {} {}",
        says(p.agent.as_ref().map(|a| a.name.as_str())),
        p.peer.process(" "),
        says(p.peer.exe.as_deref())
    )?;
    writeln!(out, "  title says {}", says(p.title.as_deref()))?;
    writeln!(out, "  reason says {}", says(p.reason.as_deref()))?;
    if let Some(trace) = &p.traceparent {
        writeln!(out, "  trace says {}", claim(trace, LINE))?;
    }
    judged(out, &p.profile, &p.policy_sha256, &p.verdict)?;
    for i in &p.inputs {
        let what = match &i.kind {
            InputKind::Dataset { dataset, .. } => format!("data set {}", claim(dataset, 100)),
            InputKind::Json { .. } => "JSON".to_owned(),
            InputKind::Text { format, .. } => format!("{} text", format.as_str()),
            InputKind::Artifact {
                id,
                artifact,
                media_type,
                ..
            } => format!(
                "{} ({}), left by {id}",
                claim(artifact, 100),
                claim(media_type, 100)
            ),
        };
        writeln!(
            out,
            "  given {}: {what}, {} bytes, {}",
            claim(&i.name, 100),
            i.bytes,
            i.sha256
        )?;
    }
    Ok(())
}

/// How a drill ended.
fn drilled(out: &mut dyn Write, d: &DrilledLog) -> io::Result<()> {
    let end = match d.end {
        DrillEnd::Caught => "caught",
        DrillEnd::Granted => "granted; nothing ran",
        DrillEnd::Unanswered => "unanswered",
    };
    let by = d.by.as_ref().map_or(String::new(), |by| {
        let login = claim(by.login.as_deref().unwrap_or("-"), 100);
        format!(" by {login} (uid {})", by.uid)
    });
    writeln!(out, "  {end}{by}")?;
    if let Some(viewed) = &d.viewed {
        let ms = viewed.focused_ms.unwrap_or(viewed.selected_ms);
        writeln!(
            out,
            "  looked at for {ms} ms, {} lines seen",
            viewed.lines_seen
        )?;
    }
    wrong(out, &d.drill)
}

/// What is wrong with a drill's code.
fn wrong(out: &mut dyn Write, drill: &Drill) -> io::Result<()> {
    writeln!(
        out,
        "  {} ({}): line {} {}",
        drill.harm.as_str(),
        claim(&drill.template, 60),
        drill.line,
        claim(&drill.does, LINE)
    )
}

/// A person's edit: what was edited, and the verdict on what they made of it.
fn edited(out: &mut dyn Write, e: &EditedLog) -> io::Result<()> {
    writeln!(out, "  edited from {}", e.from)?;
    writeln!(
        out,
        "  by {} (uid {})",
        claim(e.by.login.as_deref().unwrap_or("-"), 100),
        e.by.uid
    )?;
    judged(out, &e.profile, &e.policy_sha256, &e.verdict)
}

/// A verdict, and the policy that it follows from.
fn judged(out: &mut dyn Write, profile: &str, policy: &str, verdict: &Verdict) -> io::Result<()> {
    writeln!(
        out,
        "  profile {}, policy {}",
        claim(profile, 100),
        claim(policy, 64)
    )?;
    writeln!(out, "  verdict {}", verdict.verdict)?;
    for f in &verdict.findings {
        writeln!(
            out,
            "    {}:{} {} {} {}: {}",
            f.line,
            f.column,
            claim(&f.rule, 20),
            f.severity,
            f.action.as_str(),
            claim(&f.message, LINE)
        )?;
    }
    for c in &verdict.capabilities {
        let lines: Vec<String> = c.lines.iter().map(u32::to_string).collect();
        writeln!(
            out,
            "    can {}, {} (lines {}) {}",
            c.capability,
            verdict.stance(c.capability),
            lines.join(", "),
            claim(&c.detail, LINE)
        )?;
    }
    Ok(())
}
