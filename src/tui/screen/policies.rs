//! Screen 3: agents with what they did and used, and what each profile lets in.

use ratatui::layout::Rect;

use crate::broker::Profile;
use crate::model::{AgentId, Of};

use super::super::canvas::Canvas;
use super::super::claim;
use super::super::flow::{Flow, Para};
use super::super::keys::Command;
use super::super::text;
use super::super::theme::Role;
use super::super::ui::{AgentRow, AgentsScreen, Detail, Part, agent_rows};
use super::super::words;
use super::super::words::policy as says;
use super::panes::{environment, labelled, limits};
use super::{Drawn, Screen, draw_flow};

/// Screens of fewer rows show one part at a time.
const BOTH: u16 = 16;
/// Rows of the agents' part beside its list and what is known of the selected one: heading, columns.
const AROUND: u16 = 2;

/// A column of numbers: its heading and its width.
type Column = (&'static str, u16);

const WIDE: [Column; 6] = [
    ("waits", 6),
    ("granted", 8),
    ("denied", 7),
    ("blocked", 8),
    ("/min", 6),
    ("quota", 6),
];
const NARROW: [Column; 3] = [("waits", 6), ("/min", 6), ("quota", 6)];
/// Narrower screens have fewer columns.
const ROOM: u16 = 78;

impl Screen<'_> {
    pub(super) fn agents_screen(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        screen: &AgentsScreen,
        drawn: &mut Drawn,
    ) {
        let rows = agent_rows(self.state, self.now, &screen.unfolded);
        let height = match (area.height < BOTH, screen.part) {
            (true, Part::Agents) => area.height,
            (true, Part::Policies) => 0,
            (false, _) => {
                let wanted =
                    rows.len().max(1) + self.about_selected(screen, &rows, area.width).rows.len();
                let wanted = u16::try_from(wanted).unwrap_or(u16::MAX);
                wanted.saturating_add(AROUND).min(area.height / 2)
            }
        };
        let top = Rect { height, ..area };
        let below = Rect {
            y: area.y + height,
            height: area.height - height,
            ..area
        };
        if top.height > 0 {
            self.agent_list(canvas, top, screen, &rows, drawn);
        }
        if below.height > 0 {
            let focused = screen.part == Part::Policies;
            let flow = Flow::new(&self.policies(screen.detail), area.width.saturating_sub(4));
            let heading = [(words::POLICIES.to_owned(), heading_role(focused))];
            self.page(canvas, below, &heading, &flow, screen.top, drawn);
        }
    }

    fn agent_list(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        screen: &AgentsScreen,
        rows: &[AgentRow],
        drawn: &mut Drawn,
    ) {
        let focused = screen.part == Part::Agents;
        let (_, forgotten) = self.state.agents();
        let mut heading = vec![
            (words::AGENTS.to_owned(), heading_role(focused)),
            (
                words::agents(rows.len(), self.state.connected(), forgotten),
                Role::Dim,
            ),
        ];
        if area.width < 60 {
            heading.truncate(1);
        }
        canvas.headed_rule(area.x, area.y, area.width, &heading);
        let inner = Rect {
            x: area.x + 1,
            y: area.y + 1,
            width: area.width.saturating_sub(2),
            height: area.height - 1,
        };
        if rows.is_empty() {
            canvas.put(
                inner.x + 1,
                inner.y,
                inner.width,
                words::NO_AGENT,
                Role::Dim,
            );
            return;
        }
        let selected = screen.at.as_ref();
        let at = rows
            .iter()
            .position(|r| selected.is_some_and(|at| r.has(at)));
        let mut about = self.about_selected(screen, rows, area.width);
        let wide = inner.width >= ROOM;
        draw_columns(canvas, Rect { height: 1, ..inner }, wide);
        let below = u16::try_from(about.rows.len()).unwrap_or(u16::MAX);
        // On small screens the list comes first.
        let listed = u16::try_from(rows.len()).unwrap_or(u16::MAX).min(4);
        let below = below.min(inner.height.saturating_sub(1 + listed));
        about.clip(
            usize::from(below),
            inner.width.saturating_sub(2),
            ("…", Role::Dim),
        );
        let height = usize::from(inner.height - 1 - below);
        let last = rows.len().saturating_sub(height);
        let mut top = screen.first.min(last);
        if let Some(at) = at {
            top = top.clamp((at + 1).saturating_sub(height), at);
        }
        for (y, (i, row)) in (inner.y + 1..).zip(rows.iter().enumerate().skip(top).take(height)) {
            let line = Rect::new(inner.x, y, inner.width, 1);
            self.agent_row(canvas, line, row, wide);
            if Some(i) == at {
                let sign = match screen.part {
                    Part::Agents => words::HERE,
                    Part::Policies => words::CHOSEN,
                };
                canvas.put(line.x, y, 1, sign, Role::Accent);
                canvas.tint(line, Role::Selected);
            }
        }
        let foot = Rect {
            x: inner.x + 1,
            y: inner.bottom() - below,
            width: inner.width.saturating_sub(2),
            height: below,
        };
        draw_flow(canvas, foot, &about, 0);
        drawn.first_agent = top;
        drawn.list_rows = height;
    }

    /// What is known of the selected agent, in a part as wide as the screen.
    fn about_selected(&self, screen: &AgentsScreen, rows: &[AgentRow], width: u16) -> Flow {
        let selected = screen.at.as_ref();
        let at = rows.iter().find(|r| selected.is_some_and(|at| r.has(at)));
        let about = at.map_or_else(Vec::new, |row| self.about(row));
        Flow::new(&about, width.saturating_sub(4))
    }

    fn agent_row(&self, canvas: &mut Canvas<'_>, line: Rect, row: &AgentRow, wide: bool) {
        let agent = &row.agent;
        let (name, process) = places(wide);
        let mut x = line.x + 1;
        let shown = claim::named(&agent.name, usize::from(name));
        canvas.put_claim(x, line.y, name, &shown, Role::Text);
        x += name + 1;
        if process > 0 {
            let at = match row.folded.len() {
                _ if agent.gateway.is_some() => agent.account(),
                0 => format!("{}:{}", agent.uid, agent.pid),
                more => words::uid_of(agent.uid, more),
            };
            canvas.put_cut(x, line.y, process, &at, Role::Dim);
            x += process;
        }
        let t = &row.counts;
        let rate = format!("{:.1}", t.per_minute);
        let quota = format!("{}%", self.fullest(row));
        let (waits, n) = (words::number(t.undecided as u64), words::number);
        let all = [waits.clone(), n(t.granted), n(t.denied), n(t.blocked)];
        let numbers: Vec<String> = match wide {
            true => all.into_iter().chain([rate, quota]).collect(),
            false => vec![waits, rate, quota],
        };
        for ((_, columns), number) in columns(wide).iter().zip(numbers) {
            let width = usize::from(*columns);
            let role = match number.as_str() {
                "0" | "0.0" | "0%" => Role::Dim,
                _ => Role::Text,
            };
            canvas.put(x, line.y, *columns, &format!("{number:>width$}"), role);
            x += columns;
        }
        let (word, role) = match (row.paused, row.connected) {
            (true, _) => (words::PAUSED, Role::Flagged),
            (false, 1..) => return,
            (false, 0) => (words::AWAY, Role::Dim),
        };
        let room = line.right().saturating_sub(x + 1);
        canvas.put(x + 1, line.y, room, word, role);
    }

    /// How many per cent of its fullest quota it used; of several processes, the fullest one's.
    pub(super) fn fullest(&self, row: &AgentRow) -> u64 {
        let used = |agent: &AgentId| {
            let usage = self.state.usage(agent.uid, agent.pid, self.now);
            usage.per_cent()
        };
        let folded = row.folded.iter().map(used).max();
        folded.unwrap_or_else(|| used(&row.agent))
    }

    /// What is known of the selected agent: by the kernel, of its quotas, and by the log.
    fn about(&self, row: &AgentRow) -> Vec<Para> {
        let agent = &row.agent;
        let mut out = Vec::new();
        if row.paused {
            out.push(Para::new(words::REFUSED_NOW, Role::Flagged).hang(2));
        }
        out.push(Para::new(self.agent_facts(row), Role::Dim).hang(2));
        if !row.folded.is_empty() {
            return out;
        }
        let u = self.state.usage(agent.uid, agent.pid, self.now);
        out.push(Para::new(words::quotas(&u), Role::Dim).hang(2));
        out
    }

    /// What the kernel and the log say of it.
    pub(super) fn agent_facts(&self, row: &AgentRow) -> String {
        let agent = &row.agent;
        let ever = self.ui.decisions(&Of::Agent(agent.uid, &agent.name));
        let process = match row.folded.len() {
            0 => words::one_process(agent, row.connected > 0),
            more => words::processes(agent.uid, more, row.connected, &self.ui.key(Command::Open)),
        };
        words::agent_facts(&process, ever.map(|ever| [ever.granted, ever.denied]))
    }

    /// What each profile in force lets in, and on what all of them stand.
    pub(super) fn policies(&self, detail: Detail) -> Vec<Para> {
        let mut out = Vec::new();
        if let Some(seat) = &self.facts.seat {
            out.push(Para::new(words::seat::HOSTS, Role::Strong));
            let hosts = seat.hosts.iter().map(words::seat::reached);
            out.extend(hosts.map(|host| Para::new(host, Role::Text).indent(2)));
            return out;
        }
        for profile in &self.state.settings.profiles {
            out.extend(self.profile(profile, detail));
            out.push(Para::default());
        }
        let f = self.facts;
        out.push(Para::new("Isolation", Role::Strong));
        let (layers, does_not_stop) = f.of(f.tier);
        out.push(labelled("tier", &format!("{}: {}", f.tier, layers.join(", "))).indent(2));
        for what in does_not_stop {
            out.push(Para::new(format!("▲ does not stop {what}"), Role::Flagged).indent(2));
        }
        if f.agents_share_uid {
            out.push(
                Para::new(format!("▲ {}", words::SHARED_UID), Role::Flagged)
                    .and(words::SHARED_UID_MEANS, Role::Text)
                    .indent(2)
                    .hang(2),
            );
        }
        out.push(labelled("python", &environment(&self.state.environment)).indent(2));
        out.push(labelled("socket", &f.socket).indent(2));
        out
    }

    fn profile(&self, profile: &Profile, detail: Detail) -> Vec<Para> {
        let p = &profile.policy;
        let tier = self.state.tier_for(p);
        let (_, does_not_stop) = self.facts.of(tier);
        let walled_off = !does_not_stop.iter().any(|what| what == "network");
        let default = match p.name == self.state.settings.profile {
            true => " (default)",
            false => "",
        };
        let mut out = vec![
            Para::new(p.name.clone(), Role::Accent)
                .and(default, Role::Dim)
                .and(format!("  {}", says::origin(p)), Role::Dim),
        ];
        let mut say = |label: &str, what: &str| out.push(labelled(label, what).indent(2));
        if !profile.given.is_empty() {
            say("given", &profile.given.join(", "));
        }
        say("imports", &says::imports(p));
        if !p.unjudged.is_empty() {
            let names: Vec<&str> = p.unjudged.iter().map(String::as_str).collect();
            say("", &says::unjudged(&names.join(", ")));
        }
        say("files", &says::files(p));
        say("network", &says::network(p, walled_off));
        say("beyond", &says::beyond(p));
        out.push(private(p.tells_private(), says::private(p)));
        match detail {
            Detail::Folded => out.push(labelled("limits", &says::limits(&p.limits)).indent(2)),
            Detail::Whole => {
                out.push(
                    limits(&p.limits)
                        .after(&format!("{:<8} ", "limits"))
                        .indent(2),
                );
            }
        }
        let runs = format!("tier {tier}, {}", says::guard(p.guard));
        out.push(labelled("runs", &runs).indent(2));
        out.extend(changes(profile));
        if detail == Detail::Whole {
            out.push(labelled("sha256", &p.sha256.hex()).indent(2));
        }
        out
    }
}

