//! The verdict: text → facts → judgement.
//!
//! The steps are scan, text checks, parse, walk, judge. [`analyse`] runs them in this process,
//! without side effects. The dashboard and `check` ask a [`client::Analyser`], whose worker process
//! may crash or hang without harm. A failure of the analyser is never a pass: the verdict is then
//! `unanalyzable`.

mod client;
mod compiled;
pub mod confine;
mod facts;
mod flows;
mod fold;
mod frames;
mod halves;
mod hints;
mod inspect;
mod judge;
mod library;
mod methods;
#[doc(hidden)]
pub mod outline;
mod parse;
mod resolve;
pub mod rules;
mod scan;
mod slips;
#[cfg(test)]
mod slips_tests;
mod source;
mod table;
mod text;
mod walk;
pub mod worker;

use std::time::Instant;

pub use client::Analyser;

use self::facts::Facts;
use self::inspect::{Arena, Inspector};
use self::resolve::{Resolver, Scopes};
use self::rules::Rule;
use self::source::Source;
use crate::model::{CodeFacts, Finding, Flows, Setting, SourceStats, Tier, Verdict, VerdictKind};
use crate::policy::Policy;

/// Judges a snippet under a policy without running it. Send hostile text to the worker: this
/// function limits its own depth, but only a separate process can limit time and memory.
pub fn analyse(code: &[u8], policy: &Policy) -> Verdict {
    analyse_in(code, policy, &Setting::default())
}

/// The same, with what is known about the run.
pub fn analyse_in(code: &[u8], policy: &Policy, setting: &Setting) -> Verdict {
    let started = Instant::now();
    let mut verdict = judged(code, policy, setting, Stack::Callers);
    verdict.elapsed_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    verdict
}

/// The stack of the caller.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stack {
    /// Of unknown size: a deep tree gets its own thread.
    Callers,
    /// [`STACK`] bytes.
    Large,
}

/// The depth for which every caller's stack (2 MiB in a thread) is enough.
const SHALLOW: usize = 150;
/// Enough for the deepest tree that the scan accepts, in a debug build.
const STACK: usize = 128 * 1024 * 1024;

fn judged(code: &[u8], policy: &Policy, setting: &Setting, stack: Stack) -> Verdict {
    let most = usize::try_from(policy.limits.code_bytes).unwrap_or(usize::MAX);
    let text = match std::str::from_utf8(code) {
        Ok(text) => text,
        Err(error) => {
            let what = format!("invalid UTF-8 at byte {}", error.valid_up_to());
            return unanalyzable(code, policy, &rules::ENCODING, &what);
        }
    };
    let source = Source::new(text);
    let mut facts = Facts::default();
    if let Some(at) = text.find('\0') {
        facts.add(&rules::ENCODING, (at, at + 1), "a NUL");
    }
    if text.starts_with('\u{feff}') {
        facts.add(&rules::ENCODING, (0, 3), "a byte order mark");
    }
    let scanned = match scan::scan(text, most.min(scan::MOST_BYTES)) {
        Ok(outline) => Some(outline),
        Err(excess) => {
            facts.add(
                &rules::TOO_DEEP,
                (excess.offset, excess.offset + 1),
                excess.what,
            );
            None
        }
    };
    if code.len() <= most {
        text::check(text, scanned.as_ref(), &mut facts);
    }
    if facts.found.iter().any(|f| is_fatal(f.rule)) {
        return conclude(facts, policy, &source, code);
    }
    let deep = scanned.is_some_and(|outline| outline.depth > SHALLOW);
    let seen = if deep && stack == Stack::Callers {
        std::thread::scope(|scope| {
            std::thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, || tree(text, policy, setting, stack))
                .ok()
                .and_then(|thread| thread.join().ok())
        })
    } else {
        Some(tree(text, policy, setting, stack))
    };
    let Some((seen, told, flows)) = seen else {
        return unanalyzable(code, policy, &rules::NO_ANSWER, "");
    };
    facts.found.extend(seen.found);
    facts.uses.extend(seen.uses);
    facts.files.extend(seen.files);
    // With the guard as the only protection, nothing is clear.
    if setting.tier.map(|tier| tier.max(policy.tier)) == Some(Tier::Process) {
        facts.add(&rules::TIER_GUARD_ALONE, (0, 0), "");
    }
    Verdict {
        facts: told,
        flows,
        ..conclude(facts, policy, &source, code)
    }
}

/// The facts from the tree. The tree is created and dropped here, on a stack that is large enough.
///
/// The digests that the child compares are computed only for the worker: nothing else sends code to
/// a child.
fn tree(
    text: &str,
    policy: &Policy,
    setting: &Setting,
    stack: Stack,
) -> (Facts, Option<CodeFacts>, Flows) {
    match parse::module(text) {
        Ok(body) => {
            let arena = Arena::default();
            let resolver = Resolver::new(Scopes::new(&body), policy);
            let mut facts = Inspector::new(resolver, &arena, setting).run(&body);
            compiled::check(text, &body, &mut facts);
            let flows = flows::flows(&body, policy, setting, &facts, text);
            let flows = judge::told(&facts, &Source::new(text), flows);
            (
                facts,
                (stack == Stack::Large).then(|| outline::facts(text, &body)),
                flows,
            )
        }
        Err(fault) => {
            let mut facts = Facts::default();
            let line = hints::line(Source::new(text).line_text(fault.offset), policy);
            let slip = slips::explain(text, fault);
            let at = (slip.offset, slip.offset + 1);
            facts.add(&rules::SYNTAX, at, slip.message).hint = line.or(slip.hint);
            (facts, None, Flows::default())
        }
    }
}

/// Whether a rule makes the verdict `unanalyzable`.
fn is_fatal(rule: &Rule) -> bool {
    rule.code.starts_with("PARSE")
}

fn conclude(facts: Facts, policy: &Policy, source: &Source<'_>, code: &[u8]) -> Verdict {
    let fatal = facts.found.iter().any(|f| is_fatal(f.rule));
    let places = judge::places(&facts, source);
    let (findings, capabilities) = judge::judge(facts, policy, source);
    Verdict {
        verdict: if fatal {
            VerdictKind::Unanalyzable
        } else {
            Verdict::kind_of(&findings)
        },
        policy: policy.reference(),
        findings,
        capabilities,
        source: SourceStats::of(code),
        elapsed_us: 0,
        facts: None,
        places,
        flows: Flows::default(),
    }
}

/// The verdict on code that could not be read or got no answer.
fn unanalyzable(code: &[u8], policy: &Policy, rule: &'static Rule, what: &str) -> Verdict {
    let message = if what.is_empty() {
        rule.message.to_owned()
    } else {
        format!("{what}: {}", rule.message)
    };
    Verdict {
        verdict: VerdictKind::Unanalyzable,
        policy: policy.reference(),
        findings: vec![Finding {
            rule: rule.code.to_owned(),
            name: rule.name.to_owned(),
            severity: rule.severity,
            action: rule.default_action(),
            message,
            hint: rule.hint.to_owned(),
            cwe: rule.cwe.to_vec(),
            line: 1,
            column: 1,
            end_line: 1,
            end_column: 1,
            capability: None,
        }],
        capabilities: Vec::new(),
        source: SourceStats::of(code),
        elapsed_us: 0,
        facts: None,
        places: Vec::new(),
        flows: Flows::default(),
    }
}
