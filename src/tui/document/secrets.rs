//! The secrets in what a person decides about. The screen shows them whole and marked, because the grant binds these
//! bytes; the log keeps `[REDACTED:kind]` in their places.

use std::collections::BTreeSet;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use crate::secrets::{Counts, Secrets, Span};

use super::{Document, Section, Text};

/// Longest document that the screen's own thread searches, in bytes.
const AT_ONCE: usize = 16 * 1024;

/// The secrets of a proposal. Drawn texts are searched as the log searches them, by the same [`Secrets`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Offsets of the document, in order.
    pub ranges: Vec<Range<usize>>,
    pub places: Vec<Place>,
}

/// The secrets of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub whose: Whose,
    pub kinds: Counts,
    /// The lines on which they begin, counted from 1; empty for claims.
    pub lines: BTreeSet<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    Code,
    Input(String),
    /// Title, reason and what else an agent says of itself.
    Agent,
}

impl Place {
    fn of(whose: Whose, found: &[Span], line: impl Fn(usize) -> Option<u32>) -> Self {
        let mut kinds = Counts::new();
        for span in found {
            *kinds.entry(span.kind.to_string()).or_default() += 1;
        }
        let lines = found.iter().filter_map(|span| line(span.at.start));
        Self {
            whose,
            kinds,
            lines: lines.collect(),
        }
    }
}

impl Held {
    pub fn count(&self) -> usize {
        let all = self.places.iter().flat_map(|place| place.kinds.values());
        usize::try_from(all.sum::<u64>()).unwrap_or(usize::MAX)
    }

    /// The parts of a row that are secrets. The row begins at `offset` of the document and has `bytes` bytes.
    pub fn within(&self, offset: usize, bytes: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let first = self.ranges.partition_point(|span| span.end <= offset);
        let here = self.ranges.get(first..).unwrap_or_default().iter();
        let here = here.take_while(move |span| span.start < offset + bytes);
        here.map(move |span| {
            let end = span.end.min(offset + bytes) - offset;
            span.start.max(offset) - offset..end
        })
    }

    /// Whether a secret begins on this line of the code.
    pub fn on_line(&self, number: u32) -> bool {
        let mut code = self.places.iter().filter(|p| p.whose == Whose::Code);
        code.any(|place| place.lines.contains(&number))
    }
}

impl Document {
    /// The secrets; `None` while they are searched for.
    pub fn held(&self) -> Option<&Held> {
        self.held.get()
    }

    /// Searches everything that the document has, and these claims.
    fn search(&self, secrets: &Secrets, claims: &[String]) -> Held {
        let mut held = Held::default();
        for section in &self.sections {
            let found = match &section.text {
                Text::Code(code) => secrets.find_in_code(code),
                Text::Input(..) => secrets.find(section.text.as_str()),
            };
            if found.is_empty() {
                continue;
            }
            held.ranges
                .extend(found.iter().map(|span| section.at_of(&span.at)));
            let whose = match &section.text {
                Text::Code(_) => Whose::Code,
                Text::Input(all, i) => Whose::Input(
                    all.get(*i)
                        .map_or_else(String::new, |input| input.name.clone()),
                ),
            };
            let line = |byte| u32::try_from(section.line_of(section.offset_of(byte)).number).ok();
            held.places.push(Place::of(whose, &found, line));
        }
        let said: Vec<Span> = claims.iter().flat_map(|text| secrets.find(text)).collect();
        if !said.is_empty() {
            held.places.push(Place::of(Whose::Agent, &said, |_| None));
        }
        held
    }
}

/// A search for the secrets of a document, which tells the document what it finds.
#[derive(Debug)]
pub struct Search {
    document: Arc<Document>,
    claims: Vec<String>,
    secrets: Secrets,
}

impl Search {
    pub fn new<'a>(
        document: &Arc<Document>,
        claims: impl Iterator<Item = &'a str>,
        secrets: &Secrets,
    ) -> Self {
        Self {
            document: document.clone(),
            claims: claims.map(str::to_owned).collect(),
            secrets: secrets.clone(),
        }
    }

    /// Whether it takes no time that a person would notice.
    pub fn is_short(&self) -> bool {
        let claims = self.claims.iter().map(String::len).sum::<usize>();
        self.document.total + claims <= AT_ONCE
    }

    pub fn run(&self) {
        let held = &self.document.held;
        held.get_or_init(|| self.document.search(&self.secrets, &self.claims));
    }

    /// Whether nobody else has the document any more.
    fn is_stale(&self) -> bool {
        Arc::strong_count(&self.document) == 1
    }
}

/// A thread for the searches of long documents, so that none delays the screen.
#[derive(Debug)]
pub struct Searcher(Sender<Search>);

impl Searcher {
    /// Starts the thread, which calls `wake` after each search.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub fn spawn(wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let (requests, inbox) = channel::<Search>();
        std::thread::Builder::new()
            .name("secrets".to_owned())
            .spawn(move || {
                for search in inbox {
                    if search.is_stale() {
                        continue;
                    }
                    // A search that fails leaves a document that nobody can grant.
                    if catch_unwind(AssertUnwindSafe(|| search.run())).is_ok() {
                        wake();
                    }
                }
            })?;
        Ok(Self(requests))
    }

    pub fn request(&self, search: Search) {
        // If the thread is gone, the document cannot be granted.
        let _ = self.0.send(search);
    }
}

impl Section {
    /// The offsets of the document that these bytes of the text have. A summary row between them counts too.
    fn at_of(&self, bytes: &Range<usize>) -> Range<usize> {
        let last = bytes.end.saturating_sub(1).max(bytes.start);
        self.offset_of(bytes.start)..self.offset_of(last) + 1
    }
}
