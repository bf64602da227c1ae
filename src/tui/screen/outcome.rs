//! The outcome of a run.

use crate::broker::Entry;
use crate::model::{Accesses, BoundInput, DecisionKind, Exit, Run, RunEvent};
use crate::policy::{Contract, Policy};

use super::super::flow::Para;
use super::super::gutter::Gutter;
use super::super::keys::Command;
use super::super::shown;
use super::super::theme::Role;
use super::super::words;
use super::Screen;
use super::panes::{labelled, told_of};

/// Layers of one run that are named; more of them are only counted.
const FEW: usize = 2;

impl Screen<'_> {
    /// What happened, what was hidden and why, the files, the numbers; the layers last, in one row.
    pub(super) fn outcome(&self, entry: &Entry) -> Vec<Para> {
        let (glyph, word, role) = words::state(entry.state());
        let run = entry.run();
        let mut state = Para::new(format!("{glyph} {word}"), role);
        // Whoever hears it, hears how many before the state.
        if let Some(said) = self.withheld(entry).into_iter().next()
            && !self.ui.common.spoken
        {
            state = state.and(format!("  {said}"), Role::Private);
        }
        let mut out = vec![state];
        out.extend(message(entry));
        out.extend(run.into_iter().flat_map(|run| ended(run, entry.message())));
        out.extend(entry.noted().iter().map(|event| {
            let of = match event.kind.as_str() {
                RunEvent::PRIVATE => "private",
                _ => "python",
            };
            told(of, event)
        }));
        out.extend(self.redacted(entry));
        out.extend(run.into_iter().flat_map(|run| left(run, entry.message())));
        if let Some(decision) = entry.decision() {
            let at = decision.at.to_zoned(self.ui.common.zone.clone());
            // A proposal that expired, was withdrawn or was blocked had no decision.
            let label = match decision.kind {
                DecisionKind::Granted | DecisionKind::Denied => "decided",
                DecisionKind::Expired
                | DecisionKind::Withdrawn
                | DecisionKind::Blocked
                | DecisionKind::Unattended => "ended",
            };
            out.push(labelled(label, &at.strftime("%H:%M:%S").to_string()));
        }
        out.extend(self.uses(entry).map(|uses| uses.after("uses     ")));
        out.extend(run.map(exit));
        out.extend(self.used(entry));
        out.extend(run.map(printed));
        out.extend(run.map(|run| {
            let (tier, layers) = (run.isolation.tier, &run.isolation.layers);
            let (known, _) = self.facts.of(tier);
            let own = layers.iter().filter(|layer| !known.contains(layer));
            let mut own: Vec<&str> = own.map(String::as_str).collect();
            own.truncate(if known.is_empty() || own.len() > FEW {
                0
            } else {
                FEW
            });
            let key = self.ui.key(Command::Details);
            told_of("confined", &words::layers(tier, layers.len(), &own, &key))
        }));
        out
    }
}

impl Screen<'_> {
    /// What of its run the agent does not get, in few words, the longest form first.
    pub(super) fn withheld(&self, entry: &Entry) -> Vec<String> {
        let withheld = shown::withheld(self.state, entry);
        match withheld.is_nothing() {
            true => Vec::new(),
            false => words::withheld(withheld),
        }
    }

    /// How often a value was replaced in what the run printed and returned, and why.
    fn redacted(&self, entry: &Entry) -> Option<Para> {
        let times = entry.withheld().values;
        let policy = self.state.policy_of(entry)?;
        (times > 0).then(|| {
            let inputs = entry.inputs().map_or(&[][..], |inputs| &inputs[..]);
            labelled(
                "redacted",
                &words::redacted(times, &why_redacted(inputs, &policy)),
            )
        })
    }
}

/// Why values are replaced in what a run of these inputs gives back.
fn why_redacted(inputs: &[BoundInput], policy: &Policy) -> String {
    let private = inputs.iter().filter(|input| policy.hides(input));
    let names: Vec<&str> = private.map(|input| input.name.as_str()).collect();
    match (names.is_empty(), policy.contract) {
        (false, _) => words::private_values(&names.join(", ")),
        (true, Contract::Scoped) => words::PRIVATE_SCOPE.to_owned(),
        (true, _) => words::PRINTED_SO.to_owned(),
    }
}

/// The sentence that the agent hears, once it is over. A run can have chosen words of it.
pub(super) fn message(entry: &Entry) -> Option<Para> {
    let said = Para::default().given(entry.message(), Role::Text);
    let error = entry.run().and_then(|run| run.error.as_ref());
    entry.state().is_final().then(|| match error {
        Some(error) if !error.kind.is_from_outside() => said.behind(Gutter::PLAIN),
        _ => said.hang(2),
    })
}

