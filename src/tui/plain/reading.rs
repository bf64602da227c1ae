//! Reading out: the introduction and the code in pages, pages of everything else, the sheet and its question.

use std::ops::Range;

use crate::broker::Entry;

use super::super::document::Layout;
use super::super::interval::IntervalSet;
use super::super::keys::Command;
use super::super::ui::{Looked, Notice, Pane, Sheet};
use super::super::words;
use super::Plain;
use super::answer::edge;
use super::lines::{Lines, plain};
use super::page::{Page, ROWS, ROWS_OVER, What};
use super::run::is_run_over;
use super::turn::{Came, Turn};

impl Plain {
    /// Reads out the introduction, if it was not read yet, and a page of code. `on`: from the first row that must still
    /// be heard.
    pub(super) fn read(&mut self, turn: &Turn<'_>, on: bool, out: &mut Lines) {
        let (Some(entry), Some(layout)) = (turn.screen.selected(), self.layout.clone()) else {
            out.line(words::NOTHING_SELECTED);
            return;
        };
        if layout.doc.held().is_none() {
            out.line(words::SEARCHING);
            return;
        }
        let id = entry.proposal.id;
        let mut before = 0;
        let what = What::Code(id, layout.doc.code);
        if self.said.introduced != Some(what) {
            self.said.introduced = Some(what);
            self.page = None;
            let rows = turn.screen.introduction(entry);
            before = rows.len();
            for said in &rows {
                out.line(&said.text);
            }
            self.said.introduction = rows;
            self.said.introduction_heard = false;
        }
        if layout.len() == 0 {
            out.line(words::EMPTY_CODE);
        }
        let none = Looked::default();
        let looked = turn.looked().unwrap_or(&none);
        let shown = self.page.as_ref().is_some_and(|p| p.what == what);
        let unseen = match on && !shown {
            true => layout.next_unseen(&looked.seen, &(0..0)),
            false => None,
        };
        // What was not read out yet has no rows that the key could have gone by.
        let end = match turn.ui.heard.command {
            Some(Command::Top) if !on => Some(0),
            Some(Command::Bottom) if !on => Some(layout.len().saturating_sub(ROWS)),
            _ => None,
        };
        let again = on && !shown && is_run_over(entry);
        let end = end.or(again.then_some(0));
        let top = end.or(unseen).unwrap_or_else(|| layout.row_of(looked.top));
        if again {
            out.line(&words::plain::after_run(&turn.ui.key(Command::NextPane)));
        } else if on && !shown && top > 0 && layout.doc.is_seen(&looked.seen) {
            let first = turn.ui.key(Command::Top);
            out.line(&words::plain::read_before(top, &first));
        }
        let rows = top..(top + ROWS).min(layout.len());
        let opens = shown && !on && turn.ui.heard.command == Some(Command::Open);
        let fresh = if before > 0 || opens || end.is_some() {
            self.page = Some(Page::new(what, rows.clone(), before, turn.now.boot));
            rows.clone()
        } else {
            Page::turn(&mut self.page, what, rows.clone(), turn.now.boot)
        };
        for line in fresh
            .clone()
            .filter_map(|i| turn.screen.spoken_code(&layout, i))
        {
            out.line(&line);
        }
        self.after_code(turn, entry, &layout, &rows, out);
    }