fn private(told: bool, what: &str) -> Para {
    let role = if told { Role::Private } else { Role::Text };
    Para::new(format!("{:<8} ", "private"), Role::Dim)
        .and(what, role)
        .indent(2)
        .hang(9)
}

/// What the profile's file changes.
fn changes(profile: &Profile) -> Vec<Para> {
    use crate::policy::Origin;
    let line = |label: &str, what: &str, role| {
        Para::new(format!("{label:<8} "), role)
            .and(what, Role::Text)
            .indent(2)
            .hang(9)
    };
    match (&profile.policy.origin, &profile.base) {
        (Origin::Builtin, _) => Vec::new(),
        (Origin::Own, _) => vec![line("▲ file", says::OWN_RULES, Role::Flagged)],
        (Origin::Extends { .. }, None) => vec![line("file", says::BASE_UNKNOWN, Role::Dim)],
        (Origin::Extends { .. }, Some(base)) => {
            let (wider, tighter) = says::changes(&profile.policy, base);
            let mut out = Vec::new();
            if !wider.is_empty() {
                out.push(line("▲ adds", &wider.join("; "), Role::Flagged));
            }
            if !tighter.is_empty() {
                out.push(line("tightens", &tighter.join("; "), Role::Good));
            }
            if out.is_empty() {
                out.push(line("file", says::SAME, Role::Dim));
            }
            out
        }
    }
}

const fn heading_role(focused: bool) -> Role {
    match focused {
        true => Role::Accent,
        false => Role::Strong,
    }
}

const fn columns(wide: bool) -> &'static [Column] {
    match wide {
        true => &WIDE,
        false => &NARROW,
    }
}

/// Columns of the name and of uid and pid.
const fn places(wide: bool) -> (u16, u16) {
    match wide {
        true => (14, 13),
        false => (11, 0),
    }
}

fn draw_columns(canvas: &mut Canvas<'_>, line: Rect, wide: bool) {
    let (name, process) = places(wide);
    let mut x = line.x + 1;
    canvas.put(x, line.y, name, "agent", Role::Dim);
    x += name + 1;
    canvas.put(x, line.y, process, "uid:pid", Role::Dim);
    x += process;
    for (heading, columns) in columns(wide) {
        let wide = text::width(heading) as u16;
        canvas.put(x + columns - wide, line.y, wide, heading, Role::Dim);
        x += columns;
    }
}