/// The limit, the error and what the guard stopped.
fn ended(run: &Run, said: &str) -> Vec<Para> {
    let mut out = Vec::new();
    if let Some(limit) = run.limit {
        out.push(
            Para::new("limit    ", Role::Dim)
                .and(
                    format!("▲ {} limit ended it", limit.as_str()),
                    Role::Flagged,
                )
                .hang(9),
        );
    }
    if let Some(error) = &run.error {
        let mut place = String::new();
        if let Some(exception) = &error.exception {
            place.push_str(&format!(" {exception}"));
        }
        if let Some(line) = error.line {
            place.push_str(&format!(" line {line}"));
        }
        out.push(
            Para::new("error    ", Role::Dim)
                .and(error.kind.as_str(), Role::Bad)
                .given(place, Role::Text)
                .hang(9),
        );
        if !said.contains(&error.message) {
            let para = Para::default().given(error.message.clone(), Role::Text);
            out.push(match error.kind.is_from_outside() {
                true => para.indent(9),
                false => para.behind(Gutter::PLAIN.indent(9)),
            });
        }
    }
    out.extend(events(run));
    out.extend(accesses(run));
    out
}

/// Its files, and what became of them.
fn left(run: &Run, said: &str) -> Vec<Para> {
    let mut out = Vec::new();
    for (number, artifact) in (1..).zip(&run.artifacts) {
        out.push(labelled(
            &format!("file {number}"),
            &format!(
                "{}, {}, {}",
                artifact.name,
                artifact.media_type,
                words::bytes(artifact.bytes)
            ),
        ));
    }
    // The message of a run that succeeded has them already.
    let notes = run.notes_on_files().into_iter();
    for note in notes.filter(|note| !said.contains(note)) {
        out.push(labelled("files", &note));
    }
    out
}

fn exit(run: &Run) -> Para {
    let exit = match &run.exit {
        Exit::Code(code) => format!("code {code}"),
        Exit::Signal(signal) => signal.clone(),
    };
    labelled(
        "exit",
        &format!("{exit}, after {}", words::took(run.duration_ms)),
    )
}

fn printed(run: &Run) -> Para {
    let stream = |name: &str, bytes: u64, cut: bool| {
        let cut = if cut { ", cut" } else { "" };
        format!("{name} {}{cut}", words::bytes(bytes))
    };
    told_of(
        "printed",
        &format!(
            "{} · {}",
            stream("stdout", run.stdout_bytes, run.stdout_truncated),
            stream("stderr", run.stderr_bytes, run.stderr_truncated)
        ),
    )
}

/// The run's tier with each of its layers.
pub(super) fn confined(run: &Run) -> Para {
    let isolation = &run.isolation;
    let layers = isolation.layers.join(", ");
    labelled("confined", &format!("{}: {layers}", isolation.tier))
}

/// The events that the guard inside the child reported, one per line.
fn events(run: &Run) -> Vec<Para> {
    run.events
        .iter()
        .map(|event| told("guard", event))
        .collect()
}

/// Counts of the run's accesses to scopes and core functions.
fn accesses(run: &Run) -> Option<Para> {
    let line = Accesses::line(&run.accesses);
    let blocked = run.accesses.values().any(|of| of.blocked > 0);
    let mark = if blocked { "▲ " } else { "" };
    (!line.is_empty()).then(|| {
        Para::new("accesses ", Role::Dim)
            .and(mark, Role::Flagged)
            .given(line, Role::Text)
            .hang(9)
    })
}

pub(super) fn told(by: &str, event: &RunEvent) -> Para {
    let place = event
        .line
        .map_or_else(String::new, |n| format!("line {n}  "));
    Para::new(format!("{by:<8} "), Role::Dim)
        .and(
            match event.kind.as_str() {
                RunEvent::PRIVATE | RunEvent::ENVIRONMENT => "▲ ".to_owned(),
                RunEvent::CROSSING => "· crossing  ".to_owned(),
                kind => format!("▲ {kind}  "),
            },
            match event.kind.as_str() {
                RunEvent::CROSSING => Role::Dim,
                _ => Role::Flagged,
            },
        )
        .given(format!("{place}{}", event.message), Role::Text)
        .hang(9)
}

#[cfg(test)]
mod tests {
    use crate::model::RunErrorKind;

    use super::super::super::bench::{Making, failed};
    use super::super::super::snapshot_tests::at_sizes;
    use super::*;

    #[test]
    fn scopes_counted() {
        at_sizes("scopes_counted", |b| {
            b.propose(Making::clear("print(public.status, private.other)\n"));
            let id = b.start();
            let mut ended = failed(
                RunErrorKind::SnippetError,
                "the scope `private` has no `other`",
            );
            if let Some(error) = &mut ended.error {
                error.exception = Some("AttributeError".to_owned());
            }
            let event = |kind: &str, message: &str| RunEvent {
                kind: kind.to_owned(),
                message: message.to_owned(),
                line: Some(1),
            };
            ended.events = vec![
                event(
                    RunEvent::CROSSING,
                    "public.status from before this run: read",
                ),
                event("scope", "the scope `private` has no `other`"),
            ];
            let count = |of: &str, allowed, blocked| (of.to_owned(), Accesses { allowed, blocked });
            ended.accesses = [
                count("functions", 0, 0),
                count("private", 0, 1),
                count("public", 1234, 0),
            ]
            .into();
            b.end(id, ended);
        });
    }
}
