//! What an agent says about itself, with marks: letters that imitate Latin ones are drawn as their
//! marks, as everything is that no terminal draws alike.

use crate::model::{Claimed, claimed};

use super::canvas::Canvas;
use super::flow::Para;
use super::text;
use super::theme::Role;

/// The claim in spans; a letter that imitates another is a span of its own, and so is the mark for two or more blanks:
/// words behind them could seem to stand in the screen's own columns.
pub fn spans(claim: &str, role: Role) -> Vec<(String, Role)> {
    let mut out = Vec::new();
    let mut rest = claim;
    while let Some(at) = rest.find("  ") {
        out.extend(unpadded(&rest[..at], role));
        let behind = rest[at..].trim_start_matches(' ');
        let blanks = rest.len() - at - behind.len();
        out.push((format!("\\u{{20}}x{blanks}"), Role::Mark));
        rest = behind;
    }
    out.extend(unpadded(rest, role));
    out
}

fn unpadded(claim: &str, role: Role) -> Vec<(String, Role)> {
    let pieces = claimed(claim).into_iter();
    pieces
        .flat_map(|piece| match piece {
            Claimed::Text(text) => text::spans(text, role),
            Claimed::Mark(mark) => vec![(mark.as_str().to_owned(), Role::Mark)],
        })
        .collect()
}

/// The claim as it is drawn, without styles: for a sentence of the program.
pub fn drawn(claim: &str) -> String {
    let pieces = spans(claim, Role::Text).into_iter();
    pieces.map(|(text, _)| text).collect()
}

/// An agent's name within a sentence of the program: in quotes if it could be read as more than a name, and cut.
pub fn named(name: &str, columns: usize) -> String {
    let cut = text::cut(name, columns);
    let more = if cut.len() < name.len() { "…" } else { "" };
    let plain = |c: char| c.is_alphanumeric() || "._-@/".contains(c);
    match name.chars().all(plain) {
        true => format!("{cut}{more}"),
        false => {
            let cut = cut.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{cut}{more}\"")
        }
    }
}

/// The paragraph with the claim behind it.
pub fn and(para: Para, claim: &str, role: Role) -> Para {
    let all = spans(claim, role);
    all.into_iter()
        .fold(para, |para, (text, role)| para.given(text, role))
}

/// The claim in spans, or its beginning and `…`, in at most so many columns.
pub fn cut(claim: &str, columns: usize, role: Role) -> Vec<(String, Role)> {
    let all = spans(claim, role);
    let mut out = Vec::new();
    let mut used = 0;
    for (i, (span, role)) in all.iter().enumerate() {
        let room = columns - used;
        let rest = all.len() > i + 1;
        // What follows needs a column for `…`.
        let most = room.saturating_sub(usize::from(rest));
        if text::cut(span, most).len() == span.len() {
            used += text::width(span);
            out.push((span.clone(), *role));
            continue;
        }
        if room > 0 {
            // A mark is drawn whole or not at all.
            let head = match role {
                Role::Mark => "",
                _ => text::cut(span, room - 1),
            };
            out.push((head.to_owned(), *role));
            out.push(("…".to_owned(), Role::Dim));
        }
        break;
    }
    out
}

/// The columns of all of the claim.
pub fn width(claim: &str) -> usize {
    let all = spans(claim, Role::Text);
    all.iter().map(|(span, _)| text::width(span)).sum()
}

impl Canvas<'_> {
    /// Draws a claim on one row, or its beginning and `…`; returns the columns used.
    pub fn put_claim(&mut self, x: u16, y: u16, columns: u16, claim: &str, role: Role) -> u16 {
        let all = cut(claim, usize::from(columns), role);
        let mut used = 0;
        for (span, role) in all {
            used += self.put(x + used, y, columns - used, &span, role);
        }
        used
    }
}

#[cfg(test)]
mod tests {
    use super::super::action::{AuditPage, AuditRow};
    use super::super::bench::{Bench, Making};
    use super::super::snapshot_tests::at_sizes;
    use super::*;

    /// Cyrillic letters in Latin words, and a title in Russian.
    const IMITATION: &str = "cl\u{430}ude";
    const TITLE: &str = "s\u{430}les by region";
    const RUSSIAN: &str = "Сумма по регионам";

    fn propose_imitations(b: &mut Bench) {
        for (agent, title) in [(IMITATION, TITLE), ("claude", RUSSIAN)] {
            b.propose(Making {
                agent: Some(agent),
                title: Some(title.to_owned()),
                ..Making::clear("print(len(df))\n")
            });
        }
        b.settle();
    }

    #[test]
    fn an_agent_s_name_that_imitates_another_is_marked_in_queue_and_title() {
        at_sizes("imitated_name", propose_imitations);
    }

    #[test]
    fn blanks_put_no_word_of_a_title_where_the_screen_s_tags_stand() {
        let mut b = Bench::new(120, 40);
        b.propose(Making {
            title: Some("sum      PRIV  W".to_owned()),
            ..Making::clear("print(len(df))\n")
        });
        let text = b.settle();
        assert!(text.contains("sum\\u{20}x6"), "{text}");
        assert!(!text.contains("sum  "), "{text}");
        assert_eq!(drawn("a b  c "), "a b\\u{20}x2c ");
    }

    #[test]
    fn an_agent_s_name_that_imitates_another_is_marked_on_the_sheet() {
        at_sizes("imitated_name_sheet", |b| {
            propose_imitations(b);
            b.open_sheet();
        });
    }

    #[test]
    fn an_agent_s_name_that_imitates_another_is_marked_in_the_log() {
        let row = |agent: &str, title: &str| AuditRow {
            time: "2026-01-02 10:59:07".to_owned(),
            agent: agent.to_owned(),
            profile: "analysis".to_owned(),
            verdict: "clear".to_owned(),
            state: "succeeded".to_owned(),
            title: title.to_owned(),
            ..AuditRow::default()
        };
        at_sizes("imitated_name_log", |b| {
            b.keys("2");
            b.ui.set_audit(AuditPage {
                rows: vec![row(IMITATION, TITLE), row("claude", RUSSIAN)],
                total: 2,
                ..AuditPage::default()
            });
        });
    }

    #[test]
    fn a_claim_is_cut_at_whole_marks() {
        assert_eq!(spans("claude", Role::Text).len(), 1);
        let text: String = spans(IMITATION, Role::Text)
            .into_iter()
            .map(|(t, _)| t)
            .collect();
        assert_eq!(text, "cl\\u{0430}ude");
        let bench = Bench::new(80, 24);
        let theme = bench.ui.common.themes.current();
        for columns in 1..=13 {
            let area = ratatui::layout::Rect::new(0, 0, 20, 1);
            let mut buf = ratatui::buffer::Buffer::empty(area);
            let used = Canvas::new(&mut buf, theme).put_claim(0, 0, columns, IMITATION, Role::Text);
            let row: String = buf.content().iter().map(|cell| cell.symbol()).collect();
            let expected = match columns {
                1 => "…",
                2 => "c…",
                3..=10 => "cl…",
                11 => "cl\\u{0430}…",
                12 => "cl\\u{0430}u…",
                _ => "cl\\u{0430}ude",
            };
            assert!(used <= columns, "{columns}");
            assert_eq!(row.trim_end(), expected, "{columns}");
        }
    }
}
