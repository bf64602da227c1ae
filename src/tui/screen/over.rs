//! Screens that cover the queue: the help, generated from the key map, and screen 3.

use std::collections::BTreeMap;

use ratatui::layout::Rect;

use super::super::canvas::Canvas;
use super::super::claim;
use super::super::flow::{Flow, Para};
use super::super::keys::Command;
use super::super::theme::Role;
use super::super::ui::Palette;
use super::super::words;
use super::panes::environment;
use super::{Drawn, Screen, draw_flow};

/// The most proposals counted by agent: enough to show which agents are active.
const COUNTED: usize = 2_000;

impl Screen<'_> {
    /// Draws a heading and a scrollable flow.
    pub(super) fn page(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        heading: &str,
        flow: &Flow,
        top: usize,
        drawn: &mut Drawn,
    ) {
        canvas.headed_rule(
            area.x,
            area.y,
            area.width,
            &[(heading.to_owned(), Role::Accent)],
        );
        let inner = Rect {
            x: area.x + 2,
            y: area.y + 1,
            width: area.width.saturating_sub(4),
            height: area.height.saturating_sub(1),
        };
        let height = usize::from(inner.height);
        let top = top.min(flow.rows.len().saturating_sub(height));
        let shown = draw_flow(canvas, inner, flow, top);
        let below = flow.rows.len() - shown.end;
        if below > 0 {
            let more = format!(" ↓ {} more ", words::number(below as u64));
            let wide = super::super::text::width(&more) as u16;
            canvas.put(
                area.right().saturating_sub(wide + 1),
                area.y,
                wide,
                &more,
                Role::Dim,
            );
        }
        drawn.over = Some((height, flow.rows.len()));
    }

    pub(super) fn help(&self, canvas: &mut Canvas<'_>, area: Rect, top: usize, drawn: &mut Drawn) {
        let mut paras = Vec::new();
        for command in Command::ALL {
            let keys = self.ui.common.keys.all(*command);
            paras.push(
                Para::new(format!("{keys:<14} "), Role::Key)
                    .and(command.words(), Role::Text)
                    .hang(15),
            );
        }
        let flow = Flow::new(&paras, area.width.saturating_sub(4));
        self.page(canvas, area, "HELP", &flow, top, drawn);
    }

    /// The commands that the typed letters find, with their keys.
    pub(super) fn palette(&self, canvas: &mut Canvas<'_>, area: Rect, palette: &Palette) {
        canvas.headed_rule(
            area.x,
            area.y,
            area.width,
            &[("COMMANDS".to_owned(), Role::Accent)],
        );
        let found = palette.found();
        let height = usize::from(area.height.saturating_sub(1));
        let top = (palette.at + 1).saturating_sub(height);
        for (y, (i, command)) in (area.y + 1..area.bottom()).zip(found.iter().enumerate().skip(top))
        {
            let row = Rect::new(area.x + 1, y, area.width.saturating_sub(2), 1);
            let keys = self.ui.common.keys.all(*command);
            let spans = [
                (format!(" {:<17} ", command.name()), Role::Strong),
                (format!("{keys:<14} "), Role::Key),
                (command.words().to_owned(), Role::Text),
            ];
            canvas.put_spans(row.x, y, row.width, &spans);
            if i == palette.at {
                canvas.tint(row, Role::Selected);
            }
        }
        if found.is_empty() {
            canvas.put(
                area.x + 2,
                area.y + 1,
                area.width,
                words::NO_COMMAND,
                Role::Dim,
            );
        }
    }

    pub(super) fn policies(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        top: usize,
        drawn: &mut Drawn,
    ) {
        let mut paras = vec![Para::new("Policies", Role::Strong)];
        for profile in &self.state.settings.profiles {
            let p = &profile.policy;
            let default = if p.name == self.state.settings.profile {
                " (default)"
            } else {
                ""
            };
            paras.push(
                Para::new(p.label(), Role::Accent)
                    .and(default, Role::Dim)
                    .and(
                        format!(
                            " · tier {} · guard {} · {} modules · wall {} s · {} MB",
                            self.state.tier_for(p),
                            if p.guard { "on" } else { "off" },
                            p.imports.len(),
                            words::number(p.limits.wall_s),
                            words::number(p.limits.memory_mb),
                        ),
                        Role::Text,
                    )
                    .indent(2)
                    .hang(2),
            );
            paras.push(Para::new(format!("sha256 {}", p.sha256.hex()), Role::Dim).indent(4));
            let modules = by_package(p.imports.keys().map(String::as_str));
            if !modules.is_empty() {
                paras.push(Para::new(modules.join(" "), Role::Dim).indent(4));
            }
        }
        paras.push(Para::default());
        paras.push(Para::new("Isolation", Role::Strong));
        let f = self.facts;
        paras.push(Para::new(format!("tier {}", f.tier), Role::Text).indent(2));
        let (layers, does_not_stop) = f.of(f.tier);
        if !layers.is_empty() {
            paras.push(Para::new(layers.join(", "), Role::Text).indent(2));
        }
        for what in does_not_stop {
            paras.push(Para::new(format!("▲ does not stop {what}"), Role::Flagged).indent(2));
        }
        if f.agents_share_uid {
            paras.push(
                Para::new(format!("▲ {}", words::SHARED_UID), Role::Flagged)
                    .and(
                        ": one that is not confined can type into this terminal",
                        Role::Text,
                    )
                    .indent(2)
                    .hang(2),
            );
        }
        paras.push(
            Para::new(
                format!("python: {}", environment(&self.state.environment)),
                Role::Text,
            )
            .indent(2),
        );
        paras.push(Para::default());
        paras.push(Para::new("Agents", Role::Strong).and(
            format!("  {} connected to {}", self.state.connected(), f.socket),
            Role::Dim,
        ));
        paras.extend(self.agents());
        let flow = Flow::new(&paras, area.width.saturating_sub(4));
        self.page(canvas, area, "POLICIES AND AGENTS", &flow, top, drawn);
    }

    /// The listed proposals counted by agent, identified by kernel-verified data.
    fn agents(&self) -> Vec<Para> {
        let mut seen: BTreeMap<(u32, i32), (&str, usize)> = BTreeMap::new();
        for entry in self.state.shown().take(COUNTED) {
            let peer = &entry.proposal.peer;
            seen.entry((peer.uid, peer.pid))
                .or_insert((entry.proposal.agent_name(), 0))
                .1 += 1;
        }
        seen.into_iter()
            .map(|((uid, pid), (name, count))| {
                let para = Para::new(format!("uid {uid} · pid {pid}"), Role::Text)
                    .and("  says ", Role::Claim);
                claim::and(para, name, Role::Claim)
                    .and(format!("  {}", words::proposals(count)), Role::Dim)
                    .indent(2)
                    .hang(2)
            })
            .collect()
    }
}

/// Groups module names by package, with the number of modules in each.
fn by_package<'a>(modules: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut packages: BTreeMap<&str, usize> = BTreeMap::new();
    for module in modules {
        let package = module.split('.').next().unwrap_or(module);
        *packages.entry(package).or_default() += 1;
    }
    let word = |(package, count): (&str, usize)| match count {
        1 => package.to_owned(),
        more => format!("{package}({more})"),
    };
    packages.into_iter().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_listed_by_package() {
        let modules = ["json", "scipy", "scipy.fft", "scipy.stats"];
        assert_eq!(by_package(modules.into_iter()), ["json", "scipy(3)"]);
    }
}
