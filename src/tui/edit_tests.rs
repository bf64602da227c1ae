//! What a person edited is other code: it must be seen anew, and says so wherever it is drawn.

use super::bench::*;
use super::snapshot_tests::at_sizes;
use super::ui::Pane;
use super::{Action, EditNews, render};
use crate::broker::{Effect, Event, HumanAct, update};
use crate::model::{Code, Environment, ProposalId, Reviewer, State, StreamName};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const BEFORE: &str =
    "for name, part in df.groupby(\"dept\"):\n    print(name, part[\"email\"].head(2).tolist())\n";
const AFTER: &str = "for name, part in df.groupby(\"dept\"):\n    print(name, len(part))\n";

fn proposed() -> Making {
    Making {
        agent: Some("hr-bot"),
        title: Some("Head count per department".to_owned()),
        reason: Some("The board asks.".to_owned()),
        ttl_s: 1_800,
        ..Making::clear(BEFORE)
    }
}

fn edited(b: &mut Bench) -> ProposalId {
    let id = b.propose(proposed());
    b.settle();
    b.edit(id, &Making::clear(AFTER));
    id
}

#[test]
fn edited_code() {
    at_sizes("edited", |b| {
        edited(b);
        b.settle();
    });
}

#[test]
fn the_sheet_of_edited_code() {
    at_sizes("edited_sheet", |b| {
        edited(b);
        b.read();
        b.open_sheet();
    });
}

#[test]
fn the_details_of_edited_code() {
    at_sizes("edited_details", |b| {
        edited(b);
        b.settle();
        b.focus_on(Pane::Details);
    });
}

#[test]
fn edited_code_that_is_blocked() {
    at_sizes("edited_blocked", |b| {
        let id = b.propose(proposed());
        b.settle();
        b.edit(id, &Making::blocked());
        b.settle();
        b.keys("a");
    });
}

#[test]
fn edited_code_is_compared_with_what_was_proposed_first() {
    at_sizes("edited_diff", |b| {
        edited(b);
        b.settle();
        b.keys("v");
        b.carry_out();
    });
}

/// The analyser has not answered yet: what was proposed stands there, and nothing can be decided on it.
#[test]
fn code_whose_edit_is_being_judged() {
    at_sizes("edited_judged", |b| {
        let id = b.propose(proposed());
        b.settle();
        let edit = Event::Human(HumanAct::Edit {
            id,
            code: Code::new(AFTER),
            diff: "".into(),
            by: Reviewer::default(),
        });
        let effects = update(&mut b.state, edit, b.now);
        assert!(
            matches!(effects[..], [Effect::Analyse { .. }]),
            "{effects:?}"
        );
        b.ui.sync(&b.state, b.now);
        b.settle();
        b.keys("a");
    });
}

#[test]
fn edited_code_that_ran() {
    at_sizes("edited_ran", |b| {
        edited(b);
        b.settle();
        b.read();
        let id = b.start();
        b.output(id, StreamName::Stdout, "sales 12\nlegal 3\n");
        b.end(id, run("sales 12\nlegal 3\n"));
        b.focus_on(Pane::Outcome);
    });
}

#[test]
fn edited_code_that_was_denied() {
    at_sizes("edited_denied", |b| {
        let id = edited(b);
        b.deny(id, "write the mean, not the names");
        b.choose(id);
        b.focus_on(Pane::Outcome);
    });
}

/// Invariant 5.
#[test]
fn nothing_that_was_seen_before_an_edit_counts_after_it() {
    let mut b = Bench::new(80, 24);
    let id = b.propose(Making::clear(&lines(60)));
    b.settle();
    b.read();
    assert_eq!(b.ui.obstacle(&b.state, b.now), None);
    let other = lines(59) + "x60 = 61\n";
    b.edit(id, &Making::clear(&other));
    b.draw();
    b.keys("a");
    assert!(b.ui.sheet().is_none());
    b.settle();
    let why = b.ui.obstacle(&b.state, b.now).unwrap();
    assert!(why.contains("–60 not seen"), "{why}");
    b.read();
    assert_eq!(b.ui.obstacle(&b.state, b.now), None);
    // The time of the first look stays in the record.
    b.open_sheet();
    b.keys("y");
    let viewed = grants(&b)[0].viewed;
    assert_eq!(viewed.lines_seen, 60);
}

#[test]
fn an_edit_begins_a_fresh_grace_and_closes_what_was_open() {
    let mut b = ready();
    let id = b.ui.selected().unwrap();
    b.open_sheet();
    b.edit(id, &Making::clear("print(2)\n"));
    assert!(b.ui.sheet().is_none());
    // `y` and `a` come at once, as if they were meant for the sheet.
    b.draw();
    b.advance(300);
    b.draw();
    b.keys("ya");
    assert!(b.ui.sheet().is_none() && grants(&b).is_empty());
    b.advance(2_500);
    b.settle();
    b.open_sheet();
    b.keys("y");
    b.carry_out();
    assert_eq!(b.state.entry(id).map(|e| e.state()), Some(State::Granted));
}

