//! The screen of the program that only reads a log.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::bench::PLAIN;
use super::keys::Command;
use super::snapshot_tests::{SIZES, audit_page, snap};
use super::ui::{Over, Span, View};
use super::*;
use crate::audit::Stage;
use crate::clock::Now;
use crate::model::ProposalId;

const FOLDER: &str = "/srv/copies/2026-11/of-the-night-shift/countersign";

struct Sight {
    review: Review,
    now: Now,
    size: (u16, u16),
}

impl Sight {
    fn new(columns: u16, rows: u16) -> Self {
        let reviewed = Reviewed {
            folder: FOLDER.to_owned(),
            verify: "countersign audit verify".to_owned(),
            vouched: Vouched::Through(1_284),
            index: Stage::Copied,
            is_written: false,
        };
        let themes = Themes::new("auto", PLAIN).unwrap();
        let keys = Keymap::default();
        Self {
            review: Review::new(keys, themes, PLAIN, Charset::Utf8, reviewed).in_utc(),
            now: Now {
                boot: std::time::Duration::from_secs(1000),
                wall: "2026-01-02T10:40:00Z".parse().unwrap(),
            },
            size: (columns, rows),
        }
    }

    /// The same with rows.
    fn listed(columns: u16, rows: u16) -> Self {
        let mut sight = Self::new(columns, rows);
        let asked = sight.review.opens();
        assert!(matches!(asked[..], [Reading::Rows { .. }]), "{asked:?}");
        sight.review.set_page(audit_page());
        sight.draw();
        sight
    }

    fn says(&mut self, vouched: Vouched) {
        self.review.reviewed_mut().unwrap().vouched = vouched;
    }

    fn press(&mut self, code: KeyCode) -> Vec<Reading> {
        self.now.boot += std::time::Duration::from_secs(1);
        let key = Event::Key(KeyEvent::from(code));
        let asked = self
            .review
            .on_typed(&key, Span::at(self.now.boot), self.now);
        self.draw();
        asked
    }

    fn draw(&mut self) -> String {
        let area = Rect::new(0, 0, self.size.0, self.size.1);
        let mut buffer = Buffer::empty(area);
        self.review.draw(area, &mut buffer, self.now);
        let mut out = String::new();
        for y in 0..area.height {
            let row: String = (0..area.width).map(|x| buffer[(x, y)].symbol()).collect();
            out.push_str(row.trim_end());
            out.push('\n');
        }
        out
    }
}

fn at_sizes(name: &str, make: impl Fn(&mut Sight)) {
    for (columns, rows) in &SIZES[..3] {
        let mut sight = Sight::listed(*columns, *rows);
        make(&mut sight);
        let text = sight.draw();
        snap(&format!("{name}_{columns}x{rows}"), &text);
    }
}

#[test]
fn the_header_says_that_it_reads_which_folder_and_what_vouches_for_it() {
    at_sizes("review_anchored", |_| {});
    at_sizes("review_checking", |s| {
        s.says(Vouched::Checking);
        s.review.reviewed_mut().unwrap().is_written = true;
    });
    at_sizes("review_not_anchored", |s| s.says(Vouched::NotAnchored));
    at_sizes("review_unusable", |s| {
        let why = format!("{FOLDER}-checkpoints/latest: the signature is not of this key");
        s.says(Vouched::Unusable(why));
    });
    at_sizes("review_damaged", |s| {
        s.says(Vouched::Damaged(
            "log/00000001.jsonl:7, seq 6: the hash of the line is not what the line says"
                .to_owned(),
        ));
    });
    at_sizes("review_contradicted", |s| {
        s.says(Vouched::Contradicted(
            "the log has 1200 records, and a checkpoint signs 1284".to_owned(),
        ));
    });
    at_sizes("review_index", |s| {
        s.review.reviewed_mut().unwrap().index = Stage::Making {
            read: 131_000_000,
            of: 310_000_000,
        };
    });
}

