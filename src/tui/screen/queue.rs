//! The queue: pending and running proposals, then decided ones.

use std::time::Duration;

use ratatui::layout::Rect;

use crate::broker::Entry;
use crate::model::{ProposalId, State};

use super::super::canvas::Canvas;
use super::super::claim;
use super::super::keys::Command;
use super::super::shown;
use super::super::text;
use super::super::theme::Role;
use super::super::ui::{Differs, Over, Pane, Place, Prompt, STREAK};
use super::super::words;
use super::{Drawn, LINE_WITH_TITLE, Screen};

/// A hidden proposal with less time left is told.
pub(super) const SOON: Duration = Duration::from_secs(60);

/// The most columns of an agent's name in a list, and in one of these columns or more.
const AGENT: u16 = 9;
const LONG_AGENT: u16 = 14;
const WIDE_LIST: u16 = 64;

/// Columns of a row beside the agent's name before the title, and the columns of a title that say something.
const TITLE_AT: u16 = 10;
const TITLE: u16 = 12;

/// Fewer columns of an agent's name say nothing.
const LEAST_OF_NAME: usize = 5;

/// Lower lists have no row for this session's decisions.
const ROOM_FOR_TALLY: u16 = 12;

/// A row of a list.
enum Row {
    Entry(ProposalId),
    /// One of an open group, under its first.
    Member(ProposalId),
    /// What a group says under its first proposal. It cannot be selected.
    Group {
        first: ProposalId,
        count: usize,
        /// The boot time at which the first of the others expires.
        until: Duration,
        open: bool,
    },
}

impl Row {
    const fn id(&self) -> Option<ProposalId> {
        match self {
            Self::Entry(id) | Self::Member(id) => Some(*id),
            Self::Group { .. } => None,
        }
    }
}

/// The folded queue's line without the title.
struct LineParts {
    badge: String,
    role: Role,
    count: Option<String>,
    when: String,
    /// Whether the agent's name has room.
    named: bool,
    /// What stands at the right edge, the last one first.
    right: Vec<(String, Role)>,
}

impl LineParts {
    /// The least columns that all of it needs.
    fn columns(&self) -> usize {
        let count = self
            .count
            .as_ref()
            .map_or(0, |count| text::width(count) + 1);
        let right = self.right.iter().map(|(what, _)| text::width(what) + 1);
        let name = if self.named { LEAST_OF_NAME + 1 } else { 0 };
        let left = text::width(&self.badge) + 1 + count + text::width(&self.when);
        left + name + right.sum::<usize>()
    }
}

/// Its number, if it is far from the others.
fn far_of(differs: &Differs, id: ProposalId) -> Option<&str> {
    let (at, _) = differs.far.filter(|(_, far)| *far == id)?;
    differs.numbers.get(at).map(String::as_str)
}

