//! What a proposal touches stands above its code, in its gutter, in the queue and on the sheet.

use crossterm::event::KeyCode;

use crate::model::{Action as Does, Severity, State, StreamName, VerdictKind};

use super::SHEET_GRACE;
use super::bench::*;
use super::snapshot_tests::at_sizes;

#[test]
fn effects_that_the_title_does_not_say() {
    at_sizes("effects", |b| {
        b.propose(Making::more_than_it_says());
        b.settle();
    });
    at_sizes("sheet_effects", |b| {
        b.propose(Making::more_than_it_says());
        b.settle();
        b.read();
        b.open_sheet();
    });
    at_sizes("sheet_unfolded", |b| {
        b.propose(Making::more_than_it_says());
        b.settle();
        b.read();
        b.open_sheet();
        b.keys("i");
    });
    at_sizes("details", |b| {
        b.propose(Making::more_than_it_says());
        b.settle();
        b.keys("i");
    });
}

/// Values of a column and the way numbers are printed are changed.
fn altering() -> Making {
    Making {
        title: Some("mean of c1 by c2".to_owned()),
        ..Making::clear(
            "pd.set_option(\"display.float_format\", lambda v: f\"{v * 80:.1f} %\")\n\
             df[\"c1\"] = df[\"c1\"].where(df[\"c3\"] > 3, df[\"c1\"] / 0.97)\n\
             df[\"net\"] = df[\"c1\"] * 2\n\
             df.loc[df[\"c3\"] > 3, \"net\"] = 0\n\
             print(df.groupby(\"c2\")[\"net\"].mean())\n",
        )
    }
}

#[test]
fn numbers_that_are_changed_on_their_way_are_told() {
    at_sizes("alters", |b| {
        b.propose(altering());
        b.settle();
    });
    at_sizes("sheet_alters", |b| {
        b.propose(altering());
        b.settle();
        b.keys("a");
    });
    let mut b = Bench::new(80, 24);
    b.propose(altering());
    b.settle();
    let mut said = Vec::new();
    for _ in 0..3 {
        b.keys("]");
        b.draw();
        said.push(notice(&b));
    }
    assert_eq!(
        said,
        [
            "1/3 line 1: alters how numbers are printed",
            "2/3 line 2: alters c1",
            "3/3 line 4: alters net",
        ]
    );
    b.keys("a");
    let text = b.draw();
    assert!(
        text.contains("ALTERS") && !text.contains("more, Space scrolls"),
        "{text}"
    );
}

#[test]
fn the_line_from_which_values_pass_unseen_is_told() {
    let code =
        "class A:\n    def __str__(self):\n        return str(df[\"c1\"].tolist())\nprint(A())\n";
    at_sizes("lost_sight", |b| {
        b.propose(Making::clear(code));
        b.settle();
    });
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(code));
    b.settle();
    b.keys("a");
    let text = b.draw();
    assert!(
        text.contains("lost sight at") && !text.contains("more, Space scrolls"),
        "{text}"
    );
    let mut b = Bench::new(120, 40);
    b.propose(Making::clear("print(df[\"c1\"])\n"));
    let text = b.settle();
    assert!(!text.contains("lost sight"), "{text}");
}

#[test]
fn a_column_that_the_code_made_cannot_pass_for_words_of_the_screen() {
    let mut b = Bench::new(120, 40);
    b.propose(Making::clear(
        "df[\"x  NET none\"] = df[\"c1\"]\ndf[\"x  NET none\"] *= 2\nprint(df)\n",
    ));
    let text = b.settle();
    assert!(
        text.contains("ALTERS \"x  NET none\" of df × 2 line 2"),
        "{text}"
    );
}

#[test]
fn a_clear_sheet_fits_24_rows_and_the_code_stays_in_sight() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("print(len(df))\n"));
    b.settle();
    b.keys("a");
    let text = b.draw();
    assert!(
        text.contains("GRANT?") && !text.contains("more, Space scrolls"),
        "{text}"
    );
    let mut b = Bench::new(120, 40);
    b.propose(Making::clear("print(len(df))\n"));
    b.settle();
    b.keys("a");
    let text = b.draw();
    assert!(
        text.contains("GRANT?") && text.contains("print(len(df))"),
        "{text}"
    );
}