    /// Behind a page of code: how to go on.
    pub(super) fn after_code(
        &mut self,
        turn: &Turn<'_>,
        entry: &Entry,
        layout: &Layout,
        rows: &Range<usize>,
        out: &mut Lines,
    ) {
        let key = turn.ui.key(Command::PageCode);
        let mut line = if rows.end < layout.len() {
            words::plain::more(&key, rows.end, layout.len(), "Row")
        } else {
            words::plain::END_OF_CODE.to_owned()
        };
        if rows.end >= layout.len() && entry.awaits_decision() {
            let none = IntervalSet::default();
            let mut seen = turn.looked().map_or(&none, |l| &l.seen).clone();
            for row in rows.clone().filter_map(|i| layout.row(i)) {
                seen.insert(row.at..row.to);
            }
            line.push(' ');
            match layout.doc.missing(&seen, Some(layout)) {
                None if turn.looked().is_none_or(|l| !layout.doc.is_seen(&l.seen)) => {
                    let (grant, deny) = (turn.ui.key(Command::Grant), turn.ui.key(Command::Deny));
                    line.push_str(&words::plain::may_then(&grant, &deny));
                }
                Some(missing) => {
                    let total = words::plain::in_all(self.left_out(turn, rows));
                    line.push_str(&format!("{missing}{}{total}", words::goes_there(&key)));
                }
                None => {
                    let (grant, deny) = (turn.ui.key(Command::Grant), turn.ui.key(Command::Deny));
                    line.push_str(&words::plain::may(&grant, &deny));
                }
            }
        }
        let news = self.news.count(turn.state, turn.ui.selected());
        if news > 0 {
            line.push(' ');
            line.push_str(&words::plain::waits(news, &turn.ui.key(Command::Queue)));
        }
        out.line(&plain(&line));
    }

    /// How many rows must still be heard, without those that are being read out.
    pub(super) fn left_out(&self, turn: &Turn<'_>, reads: &Range<usize>) -> usize {
        let Some(layout) = &self.layout else { return 0 };
        let looked = turn.looked().filter(|l| l.is_of(layout.doc.code));
        let mut seen = looked.map(|l| l.seen.clone()).unwrap_or_default();
        for row in reads.clone().filter_map(|i| layout.row(i)) {
            seen.insert(row.at..row.to);
        }
        let (have, all) = layout.progress(&seen);
        all - have
    }

    /// Reads out the current row of code alone.
    pub(super) fn read_row(&mut self, turn: &Turn<'_>, command: Command, out: &mut Lines) {
        let (Some(id), Some(layout), Some(looked)) =
            (turn.ui.selected(), self.layout.clone(), turn.looked())
        else {
            return;
        };
        let at = layout.row_of(looked.cursor);
        let what = What::Code(id, layout.doc.code);
        if let Some(line) = turn.screen.spoken_code(&layout, at) {
            let last = self.page.as_ref().filter(|page| page.what == what);
            let stays = last.is_some_and(|page| match at {
                0 => page.rows == (0..1),
                at => page.rows.end == at + 1 && at + 1 == layout.len(),
            });
            out.line(&format!("{}{line}", edge(stays, Some(command))));
            self.page = Some(Page::new(what, at..at + 1, 0, turn.now.boot));
        }
    }

    /// A page of rows that are no code.
    pub(super) fn show_page(
        &mut self,
        turn: &Turn<'_>,
        what: What,
        came: Came,
        command: Option<Command>,
        out: &mut Lines,
    ) {
        let is_sheet = matches!(what, What::Sheet(..));
        let entry = turn.screen.selected();
        let at_hand = entry.map(|e| What::Code(e.proposal.id, e.code().digest()));
        let heard = at_hand.and_then(|what| self.said.heard_of(what));
        let (heading, mut rows, top) = turn.page(what, heard);
        let begun = |page: &Option<Page>| {
            let page = page.as_ref().filter(|p| p.what == what);
            page.map(|p| p.rows.start)
        };
        let moved = match came {
            Came::Anew => true,
            Came::Back => begun(&self.page) != Some(top),
            Came::Stayed | Came::ToMatch => false,
        };
        if is_sheet && !moved {
            // What is counted is what was read out.
            rows.clone_from(&self.rows);
        }
        if moved {
            self.page = None;
            match what {
                What::Diff(_, false) => out.line(words::plain::READING_LOG),
                _ => out.line(&heading),
            }
        } else if came == Came::Back && turn.ui.heard.command == Some(Command::Back) {
            out.line(&heading);
        }
        let total = rows.len();
        let top = top.min((total + usize::from(is_sheet)).saturating_sub(ROWS_OVER));
        let begun = begun(&self.page);
        let jumps = |command: Command| {
            let key = matches!(
                command,
                Command::NextPane | Command::PreviousPane | Command::Open
            );
            key && matches!(what, What::Record(..))
        };
        let jumped = command.is_some_and(jumps) && begun != Some(top);
        if turn.pressed && jumped {
            // A part is read from its name on.
            self.page = None;
        }
        let scrolled = turn.pressed && command.is_some_and(|c| c.scrolls() || jumps(c));
        if moved || scrolled && begun != Some(top) {
            let shown = top..(top + ROWS_OVER).min(total);
            let fresh = Page::turn(&mut self.page, what, shown.clone(), turn.now.boot);
            for said in fresh.filter_map(|i| rows.get(i)) {
                out.line(&said.text);
            }
            if shown.end < total {
                let key = match what {
                    What::Pane(..) => Command::PageDown,
                    _ => Command::PageCode,
                };
                out.line(&words::plain::more(
                    &turn.ui.key(key),
                    shown.end,
                    total,
                    "Row",
                ));
            } else if let Some((first, last)) = self.sheet_gap(turn, total) {
                let key = turn.ui.key(Command::PageCode);
                out.line(&words::plain::sheet_left_out(first, last, &key));
            }
        } else if scrolled && out.is_empty() && !is_sheet {
            match command {
                Some(Command::Up | Command::PageUp | Command::Top) => out.line(words::plain::TOP),
                _ => {
                    let name = heading.split([' ', ',']).next().unwrap_or_default();
                    let back = turn.ui.key(Command::Back);
                    out.line(&words::plain::end(name, total, &back));
                }
            }
        }
        if moved || scrolled {
            self.rows = rows;
        }
        if let Some(sheet) = turn.ui.sheet().filter(|_| is_sheet) {
            self.ask(turn, sheet, out);
        }
    }

