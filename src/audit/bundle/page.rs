//! The page of a bundle: what happened in sentences, then the code with its verdict and what came of it. HTML that
//! loads nothing and runs nothing. Texts of agents, runs and files are escaped, and shown as such.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use jiff::Timestamp;
use similar::TextDiff;

use super::Anchor;
use crate::audit::{Log, Logged, Record, Teller, Told, erased, story, withheld};
use crate::model::{
    Digest, FinishedLog, GrantedLog, LogEvent, ProposedLog, Verdict, grouped, visible,
    visible_lines,
};

/// Bytes of one text that the page shows; its file has all of it.
const TEXT_MAX: usize = 256 * 1024;
/// How long the differences of an edit may be looked for; then all that is left counts as changed.
const COMPARING: Duration = Duration::from_millis(500);

const STYLE: &str = include_str!("page.css");

/// A text as HTML, without hidden characters; line feeds and tabs stay.
fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible_lines(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A text of one line as HTML.
fn text(text: &str) -> String {
    lines(&visible(text))
}

pub fn time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// The top of the page: what the bundle is of, and how to check it.
pub fn head(
    out: &mut dyn Write,
    anchor: &Anchor<'_>,
    asked: &str,
    gap: Option<&str>,
) -> io::Result<()> {
    let checkpoint = &anchor.signed.checkpoint;
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Records of a Countersign log</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>Records of a Countersign log</h1>\n<p>{}</p>\n\
         <p class=\"how\">Nothing signs this page. What it says can be checked: get the log's verifier key on another way \
         than this folder, and run <code>python3 countersign_proof.py --key KEY .</code> in it. The checker prints each \
         record once it has proved that the record is in the log. It cannot prove that no other records exist.</p>\n\
         <dl>\n<dt>Log</dt><dd><code>{}</code></dd>\n\
         <dt>Checkpoint</dt><dd>over the first {} records{}</dd>\n\
         <dt>Key, as the sender has it</dt><dd><code>{}</code></dd>\n{}</dl>\n",
        match asked.trim() {
            "" => "Every proposal of the log, the oldest first.".to_owned(),
            asked => format!(
                "The proposals that the question <code>{}</code> selects, the oldest first.",
                text(asked)
            ),
        },
        text(&checkpoint.origin),
        grouped(checkpoint.size),
        match anchor.begun {
            Some(begun) => format!("; {}", text(&begun.said(checkpoint.size))),
            None => String::new(),
        },
        text(&anchor.key.to_string()),
        gap.map_or_else(String::new, |gap| format!(
            "<dt>Not in the log</dt><dd>{}</dd>\n",
            text(gap)
        )),
    )
}

/// The proposals of the page, each with a link to where it is told. One alone needs none.
pub fn table(out: &mut dyn Write, all: &[Logged]) -> io::Result<()> {
    if all.len() < 2 {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>The {} proposals</h2>\n<table>\n\
         <tr><th>asked</th><th>agent</th><th>title</th><th>what became of it</th><th>by</th></tr>",
        grouped(all.len() as u64)
    )?;
    for row in all {
        let title = row.title.as_deref().unwrap_or("without a title");
        let by = row.settled.as_ref().and_then(|settled| settled.by.as_ref());
        let by = by.map_or_else(String::new, |by| match &by.login {
            Some(login) => text(login),
            None => format!("uid {}", by.uid),
        });
        writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td><a href=\"#{}\">{}</a></td><td>{}</td><td>{by}</td></tr>",
            time(row.time),
            text(&row.agent),
            row.id,
            text(title),
            row.state
        )?;
    }
    out.write_all(b"</table>\n")
}

pub fn foot(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"</body>\n</html>\n")
}

/// One proposal, from its question to its end.
pub fn proposal(out: &mut dyn Write, told: &Told, log: &Log) -> io::Result<()> {
    let records = &told.records;
    let title = told.case.asked.title.as_deref();
    writeln!(
        out,
        "<article id=\"{}\">\n<h2>{} <span class=\"state\">{}</span></h2>",
        told.case.id,
        title.map_or("without a title".to_owned(), |t| format!("“{}”", text(t))),
        told.case.state
    )?;
    writeln!(
        out,
        "<p class=\"id\">proposal <code>{}</code></p>",
        told.case.id
    )?;
    let teller = Teller {
        at: &time,
        given: &|given| format!("“{}”", visible(given)),
    };
    out.write_all(b"<h3>What happened</h3>\n<ol>\n")?;
    for line in story(records, teller) {
        writeln!(out, "<li>{}</li>", text(&line))?;
    }
    out.write_all(b"</ol>\n")?;
    if let Some(last) = records.last().filter(|_| !told.case.state.is_final()) {
        writeln!(
            out,
            "<p class=\"how\">The records here end with <code>{}</code>: its course was unfinished when this was written.</p>",
            last.event.kind()
        )?;
    }
    contents(out, records, &Kept { log, records })?;
    each_record(out, records)?;
    out.write_all(b"</article>\n")
}