#[test]
fn a_file_name_cannot_pass_for_words_of_the_screen() {
    let mut b = Bench::new(120, 40);
    let mut making = Making::more_than_it_says();
    for place in &mut making.places {
        if !place.files.is_empty() {
            place.files = vec!["x  NET none  RUNS none".to_owned()];
        }
    }
    b.propose(making);
    let text = b.settle();
    assert!(
        text.contains("WRITES  \"x  NET none  RUNS none\" line 4"),
        "{text}"
    );
}

#[test]
fn unfolding_the_sheet_shows_other_rows_that_must_be_seen() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::more_than_it_says());
    b.settle();
    b.open_sheet();
    assert!(b.ui.sheet().unwrap().missing().is_none());
    b.keys("i");
    b.draw();
    assert!(b.ui.sheet().unwrap().missing().is_some());
    b.keys("4f1c");
    b.advance(400);
    b.press(KeyCode::Enter);
    assert!(grants(&b).is_empty());
    // The grace begins anew with the other rows.
    b.keys("i");
    b.draw();
    b.advance(SHEET_GRACE.as_millis() as u64);
    b.look();
    b.press(KeyCode::PageDown);
    b.look();
    b.advance(2_000);
    b.keys("4f1c");
    b.advance(400);
    b.press(KeyCode::Enter);
    assert_eq!(grants(&b).len(), 1);
}

#[test]
fn brackets_go_from_finding_to_finding_and_effect_to_effect() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::more_than_it_says());
    b.settle();
    let mut said = Vec::new();
    for _ in 0..8 {
        b.keys("]");
        b.draw();
        said.push(notice(&b));
    }
    assert_eq!(
        said,
        [
            "1/7 line 2: reads private df",
            "2/7 line 3: reads private df",
            "3/7 line 4: reads private df",
            "4/7 line 4: writes to_csv",
            "5/7 line 5: EXEC001 evaluates-text",
            "6/7 line 5: runs os.system",
            "7/7 line 5: network: curl",
            "1/7 line 2: reads private df",
        ]
    );
    b.keys("[");
    assert!(notice(&b).starts_with("7/7"));
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("x = 1\n"));
    b.settle();
    b.keys("]");
    assert_eq!(notice(&b), "no finding and no effect in this code");
}

#[test]
fn the_finding_at_hand_is_shown_with_its_rules_example() {
    at_sizes("finding_at_hand", |b| {
        let code: String = (1..=60).map(|i| format!("x{i} = {i}\n")).collect();
        let at = |line| finding(line, "DYN003", Severity::Medium, Does::Flag);
        b.propose(Making {
            findings: vec![at(3), at(40), at(58)],
            kind: VerdictKind::Flagged,
            ..Making::clear(&code)
        });
        b.settle();
        b.keys("]]]");
        b.draw();
    });
}

#[test]
fn the_palette_finds_commands_and_does_what_their_keys_do() {
    at_sizes("palette", |b| {
        b.propose(Making::flagged());
        b.settle();
        b.keys(":pan");
        b.press(KeyCode::Down);
    });
    let mut b = Bench::new(80, 24);
    b.propose(Making::flagged());
    b.settle();
    b.keys(":policies");
    b.press(KeyCode::Enter);
    assert!(b.draw().contains("POLICIES"));
    b.keys("1:audit");
    b.press(KeyCode::Esc);
    assert!(b.draw().contains("CODE"));
    // Granting opens the sheet, as its key does, and the palette confirms nothing.
    b.settle();
    b.keys(":grant");
    b.press(KeyCode::Enter);
    assert!(b.ui.sheet().is_some() && grants(&b).is_empty());
}

#[test]
fn the_palette_cannot_grant_what_was_not_seen() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(80)));
    b.settle();
    b.keys(":grant");
    b.press(KeyCode::Enter);
    assert!(b.ui.sheet().is_none());
    assert!(notice(&b).contains("not seen"), "{}", notice(&b));
}

