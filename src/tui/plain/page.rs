//! What was read out last, as rows that count one after the other: nobody hears two lines at once. Row by row they
//! are reported as shown, each [`DWELL`] after the one before; what is read out next ends that.

use std::ops::Range;
use std::time::Duration;

use crate::model::{Digest, GrantDigest, ProposalId};

use super::super::ui::{DWELL, Detail, Pane};

/// Rows of code that are read out at once.
pub(super) const ROWS: usize = 10;
/// Rows of everything else.
pub(super) const ROWS_OVER: usize = 24;

/// What a page is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Of a proposal, with the digest of its code: a person may edit it.
    Code(ProposalId, Digest),
    Sheet(GrantDigest, Detail),
    Pane(Pane, ProposalId),
    Help,
    Policies(Detail),
    /// A proposal's page or records, by how often it was set, and which of them.
    Record(u64, usize),
    /// What the rows of the log come to.
    Statistics,
    /// A diff by its number, and whether the log has answered.
    Diff(u64, bool),
}

#[derive(Clone, Debug)]
pub(super) struct Page {
    pub what: What,
    /// The rows that were read out.
    pub rows: Range<usize>,
    /// When the lines before the first row are heard to their end; `None` once they were, or if a key came before.
    opens: Option<Duration>,
    /// Rows before this one were heard as far as this page can tell.
    heard: usize,
    next: Duration,
}

impl Page {
    /// `before`: lines that were read out before the first row, at `now`.
    pub fn new(what: What, rows: Range<usize>, before: usize, now: Duration) -> Self {
        let before = u32::try_from(before).unwrap_or(u32::MAX);
        let next = now.saturating_add(DWELL.saturating_mul(before));
        Self {
            what,
            opens: (before > 0).then_some(next),
            heard: rows.start,
            rows,
            next,
        }
    }

    /// Goes on to these rows; returns those that must be read out.
    pub fn turn(
        page: &mut Option<Self>,
        what: What,
        rows: Range<usize>,
        now: Duration,
    ) -> Range<usize> {
        if let Some(page) = page
            && page.what == what
            && rows.start >= page.rows.start
            && rows.start <= page.rows.end
            && rows.end >= page.rows.end
        {
            let fresh = page.rows.end..rows.end;
            page.heard = page.heard.clamp(rows.start, page.rows.end);
            page.rows = rows;
            page.opens = page.opens.filter(|at| now >= *at);
            return fresh;
        }
        *page = Some(Self::new(what, rows.clone(), 0, now));
        rows
    }

    /// One more row was read out at the end.
    pub fn grow(&mut self) {
        self.rows.end += 1;
    }

    /// Lets the next row count as shown, if its turn has come. The terminal has taken what was written before.
    pub fn reveal(&mut self, now: Duration) {
        if self.heard < self.rows.end && now >= self.next {
            self.heard += 1;
            self.next = now.saturating_add(DWELL);
        }
    }

    /// Whether the lines before the first row were heard to their end just now.
    pub fn opened(&mut self, now: Duration) -> bool {
        self.opens.take_if(|at| now >= *at).is_some()
    }

    /// The same page when it is returned to: its rows are not read out again, so none counts that did not before.
    pub const fn stopped(self) -> Self {
        Self {
            opens: None,
            next: Duration::MAX,
            ..self
        }
    }

    /// The rows that count as shown.
    pub const fn shown(&self) -> Range<usize> {
        self.rows.start..self.heard
    }

    /// When the next row's turn comes; `None` if all have had theirs.
    pub fn due(&self) -> Option<Duration> {
        let more = self.heard < self.rows.end && self.next < Duration::MAX;
        more.then_some(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn rows_count_one_after_the_other() {
        let mut page = Page::new(What::Help, 0..3, 2, ms(1000));
        page.reveal(ms(1299));
        assert_eq!(page.shown(), 0..0);
        page.reveal(ms(1300));
        page.reveal(ms(1449));
        assert_eq!(page.shown(), 0..1);
        page.reveal(ms(1450));
        page.reveal(ms(1600));
        assert_eq!((page.shown(), page.due()), (0..3, None));
    }

    #[test]
    fn a_page_that_was_left_counts_no_further() {
        let mut page = Page::new(What::Help, 0..3, 0, ms(1000));
        page.reveal(ms(1000));
        let mut page = page.stopped();
        page.reveal(ms(100_000));
        assert_eq!((page.shown(), page.due()), (0..1, None));
    }

    #[test]
    fn a_page_that_goes_on_reads_only_what_is_new_and_forgets_what_was_rushed() {
        let mut page = None;
        assert_eq!(Page::turn(&mut page, What::Help, 0..10, ms(0)), 0..10);
        for i in 0..4 {
            page.as_mut().unwrap().reveal(ms(150 * i));
        }
        assert_eq!(Page::turn(&mut page, What::Help, 9..19, ms(600)), 10..19);
        assert_eq!(page.as_ref().unwrap().shown(), 9..9);
        assert_eq!(Page::turn(&mut page, What::Help, 4..14, ms(600)), 4..14);
        assert_eq!(
            Page::turn(&mut page, What::Policies(Detail::Folded), 5..15, ms(600)),
            5..15
        );
    }
}