#[test]
fn the_help_and_the_names_have_only_what_is_there() {
    at_sizes("review_help", |s| drop(s.press(KeyCode::Char('?'))));
    at_sizes("review_palette", |s| drop(s.press(KeyCode::Char(':'))));
    let mut s = Sight::listed(120, 60);
    s.press(KeyCode::Char('?'));
    let help = s.draw();
    let (keys, _) = help.split_once("Words").unwrap();
    for word in [
        "grant",
        "deny",
        "sheet",
        "queue",
        "kill",
        "pause this agent",
    ] {
        assert!(!keys.contains(word), "{word}: {keys}");
    }
    assert!(keys.contains("never into that of the log"), "{keys}");
}

#[test]
fn no_key_and_no_name_leads_to_anything_but_reading() {
    let letters = (' '..='~').map(KeyCode::Char);
    let named = [KeyCode::Enter, KeyCode::Esc, KeyCode::Tab, KeyCode::Delete];
    for code in letters.chain(named) {
        let mut s = Sight::listed(80, 24);
        let key = Event::Key(KeyEvent::from(code));
        for key in [key, Event::Key(KeyEvent::new(code, KeyModifiers::CONTROL))] {
            s.now.boot += std::time::Duration::from_secs(1);
            s.review.on_typed(&key, Span::at(s.now.boot), s.now);
            let ui = s.review.ui();
            assert_eq!(ui.view(), View::Audit, "{code:?}");
            assert!(ui.sheet().is_none() && ui.selected().is_none(), "{code:?}");
            s.draw();
        }
    }
    for command in Command::ALL {
        let mut s = Sight::listed(80, 24);
        s.press(KeyCode::Char(':'));
        for c in command.name().chars() {
            s.press(KeyCode::Char(c));
        }
        s.press(KeyCode::Enter);
        s.press(KeyCode::Enter);
        let ui = s.review.ui();
        assert_eq!(ui.view(), View::Audit, "{command:?}");
        assert!(ui.sheet().is_none(), "{command:?}");
        let decides = matches!(
            command,
            Command::Grant | Command::Confirm | Command::Deny | Command::DenyAll | Command::Kill
        );
        assert!(!decides || !ui.has(*command), "{command:?}");
    }
    let mut s = Sight::listed(80, 24);
    assert_eq!(s.press(KeyCode::Char('a')), []);
    let text = s.draw();
    assert!(text.contains("no key a here; ? lists them"), "{text}");
    assert_eq!(s.press(KeyCode::Char('q')), [Reading::Quit]);
}

#[test]
fn the_cursor_stays_on_its_proposal_while_newer_ones_come() {
    let mut s = Sight::listed(80, 24);
    s.press(KeyCode::Down);
    let asked = s.press(KeyCode::Enter);
    let id = audit_page().rows[1].id.unwrap();
    assert!(matches!(&asked[..], [Reading::Record { id: is, .. }] if *is == id));
    assert!(matches!(s.review.reload()[..], [Reading::Rows { .. }]));
    let mut page = audit_page();
    let mut newest = page.rows[0].clone();
    newest.id = Some(crate::model::ProposalId::new());
    page.rows.insert(0, newest);
    page.total += 1;
    s.review.set_page(page);
    s.press(KeyCode::Esc);
    let asked = s.press(KeyCode::Enter);
    assert!(matches!(&asked[..], [Reading::Record { id: is, .. }] if *is == id));
}

/// The answer to a question for this proposal's page.
fn answer(id: ProposalId) -> AuditPage {
    AuditPage {
        asked: Some(id),
        detail: Some(vec!["The records".to_owned()]),
        ..audit_page()
    }
}