/// Code, verdict, grant and output, in the order of the records.
fn contents(out: &mut dyn Write, records: &[Record], log: &Kept<'_>) -> io::Result<()> {
    let mut proposed = None;
    for record in records {
        match &record.event {
            LogEvent::Proposed(p) => {
                out.write_all(b"<h3>The code as proposed</h3>\n")?;
                proposed = code(out, log, &p.code(), &p.verdict)?;
                verdict(out, &p.verdict)?;
                brought(out, log, p)?;
            }
            LogEvent::Edited(e) => {
                out.write_all(b"<h3>The code as a person edited it</h3>\n")?;
                let edited = code(out, log, &e.code(), &e.verdict)?;
                if let (Some(proposed), Some(edited)) = (&proposed, edited) {
                    let diff = TextDiff::configure()
                        .timeout(COMPARING)
                        .diff_lines(proposed, &edited)
                        .unified_diff()
                        .header("proposed", "edited")
                        .to_string();
                    writeln!(
                        out,
                        "<h4>What the edit changed</h4>\n<pre>{}</pre>",
                        lines(&diff)
                    )?;
                }
                verdict(out, &e.verdict)?;
            }
            LogEvent::Granted(g) => granted(out, g)?,
            LogEvent::Started { isolation, .. } => {
                writeln!(
                    out,
                    "<h3>The walls of the run</h3>\n<p>Tier {}: {}.</p>",
                    isolation.tier,
                    text(&isolation.layers.join(", "))
                )?;
            }
            LogEvent::Finished(f) => finished(out, log, f)?,
            _ => {}
        }
    }
    Ok(())
}

/// Numbered lines, those with findings marked. Returns the text.
fn code(
    out: &mut dyn Write,
    log: &Kept<'_>,
    digest: &Digest,
    verdict: &Verdict,
) -> io::Result<Option<String>> {
    let code = match read(log, digest) {
        Ok(code) => code,
        Err(why) => {
            writeln!(out, "<p class=\"lack\">{}</p>", text(&why))?;
            return Ok(None);
        }
    };
    out.write_all(b"<pre class=\"code\">")?;
    for (n, line) in (1..).zip(shown(&code).split_terminator('\n')) {
        let found = verdict
            .findings
            .iter()
            .any(|f| (f.line..=f.end_line.max(f.line)).contains(&n));
        let (mark, class) = match found {
            true => ("▲", " class=\"found\""),
            false => (" ", ""),
        };
        writeln!(
            out,
            "<span{class}><b>{n:5} {mark}</b> {}</span>",
            text(line)
        )?;
    }
    out.write_all(b"</pre>\n")?;
    whole(out, &code, digest)?;
    Ok(Some(code))
}

fn verdict(out: &mut dyn Write, verdict: &Verdict) -> io::Result<()> {
    let profile = text(&verdict.policy.profile);
    writeln!(
        out,
        "<h4>The verdict of the program: {}</h4>\n<p>Under the profile {profile}, {}.</p>",
        verdict.verdict,
        match verdict.findings.len() {
            0 => "no rule found anything".to_owned(),
            1 => "1 finding".to_owned(),
            n => format!("{n} findings"),
        }
    )?;
    if !verdict.findings.is_empty() {
        out.write_all(b"<ul>\n")?;
        for f in &verdict.findings {
            writeln!(
                out,
                "<li>line {}, {} {} ({}, {}): {}</li>",
                f.line,
                text(&f.rule),
                text(&f.name),
                f.severity,
                f.action.as_str(),
                text(&f.message)
            )?;
        }
        out.write_all(b"</ul>\n")?;
    }
    if !verdict.capabilities.is_empty() {
        out.write_all(b"<p>It can:</p>\n<ul>\n")?;
        for c in &verdict.capabilities {
            let at: Vec<String> = c.lines.iter().map(u32::to_string).collect();
            let (at, detail) = (at.join(", "), text(&c.detail));
            writeln!(out, "<li>{} (lines {at}) {detail}</li>", c.capability)?;
        }
        out.write_all(b"</ul>\n")?;
    }
    Ok(())
}

/// What the agent brought, as it was shown to the person.
fn brought(out: &mut dyn Write, log: &Kept<'_>, p: &ProposedLog) -> io::Result<()> {
    for input in p.inputs.iter().filter(|input| input.is_kept()) {
        let what = format!("The input {} that came with it", visible(&input.name));
        content(out, log, &what, &input.sha256)?;
    }
    for input in p.inputs.iter().filter(|input| !input.is_kept()) {
        writeln!(
            out,
            "<p>The input {} is a data set of the host: the log has its SHA-256 and no content, <code>{}</code>.</p>",
            text(&input.name),
            input.sha256.hex()
        )?;
    }
    Ok(())
}