    /// The rows of the sheet that nothing reads out any more before a key goes back to them, counted from 1.
    pub(super) fn sheet_gap(&self, turn: &Turn<'_>, total: usize) -> Option<(usize, usize)> {
        let (sheet, page) = (turn.ui.sheet()?, self.page.as_ref()?);
        let gap = sheet.missing_beside(&page.rows, total + 1)?;
        (gap.0 <= total).then_some((gap.0, gap.1.min(total)))
    }

    /// OUTPUT: a page, or one row where a key goes by rows or to a match.
    pub(super) fn show_output(
        &mut self,
        turn: &Turn<'_>,
        what: What,
        came: Came,
        command: Option<Command>,
        out: &mut Lines,
    ) {
        let Some(entry) = turn.screen.selected() else {
            return;
        };
        let found = came == Came::ToMatch
            || matches!(command, Some(Command::SearchNext | Command::SearchPrevious));
        let by_row = found || matches!(command, Some(Command::Up | Command::Down));
        let begun = self.page.as_ref().filter(|p| p.what == what);
        let mut begun = begun.map(|p| p.rows.clone());
        let height = |begun: &Option<Range<usize>>| {
            begun.as_ref().map_or(ROWS_OVER, |rows| rows.len().max(1))
        };
        let (mut rows, mut top) = turn.screen.spoken_output(entry, height(&begun));
        let moved = match came {
            Came::Anew => true,
            Came::Back => begun.as_ref().map(|rows| rows.start) != Some(top),
            Came::Stayed | Came::ToMatch => false,
        };
        top = match (&begun, command) {
            _ if moved => top,
            // The row behind those that were read, and the page before the one row that was.
            (Some(read), Some(Command::Down)) if read.len() > 1 && top > read.start => read.end,
            (Some(read), Some(Command::PageUp)) if read.len() == 1 => {
                read.start.saturating_sub(ROWS_OVER)
            }
            _ => top,
        }
        .min(rows.len().saturating_sub(1));
        if moved {
            (self.page, begun) = (None, None);
            (rows, top) = turn.screen.spoken_output(entry, ROWS_OVER);
            let shown = ROWS_OVER.min(rows.len() - top);
            let first = turn.ui.key(Command::Top);
            out.line(&words::plain::output(top + 1, shown, rows.len(), &first));
        } else if came == Came::Back && turn.ui.heard.command == Some(Command::Back) {
            out.line(words::plain::OUTPUT);
        }
        let many = if by_row && !moved { 1 } else { ROWS_OVER };
        let asked = turn.pressed && (found || command.is_some_and(Command::scrolls));
        let elsewhere = begun.as_ref().map(|rows| rows.start) != Some(top);
        if moved || asked && (elsewhere || came == Came::ToMatch) {
            if found {
                if came == Came::ToMatch {
                    self.tell_found(turn, out);
                }
                let hit = turn.ui.hit(turn.state).filter(|_| came != Came::ToMatch);
                out.line(&words::plain::found_row(hit, top + 1, rows.len()));
            }
            let shown = top..(top + many).min(rows.len());
            let fresh = match many {
                1 => {
                    self.page = Some(Page::new(what, shown.clone(), 0, turn.now.boot));
                    shown.clone()
                }
                _ => Page::turn(&mut self.page, what, shown.clone(), turn.now.boot),
            };
            for said in fresh.filter_map(|i| rows.get(i)) {
                out.line(&said.text);
            }
            let pages = match turn.pages(Pane::Output) {
                true => Command::PageCode,
                false => Command::PageDown,
            };
            if many > 1 && shown.end < rows.len() {
                let key = turn.ui.key(pages);
                out.line(&words::plain::more(&key, shown.end, rows.len(), "Row"));
            } else if came == Came::ToMatch {
                out.line(&words::plain::reads_on(&turn.ui.key(pages)));
            }
        } else if asked && out.is_empty() {
            let at_end = begun.is_none_or(|shown| shown.end >= rows.len());
            match (command, at_end) {
                (Some(Command::Up | Command::PageUp | Command::Top), _) | (_, false) => {
                    out.line(words::plain::TOP);
                }
                _ => {
                    let back = turn.ui.key(Command::Back);
                    out.line(&words::plain::end(words::plain::OUTPUT, rows.len(), &back));
                }
            }
        }
        self.rows = rows;
    }