impl Screen<'_> {
    /// The time left, the running time, or the time of day of the end.
    fn when(&self, entry: &Entry) -> String {
        match entry.state() {
            State::Pending => words::countdown(entry.left(self.now)),
            State::Granted | State::Running => {
                words::countdown(self.runs_for(entry).unwrap_or_default())
            }
            _ => entry.ended().map_or_else(String::new, |e| {
                let at = e.wall.to_zoned(self.ui.common.zone.clone());
                format!("{:02}:{:02}", at.hour(), at.minute())
            }),
        }
    }

    /// The last row of the queue: how this session decided.
    fn tally(&self, canvas: &mut Canvas<'_>, area: Rect) -> Rect {
        let Some(tally) = self.ui.tally().filter(|_| area.height >= ROOM_FOR_TALLY) else {
            return area;
        };
        let area = Rect {
            height: area.height - 1,
            ..area
        };
        let room = area.width.saturating_sub(2);
        let words = words::tally(&tally, usize::from(room));
        let role = match tally.in_a_row {
            STREAK.. => Role::Flagged,
            _ => Role::Dim,
        };
        canvas.put(area.x + 1, area.bottom(), room, &words, role);
        area
    }

    pub(super) fn queue(&self, canvas: &mut Canvas<'_>, area: Rect, drawn: &mut Drawn) {
        let area = self.tally(canvas, area);
        let focused = self.focused();
        let decided_rows = if self.ui.queue.lists.all.1 == 0 {
            0
        } else {
            let most = area.height / 2;
            u16::try_from(self.ui.queue.lists.decided.len())
                .unwrap_or(most)
                .min(most.saturating_sub(1))
                + 1
        };
        let live = Rect {
            height: area.height - decided_rows,
            ..area
        };
        let lists = &self.ui.queue.lists;
        let count = words::of(lists.shown, lists.all.0);
        let order = self.ui.queue.lists.order.as_str();
        self.list_heading(canvas, live, &format!("PENDING {order}"), &count);
        // Without a row that could say it, the heading says that the list has the keys.
        if focused && !self.ui.selected().is_some_and(|id| lists.has(id)) {
            canvas.put(live.x, live.y, 1, words::HERE, Role::Accent);
        }
        let filter = u16::from(lists.filter.is_on()).min(live.height.saturating_sub(1));
        if filter > 0 {
            self.filter_line(
                canvas,
                Rect {
                    y: live.y + 1,
                    height: 1,
                    ..live
                },
            );
        }
        let rows = Rect {
            y: live.y + 1 + filter,
            height: live.height.saturating_sub(1 + filter),
            ..live
        };
        let places = &mut drawn.places;
        drawn.tops.0 = self.list(canvas, rows, &self.live_rows(), lists.tops.0, places);
        drawn.list_rows = usize::from(rows.height);
        if decided_rows == 0 {
            return;
        }
        let decided = Rect {
            y: live.bottom(),
            height: decided_rows,
            ..area
        };
        let count = words::of(lists.decided.len(), lists.all.1);
        self.list_heading(canvas, decided, "DECIDED", &count);
        let rows = Rect {
            y: decided.y + 1,
            height: decided_rows - 1,
            ..decided
        };
        let ended: Vec<Row> = lists.decided.iter().copied().map(Row::Entry).collect();
        let places = &mut drawn.places;
        drawn.tops.1 = self.list(canvas, rows, &ended, lists.tops.1, places);
    }

    /// What the filter shows and hides. It never hides silently: what expires soon is said.
    fn filter_line(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let lists = &self.ui.queue.lists;
        let left = lists
            .hidden_until
            .map(|at| at.saturating_sub(self.now.boot));
        let soon = left.filter(|left| *left < SOON);
        let role = if soon.is_some() {
            Role::Flagged
        } else {
            Role::Strong
        };
        let room = area.width.saturating_sub(2);
        let typing = matches!(self.ui.prompt(), Some(Prompt::Filter { .. }));
        let clear = self.ui.key(Command::Back);
        let clear = Some(clear.as_str()).filter(|_| self.ui.filters() && !typing);
        let words = match lists.shown {
            0 => {
                let said = lists.filter.words();
                words::filter_none(said, lists.all.0, soon, clear, usize::from(room))
            }
            shown => {
                let said = lists.filter.words();
                words::filter(said, shown, lists.all.0, soon, usize::from(room))
            }
        };
        canvas.put_cut(area.x + 1, area.y, room, &words, role);
    }

    /// Whether the queue has the keys.
    fn focused(&self) -> bool {
        let covered = matches!(self.ui.over(), Over::Sheet(_));
        !covered && self.ui.focus_now(self.entry) == Pane::Queue
    }

    fn list_heading(&self, canvas: &mut Canvas<'_>, area: Rect, name: &str, count: &str) {
        if area.height == 0 {
            return;
        }
        let role = if self.focused() {
            Role::Accent
        } else {
            Role::Dim
        };
        canvas.put(area.x + 1, area.y, area.width.saturating_sub(2), name, role);
        let wide = text::width(count) as u16;
        canvas.put(
            area.right().saturating_sub(wide + 1),
            area.y,
            wide,
            count,
            Role::Dim,
        );
    }

    /// The rows of the running and pending proposals, with a row for each group of the alike.
    fn live_rows(&self) -> Vec<Row> {
        let lists = &self.ui.queue.lists;
        let mut rows = Vec::with_capacity(lists.live.len());
        for id in &lists.live {
            let Some((group, open)) = lists.groups.of(*id) else {
                rows.push(Row::Entry(*id));
                continue;
            };
            if group.first != *id {
                rows.push(Row::Member(*id));
                continue;
            }
            rows.push(Row::Entry(*id));
            rows.push(Row::Group {
                first: group.first,
                count: group.rest.len(),
                until: group.until,
                open,
            });
        }
        rows
    }

    /// Draws the part of a list that shows the selected entry; returns its first row.
    fn list(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        rows: &[Row],
        top: usize,
        places: &mut Vec<(Rect, Place)>,
    ) -> usize {
        let height = usize::from(area.height);
        let mut top = top.min(rows.len().saturating_sub(height));
        let selected = self.ui.selected();
        let at = rows
            .iter()
            .position(|row| row.id() == selected && selected.is_some());
        if let Some(at) = at {
            top = top.clamp((at + 1).saturating_sub(height), at);
        }
        for (y, row) in (area.y..area.bottom()).zip(rows.iter().skip(top)) {
            let line = Rect::new(area.x, y, area.width, 1);
            if let Row::Group { .. } = row {
                self.group_row(canvas, line, row);
                continue;
            }
            let Some(entry) = row.id().and_then(|id| self.state.entry(id)) else {
                continue;
            };
            self.list_row(canvas, line, entry);
            places.push((line, Place::Entry(entry.proposal.id)));
            if matches!(row, Row::Member(_)) {
                canvas.joint(line.x, y, "│");
            }
            if row.id() == selected {
                let sign = match self.focused() {
                    true => words::HERE,
                    false => words::CHOSEN,
                };
                canvas.put(line.x, y, 1, sign, Role::Accent);
                canvas.tint(line, Role::Selected);
            }
        }
        top
    }

    /// Under the first of a group: how many are like it, in which numbers they differ, when the next of them expires,
    /// and the key that opens it, as far as there is room.
    fn group_row(&self, canvas: &mut Canvas<'_>, line: Rect, row: &Row) {
        let Row::Group {
            first,
            count,
            until,
            open,
        } = *row
        else {
            return;
        };
        let left = until.saturating_sub(self.now.boot);
        let soon = left < SOON;
        let room = line.width.saturating_sub(4);
        let differs = self.ui.queue.lists.groups.differs(first);
        let key = words::turns_group(open, &self.ui.key(Command::Alike));
        let of = |most, left: bool, key: Option<&str>| {
            let until = left.then(|| until.saturating_sub(self.now.boot));
            let mut spans = words::group(count, differs.as_ref(), until, most);
            spans.extend(key.map(|key| (key.to_owned(), Role::Dim)));
            spans
        };
        // What expires soon is worth more than a key.
        let forms = [
            of(3, true, Some(&key)),
            of(2, true, Some(&key)),
            of(3, soon, Some(&key).filter(|_| !soon).map(String::as_str)),
            of(2, soon, Some(&key).filter(|_| !soon).map(String::as_str)),
            of(2, soon, None),
        ];
        let wide = |spans: &Vec<(String, Role)>| -> usize {
            spans.iter().map(|(said, _)| text::width(said)).sum()
        };
        let fits = |spans: &&Vec<(String, Role)>| wide(spans) <= usize::from(room);
        let mut spans = forms.iter().find(fits).unwrap_or(&forms[4]).clone();
        if soon {
            for (_, role) in &mut spans {
                *role = Role::Flagged;
            }
        }
        canvas.put(line.x + 1, line.y, 1, "├", Role::Rule);
        let (mut x, right) = (line.x + 3, line.x + 3 + room);
        for (said, role) in &spans {
            x += canvas.put_cut(x, line.y, right.saturating_sub(x), said, *role);
        }
    }

    /// What it touches, and what of its run the agent does not get: only private data, so that this says both.
    fn tags(&self, entry: &Entry) -> (Vec<shown::Tag>, Vec<String>) {
        let mut tags = shown::tags(self.state, entry);
        if !self.ui.readers(entry.proposal.id, self.now).is_empty() {
            tags.insert(0, (words::votes::READING, Role::Dim));
        }
        let withheld = self.withheld(entry);
        if !withheld.is_empty() {
            tags.retain(|(tag, _)| *tag != words::PRIV);
        }
        (tags, withheld)
    }

    /// One entry: its glyph, its time, its agent and title, and what it touches.
    fn list_row(&self, canvas: &mut Canvas<'_>, row: Rect, entry: &Entry) {
        let (glyph, _, role) = shown::badge(entry);
        let agent = if row.width < WIDE_LIST {
            AGENT
        } else {
            LONG_AGENT
        };
        let mut right = row.right().saturating_sub(1);
        let (tags, withheld) = self.tags(entry);
        for (tag, role) in tags.into_iter().rev() {
            let wide = text::width(tag) as u16;
            right = right.saturating_sub(wide + 1);
            canvas.put(right + 1, row.y, wide, tag, role);
        }
        let id = entry.proposal.id;
        let differs = self.ui.queue.lists.groups.differs(id);
        if let Some(far) = differs.as_ref().and_then(|differs| far_of(differs, id)) {
            let far = format!("{}{far}", words::FAR_MARK);
            let wide = text::width(&far) as u16;
            right = right.saturating_sub(wide + 1);
            canvas.put(right + 1, row.y, wide, &far, Role::Flagged);
        }
        let title = row.x + TITLE_AT + agent;
        let fits = |said: &&String| right >= title + TITLE + text::width(said) as u16;
        if let Some(said) = withheld.iter().find(fits).or(withheld.last()) {
            let wide = text::width(said) as u16;
            right = right.saturating_sub(wide + 1);
            canvas.put(right + 1, row.y, wide, said, Role::Private);
        }
        let mut x = row.x + 1;
        x += canvas.put(x, row.y, 1, glyph, role) + 1;
        // What differs from the selected one in numbers only can be read as one, and is decided one by one.
        if self
            .ui
            .selected()
            .is_some_and(|selected| self.ui.are_alike(selected, id))
        {
            canvas.put(x - 1, row.y, 1, "≈", Role::Accent);
        }
        let when = self.when(entry);
        canvas.put(x, row.y, 5, &format!("{when:>5}"), Role::Dim);
        x += 6;
        let room = |x: u16| right.saturating_sub(x);
        let name = claim::named(entry.proposal.agent_name(), usize::from(row.width));
        canvas.put_claim(x, row.y, room(x).min(agent), &name, Role::Dim);
        // Titles stand below each other.
        x = title;
        match &entry.proposal.title {
            Some(title) => canvas.put_claim(x, row.y, room(x), title, Role::Text),
            None => canvas.put(x, row.y, room(x), words::UNTITLED, Role::Dim),
        };
    }

    /// The queue as one line: the selected entry with its place, agent and title, and how many wait when it does not.
    /// `cut`: whether it shows the beginning of a title that has no room. Returns whether it shows all of the title.
    pub(super) fn folded_queue(&self, canvas: &mut Canvas<'_>, area: Rect, cut: bool) -> bool {
        if area.height == 0 {
            return false;
        }
        let focused = self.focused();
        let y = area.y;
        if area.height > 1 {
            self.filter_line(
                canvas,
                Rect {
                    y: y + 1,
                    height: 1,
                    ..area
                },
            );
        }
        let mut right = area.right().saturating_sub(1);
        let x = area.x + 1;
        let Some(entry) = self.entry else {
            let heading = if focused { Role::Accent } else { Role::Dim };
            canvas.put(x, y, right.saturating_sub(x), "PENDING 0", heading);
            return true;
        };
        let parts = self.line_parts(entry, area);
        for (what, role) in &parts.right {
            let wide = text::width(what) as u16;
            right = right.saturating_sub(wide + 1);
            canvas.put(right + 1, y, wide, what, *role);
        }
        let room = |x: u16| right.saturating_sub(x);
        let mut at = x;
        at += canvas.put(at, y, room(at), &format!("{} ", parts.badge), parts.role);
        let heading = if focused { Role::Accent } else { Role::Dim };
        if let Some(count) = &parts.count {
            at += canvas.put(at, y, room(at), count, heading) + 1;
        }
        at += canvas.put(at, y, room(at), &parts.when, Role::Strong) + 1;
        if parts.named {
            let name = claim::named(entry.proposal.agent_name(), usize::from(area.width));
            at += canvas.put_claim(at, y, room(at).min(16), &name, Role::Dim);
        }
        let mut whole = false;
        if self.line_has_title(area) {
            let title = entry.proposal.title.as_deref().filter(|t| !t.is_empty());
            let role = title.map_or(Role::Dim, |_| Role::Text);
            let title = title.unwrap_or(words::UNTITLED);
            let says = text::width(words::SAYS);
            whole = says + claim::width(title) <= usize::from(room(at));
            if whole || cut {
                at += canvas.put(at, y, room(at), words::SAYS, Role::Dim);
                canvas.put_claim(at, y, room(at), title, role);
            }
        }
        if focused {
            canvas.put(area.x, y, 1, words::HERE, Role::Strong);
        }
        canvas.tint(Rect { height: 1, ..area }, Role::Selected);
        whole
    }

    /// What the folded queue's line says beside the title. The time always has its room: what gives way to it is in
    /// the row below or in the footer too.
    fn line_parts(&self, entry: &Entry, area: Rect) -> LineParts {
        let waiting = self.state.pending_count();
        let more = (entry.state() != State::Pending && waiting > 0).then(|| {
            (
                format!("{} pending", words::number(waiting as u64)),
                Role::Strong,
            )
        });
        let (tags, withheld) = self.tags(entry);
        let tags = tags.into_iter().rev();
        let group = self.ui.queue.lists.groups.under(entry.proposal.id);
        let far = self.ui.queue.lists.groups.differs(entry.proposal.id);
        let far = far.is_some_and(|differs| differs.far.is_some());
        let alike = group.map(|(group, _)| {
            let more = words::more_alike(group.rest.len(), far, area.width < LINE_WITH_TITLE);
            (more, if far { Role::Flagged } else { Role::Accent })
        });
        // Without the kernel's word on this line, the agent's own could be mistaken for it.
        let uid = (format!(" {}", Self::uid_of(entry)), Role::Dim);
        let (glyph, word, role) = shown::badge(entry);
        let lists = &self.ui.queue.lists;
        let at = lists.walk().position(|id| Some(id) == self.ui.selected());
        let count = match at {
            Some(at) if at < lists.shown => format!("{}/{}", at + 1, lists.shown),
            Some(at) => format!("decided {}/{}", at - lists.shown + 1, lists.decided.len()),
            None => words::FILTERED.to_owned(),
        };
        let has_more = more.is_some();
        let right = more.into_iter();
        let right = right.chain(tags.map(|(tag, role)| (tag.to_owned(), role)));
        let mut parts = LineParts {
            badge: format!("{glyph} {word}"),
            role,
            count: Some(count),
            when: self.when(entry),
            named: true,
            right: right.chain(alike).chain([uid]).collect(),
        };
        let room = usize::from(area.width.saturating_sub(2));
        let free = room.saturating_sub(parts.columns());
        let fits = |said: &&String| text::width(said) < free;
        if let Some(said) = withheld.iter().find(fits).or(withheld.last()) {
            let at = usize::from(has_more);
            parts.right.insert(at, (said.clone(), Role::Private));
        }
        if parts.columns() > room && !self.line_has_title(area) {
            parts.named = false;
            parts.right.pop();
        }
        if parts.columns() > room {
            parts.count = None;
        }
        if parts.columns() > room && has_more {
            parts.right.remove(0);
        }
        if parts.columns() > room {
            parts.badge = glyph.to_owned();
        }
        parts
    }
}