#[test]
fn the_queue_is_ordered_as_asked() {
    let mut b = Bench::new(120, 40);
    let titled = |title: &str, agent: &'static str, ttl_s| Making {
        title: Some(title.to_owned()),
        agent: Some(agent),
        ttl_s,
        ..Making::clear(&format!("{title} = 1\n"))
    };
    b.propose(titled("first", "zed", 900));
    b.propose(titled("second", "amy", 600));
    b.propose(Making {
        kind: VerdictKind::Flagged,
        ..titled("third", "mia", 1_200)
    });
    b.propose(Making {
        private: true,
        ..titled("fourth", "bob", 1_500)
    });
    b.settle();
    let order = |b: &mut Bench| {
        let text = b.draw();
        let rows = text
            .lines()
            .skip(2)
            .filter_map(|line| line.split('│').next());
        let rows: Vec<&str> = rows.filter(|row| row.contains(':')).collect();
        let title = |row: &&str| row.split_whitespace().nth(3).unwrap_or_default().to_owned();
        rows.iter().map(title).collect::<Vec<_>>()
    };
    assert_eq!(order(&mut b), ["first", "second", "third", "fourth"]);
    for (by, wanted) in [
        ("by deadline", ["second", "first", "third", "fourth"]),
        ("by severity", ["third", "fourth", "first", "second"]),
        ("by agent", ["second", "fourth", "third", "first"]),
        ("by arrival", ["first", "second", "third", "fourth"]),
    ] {
        b.keys("s");
        assert_eq!(notice(&b), format!("the queue is ordered {by}"));
        assert_eq!(order(&mut b), wanted, "{by}");
    }
}

#[test]
fn a_new_run_shows_its_output_whatever_pane_was_open() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("print(1)\n"));
    b.settle();
    b.focus_on(super::ui::Pane::Says);
    b.draw();
    let id = b.start();
    b.output(id, StreamName::Stdout, "forty-two\n");
    assert!(b.draw().contains("forty-two"));
}

#[test]
fn without_colours_every_tab_stop_looks_different() {
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
        let mut b = Bench::new(columns, rows);
        b.propose(Making::flagged());
        b.settle();
        let mut frames = vec![b.draw()];
        for _ in 0..6 {
            b.press(KeyCode::Tab);
            frames.push(b.draw());
        }
        for (i, frame) in frames.iter().enumerate() {
            assert!(
                !frames[..i].contains(frame),
                "{columns}x{rows} stop {i}:\n{frame}"
            );
        }
    }
}

#[test]
fn esc_1_and_u_lead_back_to_the_queue() {
    for back in [KeyCode::Esc, KeyCode::Char('1'), KeyCode::Char('u')] {
        let mut b = Bench::new(120, 40);
        b.propose(Making::flagged());
        b.settle();
        b.focus_on(super::ui::Pane::Given);
        b.press(back);
        assert_eq!(b.ui.queue.focus, super::ui::Pane::Queue, "{back:?}");
    }
}

#[test]
fn what_ended_by_itself_is_told_on_return() {
    use crossterm::event::Event as Input;
    let mut b = Bench::new(80, 24);
    for _ in 0..2 {
        b.propose(Making {
            ttl_s: 30,
            ..Making::clear("x = 1\n")
        });
    }
    b.propose(Making::clear("y = 1\n"));
    b.settle();
    b.input(&Input::FocusLost);
    b.tick(60_000);
    b.input(&Input::FocusGained);
    assert_eq!(notice(&b), "while you were away: 2 expired");
    // Nothing happened since.
    b.input(&Input::FocusLost);
    b.tick(1_000);
    b.keys("j");
    b.input(&Input::FocusGained);
    assert!(!notice(&b).contains("away"), "{}", notice(&b));
}