    /// The sheet's question, once the rest of it was heard and its key would count.
    pub(super) fn ask(&mut self, turn: &Turn<'_>, sheet: &Sheet, out: &mut Lines) {
        let total = self.rows.len();
        let heard = sheet
            .missing()
            .is_none_or(|missing| missing == (total + 1, total + 1));
        let from = turn.ui.confirmable_from();
        let counts = from.is_some_and(|from| turn.now.boot >= from);
        let Some(page) = &mut self.page else { return };
        let hurried = turn.screen.spoken_hurry(sheet);
        let question = (turn.screen.spoken_question(sheet), hurried.is_some());
        let wrong = turn.pressed && turn.ui.remark() == Some(&Notice::WrongDigits);
        if page.rows.end == total && heard && counts {
            page.grow();
        } else if page.rows.end <= total || !wrong && self.said.question.as_ref() == Some(&question)
        {
            return;
        }
        // Whoever was too fast gets other digits.
        if !wrong {
            for line in hurried.into_iter().chain(turn.screen.spoken_streak()) {
                out.line(&line);
            }
        }
        out.line(&question.0);
        self.said.question = Some(question);
    }

    /// `Ctrl-L`: reads out again what was read last.
    pub(super) fn again(&mut self, turn: &Turn<'_>, out: &mut Lines) {
        out.line(words::plain::AGAIN);
        let Some(page) = &self.page else {
            if let Some(id) = turn.ui.selected() {
                out.line(&turn.screen.spoken_line(id));
            }
            return;
        };
        let rows = page.rows.clone();
        if let (What::Code(..), Some(layout)) = (page.what, &self.layout) {
            for line in rows.filter_map(|i| turn.screen.spoken_code(layout, i)) {
                out.line(&line);
            }
            return;
        }
        for said in rows.clone().filter_map(|i| self.rows.get(i)) {
            out.line(&said.text);
        }
        if let Some(sheet) = turn.ui.sheet().filter(|_| rows.end > self.rows.len()) {
            out.line(&turn.screen.spoken_question(sheet));
        }
    }

    /// Whether more of the text at hand can be read out.
    pub(super) fn in_the_middle(&self) -> bool {
        let (Some(page), Some(layout)) = (&self.page, &self.layout) else {
            return false;
        };
        matches!(page.what, What::Code(..)) && page.rows.end < layout.len()
    }
}
