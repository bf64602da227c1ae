//! Syntax colours for code, computed on a separate thread so that no snippet can delay the screen.
//! A time budget and a line length limit apply; code beyond them stays plain.
//!
//! Colours are a convenience and carry no meaning: the drawn text is the same without them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use crate::model::Digest;

use super::theme::Role;

/// Time limit for one snippet. Tests get more time because they share a busy machine and check only
/// the result.
const BUDGET: Duration = if cfg!(test) {
    Duration::from_secs(60)
} else {
    Duration::from_millis(200)
};
/// The longest line to colour, in bytes; longer lines stay plain.
const LINE: usize = 2_000;

/// Where colours change: byte offset in the code, and the role from that offset on. Sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Highlights {
    changes: Vec<(u32, Role)>,
}

impl Highlights {
    /// The role at an offset, and the offset of the next change.
    pub fn at(&self, offset: usize) -> (Role, usize) {
        let after = self
            .changes
            .partition_point(|(at, _)| *at as usize <= offset);
        let role = after
            .checked_sub(1)
            .and_then(|i| self.changes.get(i))
            .map_or(Role::Text, |(_, role)| *role);
        let next = self
            .changes
            .get(after)
            .map_or(usize::MAX, |(at, _)| *at as usize);
        (role, next)
    }
}

/// The highlighter thread's two channels.
#[derive(Debug)]
pub struct Highlighter {
    requests: Sender<(Digest, Arc<str>)>,
    results: Receiver<(Digest, Highlights)>,
}

impl Highlighter {
    /// Starts the thread, which calls `wake` whenever a result can be polled.
    ///
    /// # Errors
    /// If the system cannot start a thread; the code is then drawn plain.
    pub fn spawn(wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let (requests, inbox) = channel::<(Digest, Arc<str>)>();
        let (outbox, results) = channel();
        std::thread::Builder::new()
            .name("highlight".to_owned())
            .spawn(move || {
                let mut syntaxes = None;
                while let Ok((digest, code)) = inbox.recv() {
                    let set = syntaxes.get_or_insert_with(SyntaxSet::load_defaults_newlines);
                    let done = catch_unwind(AssertUnwindSafe(|| highlight(set, &code, BUDGET)));
                    if outbox.send((digest, done.unwrap_or_default())).is_err() {
                        break;
                    }
                    wake();
                }
            })?;
        Ok(Self { requests, results })
    }

    pub fn request(&self, digest: Digest, code: Arc<str>) {
        // If the thread is gone, the code stays plain.
        let _ = self.requests.send((digest, code));
    }

    pub fn poll(&self) -> Option<(Digest, Highlights)> {
        self.results.try_recv().ok()
    }
}

/// The colours of a code, here and now. For threads that block.
pub fn colours(code: &str) -> Highlights {
    let set = SyntaxSet::load_defaults_newlines();
    let done = catch_unwind(AssertUnwindSafe(|| highlight(&set, code, BUDGET)));
    done.unwrap_or_default()
}

fn highlight(set: &SyntaxSet, code: &str, budget: Duration) -> Highlights {
    let mut out = Highlights::default();
    let Some(syntax) = set.find_syntax_by_extension("py") else {
        return out;
    };
    let roles = Roles::new();
    let end = Instant::now() + budget;
    let mut state = ParseState::new(syntax);
    let mut stack = ScopeStack::new();
    let mut last = Role::Text;
    let mut start = 0;
    for line in code.split_inclusive('\n') {
        if Instant::now() >= end {
            break;
        }
        let mut push = |at: usize, role: Role| {
            if role != last {
                out.changes
                    .push((u32::try_from(at).unwrap_or(u32::MAX), role));
                last = role;
            }
        };
        let ops = if line.len() > LINE {
            None
        } else {
            state.parse_line(line, set).ok()
        };
        match ops {
            Some(ops) => {
                push(start, roles.of(&stack));
                for (at, op) in ops {
                    if stack.apply(&op).is_err() {
                        break;
                    }
                    push(start + at, roles.of(&stack));
                }
            }
            None => push(start, Role::Text),
        }
        start += line.len();
    }
    // Code beyond the budget is plain.
    if start < code.len() && last != Role::Text {
        out.changes
            .push((u32::try_from(start).unwrap_or(u32::MAX), Role::Text));
    }
    out
}

/// Maps scopes to roles; the innermost scope that has a role decides.
struct Roles(Vec<(Scope, Role)>);

impl Roles {
    fn new() -> Self {
        let table = [
            ("comment", Role::Comment),
            ("string", Role::Str),
            ("constant.numeric", Role::Number),
            ("constant.language", Role::Constant),
            ("constant.character.escape", Role::Constant),
            ("keyword.operator", Role::Operator),
            ("keyword", Role::Keyword),
            ("storage", Role::Keyword),
            ("entity.name", Role::Function),
            ("support.function", Role::Function),
            ("variable.function", Role::Function),
        ];
        Self(
            table
                .into_iter()
                .filter_map(|(name, role)| Some((Scope::from_str(name).ok()?, role)))
                .collect(),
        )
    }

    fn of(&self, stack: &ScopeStack) -> Role {
        stack
            .as_slice()
            .iter()
            .rev()
            .find_map(|scope| {
                self.0
                    .iter()
                    .find(|(prefix, _)| prefix.is_prefix_of(*scope))
                    .map(|(_, role)| *role)
            })
            .unwrap_or(Role::Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_gets_its_roles_and_the_thread_answers() {
        let (woken, wakes) = channel();
        let highlighter = Highlighter::spawn(move || {
            let _ = woken.send(());
        })
        .unwrap();
        let code: Arc<str> = "import os  # why\nx = 'text' + 12\n".into();
        highlighter.request(Digest::of(code.as_bytes()), code.clone());
        wakes.recv_timeout(Duration::from_secs(60)).unwrap();
        let (digest, h) = highlighter.poll().unwrap();
        assert_eq!(digest, Digest::of(code.as_bytes()));
        let role = |needle: &str| h.at(code.find(needle).unwrap() + 1).0;
        assert_eq!(role("import"), Role::Keyword);
        assert_eq!(role("# why"), Role::Comment);
        assert_eq!(role("'text'"), Role::Str);
        assert_eq!(h.at(code.find("12").unwrap()).0, Role::Number);
    }

    #[test]
    fn a_snippet_that_takes_too_long_is_left_plain() {
        let set = SyntaxSet::load_defaults_newlines();
        let code = "x = 'a'\n".repeat(100);
        assert_eq!(
            highlight(&set, &code, Duration::ZERO),
            Highlights::default()
        );
        let long = format!("x = '{}'\ny = 1\n", "a".repeat(LINE));
        let h = highlight(&set, &long, Duration::from_secs(60));
        assert_eq!(h.at(10).0, Role::Text);
        assert_eq!(h.at(long.len() - 2).0, Role::Number);
    }
}