#[test]
fn everything_of_one_agent_is_denied_with_one_reason_and_nothing_of_another() {
    at_sizes("deny_all", |b| {
        for _ in 0..3 {
            b.propose(Making::flagged());
        }
        b.settle();
        b.deny_all("ask first");
    });
    at_sizes("deny_all_question", |b| {
        for _ in 0..3 {
            b.propose(Making::flagged());
        }
        b.settle();
        b.keys("D");
    });
    let mut b = Bench::new(80, 24);
    let first = b.propose(Making::flagged());
    let other = b.propose(Making::clear("x = 1\n"));
    let second = b.propose(Making::flagged());
    b.settle();
    b.deny_all("ask first");
    b.press(KeyCode::Enter);
    b.carry_out();
    let state = |id| b.state.entry(id).unwrap().state();
    assert_eq!(state(first), State::Denied);
    assert_eq!(state(second), State::Denied);
    assert_eq!(state(other), State::Pending);
    let reason = b
        .state
        .entry(second)
        .unwrap()
        .decision()
        .unwrap()
        .reason
        .clone();
    assert_eq!(reason.as_deref(), Some("ask first"));
    // The selection went on, and nothing of the denied agent is left.
    assert_eq!(b.ui.selected(), Some(other));
    b.keys("k");
    b.press(KeyCode::Down);
    b.press(KeyCode::Down);
    b.keys("D");
    assert!(b.draw().contains("nothing of etl-bot waits"));
    b.press(KeyCode::Enter);
    assert_eq!(notice(&b), "nothing of this agent is pending");
}

fn three_of_one(b: &mut Bench) {
    for _ in 0..3 {
        b.propose(Making::flagged());
    }
    b.settle();
}

#[test]
fn keys_typed_by_mistake_behind_the_key_that_denies_all_deny_nothing() {
    let mut b = Bench::new(80, 24);
    three_of_one(&mut b);
    b.keys("D");
    assert!(b.draw().contains("Deny all 3 of etl-bot?  y goes on"));
    // A word with the answering letter in it is no answer.
    b.keys("why so many");
    b.press(KeyCode::Enter);
    assert!(b.draw().contains("Deny all 3 of etl-bot?"), "{}", b.draw());
    b.advance(250);
    b.press(KeyCode::Esc);
    assert!(b.actions.is_empty() && b.ui.prompt().is_none());
    b.deny_all("not now");
    b.press(KeyCode::Enter);
    assert_eq!(b.actions.len(), 3);
}

#[test]
fn what_comes_after_the_question_is_not_denied_with_the_others() {
    let mut b = Bench::new(80, 24);
    three_of_one(&mut b);
    b.deny_all("not now");
    let later = b.propose(Making::flagged());
    assert!(b.draw().contains("deny all 3 of etl-bot"));
    b.press(KeyCode::Enter);
    assert_eq!(notice(&b), "1 of etl-bot came later and waits");
    b.carry_out();
    assert_eq!(b.state.pending_count(), 1);
    assert_eq!(b.state.entry(later).unwrap().state(), State::Pending);
}

#[test]
fn the_only_proposal_of_an_agent_is_denied_without_a_question() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::flagged());
    b.settle();
    b.keys("Dno");
    assert!(b.draw().contains("deny the only one of etl-bot"));
    b.press(KeyCode::Enter);
    assert_eq!(b.actions.len(), 1);
}

#[test]
fn proposals_that_differ_in_numbers_only_are_told_and_marked() {
    let mut b = Bench::new(120, 40);
    for limit in [100, 101, 250] {
        b.propose(Making::clear(&format!("print(df[df.x > {limit}])\n")));
    }
    b.propose(Making::clear("print(df[df.y > 100])\n"));
    let text = b.settle();
    assert!(
        text.contains("≈ 2 more: 100, 101, ▲ 250; = opens"),
        "{text}"
    );
    assert!(text.contains("├ 2 alike: 100 … ▲ 250; = opens"), "{text}");
    b.keys("=");
    let text = b.draw();
    let marked = text.lines().filter(|line| line.starts_with("│●≈"));
    assert_eq!(marked.count(), 2, "{text}");
    // Each is decided by itself: granting one grants no other.
    b.start();
    assert_eq!(b.state.pending_count(), 3);
    b.keys("G");
    assert!(!b.settle().contains("more wait"));
}

#[test]
fn new_never_ends_a_row_without_its_answer() {
    for columns in 50..=140 {
        for making in [Making::more_than_it_says(), Making::flagged()] {
            let mut b = Bench::new(columns, 24);
            b.propose(making);
            let screen = b.settle();
            assert!(columns < 80 || screen.contains(" NEW "), "{screen}");
            for row in screen.lines() {
                let row = row.trim_end_matches([' ', '│']);
                assert!(!row.ends_with(" NEW"), "{columns}: {screen}");
            }
        }
    }
}
