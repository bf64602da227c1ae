//! What each part of the page says.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::audit::{Teller, spelled, timeline, withheld};
use crate::model::{
    Action, Artifact, BoundInput, Digest, FinishedLog, InputKind, LogEvent, Sensitivity,
    StreamName, Verdict, VerdictKind,
};

use super::super::diff::Diff;
use super::super::document;
use super::super::highlight;
use super::super::theme::Role;
use super::super::words::policy;
use super::{LINES, Row, Source, name, quoted, words};

/// How long differences may be looked for; then all that is left counts as changed.
const COMPARING: Duration = Duration::from_millis(500);

/// A code of the proposal, and the verdict on it.
type Judged<'s> = (Digest, &'s Verdict);

fn told(text: impl Into<String>) -> Row {
    Row::Told(text.into(), Role::Text)
}

fn field(label: impl Into<String>, text: impl Into<String>) -> Row {
    Row::Field(label.into(), text.into(), Role::Text)
}

impl Source<'_> {
    pub(super) fn timeline(&self) -> Vec<Row> {
        let teller = Teller {
            at: &|at| self.time(at),
            given: &quoted,
        };
        let zone = self.zone.iana_name().map_or_else(
            || {
                let now = Timestamp::now().to_zoned(self.zone.clone());
                now.strftime("UTC%:z").to_string()
            },
            str::to_owned,
        );
        let mut rows = vec![Row::Told(words::all_times_in(&zone), Role::Dim)];
        let mut before = None;
        for moment in timeline(&self.history.records, teller) {
            let ms = before.map(|before| moment.at.as_millisecond() - before);
            before = Some(moment.at.as_millisecond());
            let gap = match ms.map(u64::try_from) {
                None => String::new(),
                Some(Ok(ms)) => words::later(&spelled(ms)),
                Some(Err(_)) => words::CLOCK_BACK.to_owned(),
            };
            let mut gap = Some(gap);
            for line in moment.lines {
                let gap = gap.take().unwrap_or_default();
                rows.push(Row::Timed(gap, line));
            }
        }
        if self.proposed().is_none() {
            rows.push(Row::Told(words::NOT_ASKED.to_owned(), Role::Bad));
        }
        if let Some(stands) = self.stands() {
            rows.push(Row::Told(stands.to_owned(), Role::Flagged));
        }
        rows
    }

    fn proposed(&self) -> Option<Judged<'_>> {
        self.first(|event| match event {
            LogEvent::Proposed(p) => Some((p.code(), &p.verdict)),
            _ => None,
        })
    }

    /// The last edit.
    fn edited(&self) -> Option<Judged<'_>> {
        let edited = self.events().filter_map(|event| match event {
            LogEvent::Edited(e) => Some((e.code(), &e.verdict)),
            _ => None,
        });
        edited.last()
    }

    pub(super) fn finished(&self) -> Option<&FinishedLog> {
        self.first(|event| match event {
            LogEvent::Finished(f) => Some(&**f),
            _ => None,
        })
    }

    /// The verdict on what was decided on.
    pub(super) fn judged(&self) -> Option<VerdictKind> {
        let judged = self.edited().or_else(|| self.proposed());
        judged.map(|(_, verdict)| verdict.verdict)
    }

    /// What was decided on: the last edit, or what was proposed.
    pub(super) fn code(&self) -> Vec<Row> {
        let (whose, judged) = match self.edited() {
            Some(edited) => (words::AS_EDITED, Some(edited)),
            None => (words::AS_PROPOSED, self.proposed()),
        };
        let Some((digest, verdict)) = judged else {
            return vec![Row::Told(words::NOT_ASKED.to_owned(), Role::Bad)];
        };
        let replaced = self.events().any(|event| match event {
            LogEvent::Proposed(p) => p.kept == Some(digest),
            LogEvent::Edited(e) => e.kept == Some(digest),
            _ => false,
        });
        let without = if replaced { words::WITHOUT_SECRETS } else { "" };
        let mut rows = vec![Row::Told(
            format!("{whose}{without}, SHA-256 {}", digest.hex()),
            Role::Dim,
        )];
        match self.text(&digest) {
            Ok(code) => rows.extend(self.listing(&code, verdict)),
            Err(why) => rows.push(Row::Told(why, Role::Bad)),
        }
        rows
    }

    fn listing(&self, code: &str, verdict: &Verdict) -> Vec<Row> {
        let colours = highlight::colours(code);
        let lines = document::lines(code);
        let mut rows = Vec::new();
        for (number, (start, end, _)) in (1_u32..).zip(lines.iter().take(LINES)) {
            let mut parts = Vec::new();
            let mut at = *start;
            while at < *end {
                let (role, next) = colours.at(at);
                let next = code.floor_char_boundary(next.min(*end)).max(at + 1);
                parts.push((code[at..next].to_owned(), role));
                at = next;
            }
            let about = |f: &&crate::model::Finding| f.line == number;
            let covers = |f: &crate::model::Finding| {
                f.action != Action::Note && (f.line..=f.end_line.max(f.line)).contains(&number)
            };
            let found = verdict.findings.iter().any(covers);
            rows.push(Row::Code(number as usize, parts, found));
            for f in verdict.findings.iter().filter(about) {
                let said = format!("{} {}: {}", name(&f.rule), name(&f.name), f.message);
                rows.push(Row::Finding(said, role(f.action)));
            }
        }
        rows.extend(self.rest(lines.len()));
        rows
    }

    pub(super) fn verdict(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (whose, judged) in [
            (words::AS_PROPOSED, self.proposed()),
            (words::AS_EDITED, self.edited()),
        ] {
            let Some((_, verdict)) = judged else {
                continue;
            };
            let profile = name(&verdict.policy.profile);
            let kind = verdict.verdict;
            rows.push(told(format!(
                "{kind}, {whose}, under the profile {profile}"
            )));
            for f in &verdict.findings {
                let label = format!("line {}", f.line);
                let said = format!(
                    "{} {} ({}, {}): {}",
                    name(&f.rule),
                    name(&f.name),
                    f.severity,
                    f.action.as_str(),
                    f.message
                );
                rows.push(Row::Field(label, said, role(f.action)));
            }
            if verdict.findings.is_empty() {
                rows.push(told(words::NO_FINDING));
            }
            for c in &verdict.capabilities {
                let at: Vec<String> = c.lines.iter().map(u32::to_string).collect();
                let stance = verdict.stance(c.capability);
                let said = format!("{stance}: {} ({})", c.detail, at.join(", "));
                rows.push(field(c.capability.to_string(), said));
            }
        }
        rows
    }

    pub(super) fn diff(&self) -> Vec<Row> {
        let mut rows = self.edit();
        rows.extend(self.since_earlier());
        rows
    }

    /// What differs from what was granted before to the same agent under the same title.
    fn since_earlier(&self) -> Vec<Row> {
        let Some((earlier, code)) = &self.earlier else {
            return vec![told(words::NO_EARLIER)];
        };
        let at = self.time(earlier.at);
        let decided = self.edited().or(self.proposed());
        let decided = decided.and_then(|(digest, _)| self.text(&digest).ok());
        match (code, decided) {
            (Ok(code), Some(decided)) if *code == decided => {
                vec![told(words::same_as_earlier(&at, &earlier.id.to_string()))]
            }
            (Ok(code), Some(decided)) => {
                let diff = Diff::between(code, &decided, COMPARING);
                let against = words::against_earlier(&at, &earlier.id.to_string());
                vec![told(against), Row::Diff(Arc::new(diff))]
            }
            _ => vec![Row::Told(
                words::earlier_not_here(&at, &earlier.id.to_string()),
                Role::Bad,
            )],
        }
    }

    /// What a person edited.
    fn edit(&self) -> Vec<Row> {
        let (Some((proposed, _)), Some((edited, _))) = (self.proposed(), self.edited()) else {
            return vec![told(words::NOT_EDITED)];
        };
        match (self.text(&proposed), self.text(&edited)) {
            (Ok(proposed), Ok(edited)) => {
                let diff = Diff::between(&proposed, &edited, COMPARING);
                vec![told(words::EDITED), Row::Diff(Arc::new(diff))]
            }
            _ => vec![Row::Told(words::NO_DIFF.to_owned(), Role::Bad)],
        }
    }

    pub(super) fn inputs(&self) -> Vec<Row> {
        let inputs = self.first(|event| match event {
            LogEvent::Proposed(p) => Some(&p.inputs[..]),
            _ => None,
        });
        let mut rows = Vec::new();
        for input in inputs.unwrap_or_default() {
            rows.push(field(name(&input.name), what(input)));
            rows.push(field("SHA-256", input.sha256.hex()));
            match input.is_kept() {
                true => rows.extend(self.lines(&input.sha256, StreamName::Stdout)),
                false => rows.push(Row::Told(words::NOT_KEPT.to_owned(), Role::Dim)),
            }
        }
        let about = self.first(|event| match event {
            LogEvent::Voted(vote) => vote.about.as_deref(),
            _ => None,
        });
        match about {
            Some(about) => rows.push(Row::Told(words::given_at_host(&about.data), Role::Dim)),
            None if rows.is_empty() => rows.push(told(words::NOTHING_GIVEN)),
            None => {}
        }
        rows
    }

    pub(super) fn isolation(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let granted = self.first(|event| match event {
            LogEvent::Granted(g) => Some(g),
            _ => None,
        });
        if let Some(g) = granted {
            rows.push(field("limits", policy::limits(&g.limits)));
            rows.push(field("environment", g.environment.hex()));
        }
        let isolation = self.first(|event| match event {
            LogEvent::Started { isolation, .. } => Some(isolation),
            _ => None,
        });
        let Some(isolation) = isolation else {
            rows.push(told(words::NOT_STARTED));
            return rows;
        };
        let has = |known: &str| {
            let of = |layer: &String| layer == known || layer.starts_with(&format!("{known}:"));
            isolation.layers.iter().any(of)
        };
        let open: Vec<&str> = words::LAYERS
            .into_iter()
            .filter(|layer| !has(layer))
            .collect();
        let held: Vec<String> = isolation.layers.iter().map(|layer| name(layer)).collect();
        let role = if open.is_empty() {
            Role::Good
        } else {
            Role::Flagged
        };
        let sum = words::isolated(&isolation.tier.to_string(), &held, &open);
        rows.insert(0, Row::Told(sum, role));
        for layer in &isolation.layers {
            let held = words::held(layer).unwrap_or(words::UNKNOWN_LAYER);
            rows.push(field(name(layer), held));
        }
        if !open.is_empty() {
            rows.push(told(words::OPEN));
        }
        for layer in open {
            let open = words::open(layer).unwrap_or_default();
            rows.push(Row::Field(layer.to_owned(), open.to_owned(), Role::Flagged));
        }
        rows
    }

    /// Why there is nothing of a run: it did not run, or not to its end yet.
    fn no_run(&self) -> Row {
        told(match self.stands() {
            Some(_) => words::NOT_ENDED,
            None => words::NO_RUN,
        })
    }

    pub(super) fn output(&self) -> Vec<Row> {
        let Some(f) = self.finished() else {
            return vec![self.no_run()];
        };
        let content = |digest: &Digest| self.texts.get(digest)?.as_ref().ok().cloned();
        let withheld = withheld(&self.history.records, &content);
        let mut rows: Vec<Row> = withheld.into_iter().map(told).collect();
        let before = rows.len();
        if let Some(why) = &f.unkept {
            let why = format!("{}{}", words::NOT_HERE, quoted(why));
            rows.push(Row::Told(why, Role::Bad));
        } else {
            let kept = [
                (StreamName::Stdout, f.stdout_sha256, f.stdout_bytes),
                (StreamName::Stderr, f.stderr_sha256, f.stderr_bytes),
            ];
            for (stream, digest, _) in kept.into_iter().filter(|(.., bytes)| *bytes > 0) {
                rows.extend(self.lines(&digest, stream));
            }
            if rows.len() == before {
                rows.push(told(words::PRINTED_NOTHING));
            }
            if let Some(digest) = f.result_sha256 {
                rows.push(told(words::RETURNED));
                rows.extend(self.lines(&digest, StreamName::Stdout));
            }
        }
        for line in f.monitored() {
            rows.push(told(quoted(&line)));
        }
        rows
    }

    pub(super) fn files(&self) -> Vec<Row> {
        let files = self.finished().map_or(&[][..], |f| &f.artifacts);
        let kept = self.finished().is_some_and(|f| f.unkept.is_none());
        let mut rows = Vec::new();
        for file in files {
            let (kind, bytes) = (name(&file.media_type), words::bytes(file.bytes));
            let said = format!("{bytes}, {kind}, SHA-256 {}", name(&file.sha256));
            rows.push(field(name(&file.name), said));
            if kept {
                rows.extend(self.content(file));
            }
        }
        if rows.is_empty() {
            rows.push(match self.finished() {
                Some(_) => told(words::LEFT_NOTHING),
                None => self.no_run(),
            });
        }
        rows
    }

    /// The first lines of a file that is text, behind the gutter; of others, what they are.
    fn content(&self, file: &Artifact) -> Vec<Row> {
        let dim = |said: String| vec![Row::Told(said, Role::Dim)];
        if file.bytes > super::FILE_BYTES {
            return dim(words::long_file(&self.id.to_string()));
        }
        let digest: Digest = match file.sha256.parse() {
            Ok(digest) => digest,
            Err(_) => return vec![Row::Told(words::NO_DIGEST.to_owned(), Role::Bad)],
        };
        let bytes = match (self.contents)(&digest) {
            Ok(bytes) => bytes,
            Err(why) => {
                let erased = self.erased(&digest);
                let role = if erased.is_some() {
                    Role::Dim
                } else {
                    Role::Bad
                };
                let why = erased.unwrap_or(why);
                return vec![Row::Told(format!("{}{why}", words::NOT_HERE), role)];
            }
        };
        let text = match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => text,
            _ => return dim(words::no_text(&self.id.to_string())),
        };
        let lines = text.split_terminator('\n').count();
        let mut rows = super::behind(&text, StreamName::Stdout, super::FILE_LINES);
        if lines > super::FILE_LINES {
            let more = lines - super::FILE_LINES;
            rows.extend(dim(words::more_of_file(more, &self.id.to_string())));
        }
        rows
    }

    /// Whether all of it is as it was written, as far as reading it again can tell.
    pub(super) fn records(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let faults = &self.history.faults;
        let own: Vec<u64> = self.history.records.iter().map(|r| r.seq).collect();
        let names = |file: &str| {
            self.texts
                .keys()
                .any(|digest| file.ends_with(&digest.hex()))
        };
        let mut here = faults.lives.first.iter().chain(&faults.blobs.first);
        let here = here.find(|d| names(&d.file) || d.seq.is_some_and(|seq| own.contains(&seq)));
        let there = self.texts.values().filter(|text| text.is_ok()).count();
        let absent = self.texts.iter().filter(|(_, text)| text.is_err());
        let lacks = { absent }.any(|(digest, _)| self.erased(digest).is_none());
        match here {
            Some(damage) => {
                let said = format!("{}{damage}", words::BAD_HERE);
                rows.push(Row::Told(said, Role::Bad));
            }
            None if lacks || own.is_empty() => {}
            None => rows.push(told(words::consistent(own.len(), there))),
        }
        if let Some(damage) = faults.first().filter(|first| Some(*first) != here) {
            let said = format!("{}{damage}", words::BAD_ELSEWHERE);
            rows.push(Row::Told(said, Role::Bad));
        }
        if self.history.unknown > 0 {
            rows.push(told(words::of_a_later_version(self.history.unknown)));
        }
        for record in &self.history.records {
            let said = format!("{} {}", self.time(record.ts), record.event.kind());
            rows.push(field(format!("seq {}", record.seq), said));
        }
        let anchored = match self.signed {
            0 => words::NO_ANCHOR.to_owned(),
            signed => words::anchored(signed),
        };
        rows.push(Row::Told(anchored, Role::Dim));
        rows
    }
}

const fn role(action: Action) -> Role {
    match action {
        Action::Block => Role::Blocked,
        Action::Flag => Role::Flagged,
        Action::Note => Role::Dim,
    }
}

/// What an input is.
fn what(input: &BoundInput) -> String {
    let what = match &input.kind {
        InputKind::Dataset {
            dataset,
            rows,
            sensitivity,
            ..
        } => {
            let kind = match sensitivity {
                Sensitivity::Private => "private",
                Sensitivity::Public => "public",
            };
            let rows = words::rows(*rows);
            format!("{kind} data set {}, {rows}", name(dataset))
        }
        InputKind::Json { .. } => "JSON that came along".to_owned(),
        InputKind::Text { format, .. } => format!("{} that came along", format.as_str()),
        InputKind::Artifact { artifact, id, .. } => {
            format!("{} of the run {id}", name(artifact))
        }
    };
    format!("{what}, {}", words::bytes(input.bytes))
}