fn granted(out: &mut dyn Write, g: &GrantedLog) -> io::Result<()> {
    writeln!(
        out,
        "<h3>What was granted</h3>\n<dl>\n<dt>Grant digest</dt><dd><code>{}</code></dd>\n\
         <dt>Code, SHA-256</dt><dd><code>{}</code></dd>\n<dt>Profile, tier</dt><dd>{}, {}</dd>\n\
         <dt>Policy, SHA-256</dt><dd><code>{}</code></dd>\n<dt>Python environment</dt><dd><code>{}</code></dd>\n</dl>",
        g.grant_digest.0.hex(),
        g.digest.hex(),
        text(&g.profile),
        g.tier,
        text(&g.policy_sha256),
        g.environment.hex()
    )
}

fn finished(out: &mut dyn Write, log: &Kept<'_>, f: &FinishedLog) -> io::Result<()> {
    writeln!(out, "<h3>What came of it: {}</h3>", f.state)?;
    if let Some(why) = &f.unkept {
        let why = text(why);
        writeln!(
            out,
            "<p class=\"lack\">Its output is not in the log: {why}</p>"
        )?;
        return Ok(());
    }
    if let Some(said) = withheld(log.records, &|digest| log.log.blob(digest).ok()) {
        writeln!(out, "<p>{}</p>", text(&said))?;
    }
    for (name, digest, bytes, cut) in [
        (
            "stdout",
            &f.stdout_sha256,
            f.stdout_bytes,
            f.stdout_truncated,
        ),
        (
            "stderr",
            &f.stderr_sha256,
            f.stderr_bytes,
            f.stderr_truncated,
        ),
    ] {
        if bytes > 0 {
            let cut = if cut { ", cut at the limit" } else { "" };
            let what = format!("{name}, {} bytes{cut}", grouped(bytes));
            content(out, log, &what, digest)?;
        }
    }
    if let Some(result) = &f.result_sha256 {
        content(out, log, "The value that it returned, as JSON", result)?;
    }
    let monitored = f.monitored();
    if !monitored.is_empty() {
        out.write_all(b"<h4>Noted while it ran</h4>\n<ul>\n")?;
        for line in monitored {
            writeln!(out, "<li>{}</li>", text(&line))?;
        }
        out.write_all(b"</ul>\n")?;
    }
    if !f.artifacts.is_empty() {
        out.write_all(b"<h4>Files that it left</h4>\n<ul>\n")?;
        for a in &f.artifacts {
            writeln!(
                out,
                "<li>“{}”, {} bytes, {}: <code>blobs/{}</code></li>",
                text(&a.name),
                grouped(a.bytes),
                text(&a.media_type),
                text(&a.sha256)
            )?;
        }
        out.write_all(b"</ul>\n")?;
    }
    Ok(())
}

fn content(out: &mut dyn Write, log: &Kept<'_>, what: &str, digest: &Digest) -> io::Result<()> {
    writeln!(out, "<h4>{}</h4>", text(what))?;
    match read(log, digest) {
        Ok(content) => {
            writeln!(out, "<pre>{}</pre>", lines(shown(&content)))?;
            whole(out, &content, digest)
        }
        Err(why) => writeln!(out, "<p class=\"lack\">{}</p>", text(&why)),
    }
}

fn read(log: &Kept<'_>, digest: &Digest) -> Result<String, String> {
    let bytes = log.blob(digest)?;
    String::from_utf8(bytes).map_err(|_| "It is not text; its file has it.".to_owned())
}

/// The contents that records name.
struct Kept<'a> {
    log: &'a Log,
    records: &'a [Record],
}

impl Kept<'_> {
    fn blob(&self, digest: &Digest) -> Result<Vec<u8>, String> {
        let blob = self.log.blob(digest);
        blob.map_err(|why| match erased(self.records, digest, &time) {
            Some(erased) => format!("It was {erased}."),
            None => why,
        })
    }
}

/// What the page shows of a text.
fn shown(text: &str) -> &str {
    let mut end = TEXT_MAX.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Where the whole text is.
fn whole(out: &mut dyn Write, text: &str, digest: &Digest) -> io::Result<()> {
    let mut said = String::new();
    if text.len() > TEXT_MAX {
        let bytes = grouped(text.len() as u64);
        let _ = write!(
            said,
            "Only its beginning is shown; all {bytes} bytes are in "
        );
    }
    writeln!(
        out,
        "<p class=\"file\">{said}<code>blobs/{}</code></p>",
        digest.hex()
    )
}

/// Which records these are, for who compares them with what the checker prints.
fn each_record(out: &mut dyn Write, records: &[Record]) -> io::Result<()> {
    out.write_all(
        b"<details>\n<summary>Its records</summary>\n<table>\n<tr><th>seq</th><th>time</th><th>kind</th><th>by</th></tr>\n",
    )?;
    for record in records {
        writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            record.seq,
            time(record.ts),
            record.event.kind(),
            text(&record.actor)
        )?;
    }
    out.write_all(b"</table>\n</details>\n")
}