#[test]
fn a_page_that_is_read_is_said_and_what_is_typed_meanwhile_does_not_act_on_it() {
    let mut s = Sight::listed(80, 24);
    let id = audit_page().rows[0].id.unwrap();
    s.press(KeyCode::Enter);
    let text = s.draw();
    assert!(text.contains("reading a page …"), "{text}");
    assert!(text.contains("Esc stops it"), "{text}");
    for key in [
        KeyCode::Down,
        KeyCode::Enter,
        KeyCode::Char('i'),
        KeyCode::Char('E'),
    ] {
        assert_eq!(s.press(key), [], "{key:?}");
    }
    assert!(s.draw().contains("Esc stops it"));
    s.review.set_page(answer(id));
    let text = s.draw();
    assert!(
        text.contains("RECORD") && !text.contains("stops it"),
        "{text}"
    );
    // It works again.
    s.press(KeyCode::Esc);
    assert!(s.draw().contains("AUDIT  5 proposals"));
    // One that is stopped is not shown, nor one that was left while it was read again.
    s.press(KeyCode::Enter);
    s.press(KeyCode::Esc);
    assert!(s.draw().contains("the page is not opened"));
    s.review.set_page(answer(id));
    assert!(s.draw().contains("AUDIT  5 proposals"));
    // One that cannot be read leaves the rows where they are.
    s.press(KeyCode::Enter);
    s.review.set_page(AuditPage {
        asked: Some(id),
        damage: Some("the segment is gone".to_owned()),
        ..AuditPage::default()
    });
    let text = s.draw();
    assert!(text.contains("AUDIT  5 proposals"), "{text}");
    assert!(text.contains("the segment is gone"), "{text}");
    // Leaving is never in the way.
    s.press(KeyCode::Enter);
    assert_eq!(s.press(KeyCode::Char('q')), [Reading::Quit]);
}

#[test]
fn the_newest_rows_stand_there_while_the_log_is_read() {
    at_sizes("review_reading", |s| {
        s.review.reviewed_mut().unwrap().index = Stage::Making {
            read: 131_000_000,
            of: 310_000_000,
        };
        s.review.set_page(AuditPage {
            reading: Some(310_000_000),
            ..audit_page()
        });
    });
}

#[test]
fn a_quit_asks_before_an_export_is_dropped() {
    let mut s = Sight::listed(80, 24);
    s.press(KeyCode::Char('E'));
    assert!(matches!(s.press(KeyCode::Enter)[..], [Reading::Export(_)]));
    assert_eq!(s.press(KeyCode::Char('q')), []);
    let text = s.draw();
    assert!(
        text.contains("drop the export?") && text.contains("y quits"),
        "{text}"
    );
    assert_eq!(s.press(KeyCode::Char('q')), []);
    s.press(KeyCode::Char('q'));
    assert_eq!(s.press(KeyCode::Char('y')), [Reading::Quit]);
}

#[test]
fn its_words_are_its_own() {
    let mut s = Sight::listed(120, 120);
    s.press(KeyCode::Char('?'));
    let help = s.draw();
    for word in [
        "EDIT",
        "sheet",
        "granted until",
        "grant it",
        "CAN ",
        "NO GRANTS",
        "binds",
    ] {
        assert!(!help.contains(word), "{word}: {help}");
    }
    assert!(
        help.contains("in a row") && help.contains("anchored through"),
        "{help}"
    );
    let mut s = Sight::listed(39, 24);
    let text = s.draw();
    assert!(
        text.contains("too small") && !text.contains("granted"),
        "{text}"
    );
}

#[test]
fn esc_leaves_the_question_and_then_nothing() {
    let mut s = Sight::listed(80, 24);
    assert_eq!(s.press(KeyCode::Esc), []);
    assert!(
        s.draw().contains("nothing is open; q quits"),
        "{}",
        s.draw()
    );
    assert!(matches!(s.review.ui().over(), Over::Nothing));
    s.press(KeyCode::Tab);
    assert!(
        s.draw()
            .contains("works on the page of a proposal: press Enter first"),
        "{}",
        s.draw()
    );
}