/// A terminal can say late that it shows a frame: of the code before the edit.
#[test]
fn a_frame_of_the_code_before_the_edit_counts_for_nothing() {
    let mut b = ready();
    let id = b.ui.selected().unwrap();
    let area = Rect::new(0, 0, 120, 40);
    let mut buffer = Buffer::empty(area);
    let late = render(&b.state, &b.ui, &b.facts, area, &mut buffer, b.now);
    b.edit(id, &Making::clear("print(2)\n"));
    b.advance(1_000);
    b.ui.drawn(&b.state, late, b.now);
    b.advance(1_000);
    b.ui.count(b.now);
    let why = b.ui.obstacle(&b.state, b.now).unwrap();
    assert!(why.contains("not seen"), "{why}");
}

#[test]
fn the_list_and_the_panes_follow_the_verdict_on_the_edit() {
    let mut b = Bench::new(120, 40);
    let id = b.propose(Making::flagged());
    let text = b.settle();
    assert!(text.contains("DYN003"), "{text}");
    b.edit(id, &Making::clear("print(1)\n"));
    let text = b.settle();
    assert!(
        !text.contains("DYN003") && text.contains("print(1)"),
        "{text}"
    );
    assert!(text.contains("EDIT"), "{text}");
    assert!(!text.contains("1 flagged"), "{text}");
}

#[test]
fn e_asks_for_an_editor_only_where_an_edit_is_possible() {
    let mut b = Bench::new(120, 40);
    assert!(b.keys("e").is_empty());
    assert_eq!(notice(&b), "nothing is selected");
    let id = b.propose(Making::clear("print(1)\n"));
    b.settle();
    assert_eq!(b.keys("e"), [Action::Edit { id }]);
    for code in ["# vim: set ts=4:\n", "x = '\u{9b}2J'\n"] {
        let id = b.propose(Making::clear(code));
        b.choose(id);
        assert!(b.keys("e").is_empty());
        assert_eq!(
            notice(&b),
            "not opened: line 1 could instruct an editor or a terminal; deny it instead"
        );
        // What a person wrote was in their editor already.
        b.edit(id, &Making::clear("# vim: ts=4\n"));
        assert_eq!(b.keys("e"), [Action::Edit { id }]);
    }
    let id = b.propose(Making::blocked());
    b.choose(id);
    assert!(b.keys("e").is_empty());
    assert_eq!(notice(&b), "cannot edit: already blocked");
    b.keys("2");
    assert!(b.keys("e").is_empty());
}

#[test]
fn every_piece_of_news_says_what_happened_and_where_the_text_is() {
    let mut b = ready();
    let path = || "edits/1234".into();
    for (news, words) in [
        (
            EditNews::NoEditor,
            "no editor: neither VISUAL nor EDITOR is set",
        ),
        (
            EditNews::BadCommand,
            "VISUAL or EDITOR has a quote that is not closed",
        ),
        (
            EditNews::NotStarted("x: not found".to_owned()),
            "the editor cannot be started: x: not found",
        ),
        (
            EditNews::Unchanged,
            "nothing changed (some editors need an option to wait)",
        ),
        (
            EditNews::NotTaken("the text is not UTF-8".to_owned(), Some(path())),
            "your text: …/edits/1234; nothing changed: the text is not UTF-8",
        ),
        (
            EditNews::NotTaken("the file is gone".to_owned(), None),
            "nothing changed: the file is gone",
        ),
        (
            EditNews::Taken,
            "your edit is judged anew: read it, then decide",
        ),
        (
            EditNews::TooLate("too late: already expired".to_owned(), path()),
            "your text: …/edits/1234; too late: already expired",
        ),
    ] {
        b.ui.tell_of_edit(&news);
        let text = b.draw();
        assert!(text.contains(words), "{words}: {text}");
    }
}

/// While another program has the terminal, nothing counts and no time of looking passes.
#[test]
fn what_stands_while_the_terminal_is_lent_counts_for_nothing() {
    let mut b = Bench::new(120, 40);
    let id = b.propose(Making::clear("print(1)\n"));
    b.draw();
    b.advance(600);
    b.ui.lend(b.now);
    b.advance(60_000);
    b.ui.take_back(b.now);
    b.ui.count(b.now);
    let why = b.ui.obstacle(&b.state, b.now).unwrap();
    assert!(why.contains("not seen") || why.contains("line 1"), "{why}");
    b.settle();
    b.open_sheet();
    b.keys("y");
    let viewed = grants(&b)[0].viewed;
    assert!(viewed.selected_ms < 10_000, "{viewed:?}");
    assert_eq!(b.state.entry(id).map(|e| e.state()), Some(State::Pending));
}

#[test]
fn what_is_edited_says_so_whatever_becomes_of_it() {
    let mut b = Bench::new(120, 40);
    let id = edited(&mut b);
    b.settle();
    b.read();
    b.start();
    b.end(id, run("1\n"));
    let text = b.settle();
    assert!(text.contains("edited by you"), "{text}");
    assert!(
        text.contains("len(part)") && !text.contains("email"),
        "{text}"
    );
    // An environment that failed meanwhile changes nothing about it.
    b.apply(Event::Environment(Environment::Failed {
        message: "gone".to_owned(),
    }));
    assert!(b.settle().contains("edited by you"));
}
