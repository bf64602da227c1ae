//! Figures and files of a run: drawn, opened, saved, copied.

use crossterm::event::KeyCode;

use crate::figure::{Small, Undrawn};
use crate::model::{Artifact, Digest, ProposalId, file_name};

use super::action::{Action, Saving};
use super::bench::{Bench, Making, notice, run};
use super::caps::{Background, Depth, TerminalCaps};
use super::screen::copied;
use super::snapshot_tests::at_sizes;
use super::theme::Themes;
use super::ui::Pane;

fn file(name: &str, media_type: &str) -> Artifact {
    Artifact {
        name: name.to_owned(),
        media_type: media_type.to_owned(),
        bytes: 1_234,
        sha256: Digest::of(name.as_bytes()).hex(),
    }
}

/// A run that left these files and whose end is in the log.
fn left(b: &mut Bench, files: Vec<Artifact>) -> ProposalId {
    b.propose(Making::clear("plt.plot(x)\nplt.show()\n"));
    let id = b.start();
    let mut ended = run("done\n");
    ended.artifacts = files;
    b.end(id, ended);
    id
}

/// A white picture with a dark diagonal.
fn small() -> Small {
    let (wide, high) = (96, 64);
    let pixel = |x: usize, y: usize| match (x * high).abs_diff(y * wide) < 3 * wide {
        true => [20, 60, 160],
        false => [255, 255, 255],
    };
    let all = (0..high).flat_map(|y| (0..wide).map(move |x| (x, y)));
    Small {
        wide,
        high,
        rgb: all.flat_map(|(x, y)| pixel(x, y)).collect(),
        of: (960, 640),
    }
}

#[test]
fn a_figure_is_asked_for_once_its_end_is_in_the_log_and_once() {
    let mut b = Bench::new(120, 40);
    left(
        &mut b,
        vec![file("fig1.png", "image/png"), file("a.csv", "text/csv")],
    );
    assert_eq!(b.ui.wants_figures(&b.state), [Digest::of(b"fig1.png")]);
    assert_eq!(b.ui.wants_figures(&b.state), []);
    assert!(b.draw().contains("fig1.png  being read"));
}

#[test]
fn a_figure_is_drawn_below_the_output() {
    at_sizes("figure", |b| {
        left(
            b,
            vec![file("fig1.png", "image/png"), file("fig2.png", "image/png")],
        );
        b.ui.wants_figures(&b.state);
        b.ui.set_figure(Digest::of(b"fig2.png"), Ok(small()));
        b.ui.set_figure(Digest::of(b"fig1.png"), Err(Undrawn::TooLarge));
        b.focus_on(Pane::Output);
    });
}

#[test]
fn figures_that_are_not_drawn_are_counted() {
    let mut b = Bench::new(120, 60);
    let files = (1..=6).map(|n| file(&format!("fig{n}.png"), "image/png"));
    left(&mut b, files.collect());
    assert_eq!(b.ui.wants_figures(&b.state).len(), 4);
    b.focus_on(Pane::Output);
    let text = b.draw();
    assert!(text.contains("2 more figures: S saves"), "{text}");
}

#[test]
fn a_figure_has_half_blocks_in_colours_and_dots_without() {
    for (depth, drawn, not) in [
        (Depth::True, '▀', '⠉'),
        (Depth::Palette, '▀', '⠉'),
        (Depth::Sixteen, '⠈', '▀'),
        (Depth::None, '⠈', '▀'),
    ] {
        let mut b = Bench::new(120, 40);
        let caps = TerminalCaps {
            depth,
            background: Background::Dark,
        };
        b.ui.set_themes(Themes::new("auto", caps).unwrap());
        left(&mut b, vec![file("fig1.png", "image/png")]);
        b.ui.wants_figures(&b.state);
        b.ui.set_figure(Digest::of(b"fig1.png"), Ok(small()));
        let text = b.draw();
        let braille = text.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c));
        assert_eq!(braille, drawn != '▀', "{depth:?} {not}: {text}");
        assert_eq!(text.contains('▀'), drawn == '▀', "{depth:?}: {text}");
    }
}

#[test]
fn o_opens_the_only_file_and_asks_which_of_several() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("print(1)\n"));
    b.settle();
    b.keys("o");
    assert_eq!(notice(&b), "no file of a run is here");
    let one = file("fig1.png", "image/png");
    left(&mut b, vec![one.clone()]);
    assert_eq!(b.keys("o"), [Action::Open(one)]);
    let mut b = Bench::new(80, 24);
    let files = vec![file("a.csv", "text/csv"), file("b.csv", "text/csv")];
    left(&mut b, files.clone());
    b.keys("o");
    assert!(b.draw().contains("open which file, 1 to 2: 1"));
    b.press(KeyCode::Backspace);
    b.keys("b.csv");
    assert_eq!(b.press(KeyCode::Enter), [Action::Open(files[1].clone())]);
    b.keys("o");
    b.keys("7");
    assert_eq!(b.press(KeyCode::Enter), []);
    assert!(notice(&b).contains("1 to 2"));
}

#[test]
fn the_prompt_counts_what_will_be_saved() {
    let mut b = Bench::new(80, 24);
    left(
        &mut b,
        vec![file("a.csv", "text/csv"), file(".bashrc", "text/plain")],
    );
    b.keys("S");
    let text = b.draw();
    assert!(text.contains("save 1 of 2 files into: ~/"), "{text}");
    assert!(
        text.contains("\".bashrc\" (a name that programs read"),
        "{text}"
    );
    let mut b = Bench::new(80, 24);
    left(&mut b, vec![file(".bashrc", "text/plain")]);
    b.keys("S");
    assert!(b.ui.prompt().is_none());
    assert!(
        notice(&b).starts_with("nothing can be saved: each file has a name that programs read")
    );
}

#[test]
fn files_are_saved_where_a_person_says_and_the_folder_is_remembered() {
    let mut b = Bench::new(80, 24);
    let files = vec![file("a.csv", "text/csv"), file("b.csv", "text/csv")];
    let id = left(&mut b, files.clone());
    b.keys("S");
    assert!(b.draw().contains("save 2 files into: ~/"));
    b.keys("runs");
    let title = b.state.entry(id).unwrap().proposal.title.clone();
    let asked = Action::Save(Saving {
        files,
        folder: "~/runs".to_owned(),
        own: file_name::folder_for(title.as_deref(), id),
    });
    assert_eq!(b.press(KeyCode::Enter), [asked]);
    b.keys("S");
    assert!(b.draw().contains("into: ~/runs"));
    b.press(KeyCode::Esc);
}

#[test]
fn the_names_stand_above_the_field_before_anything_is_saved() {
    at_sizes("save_prompt", |b| {
        let mut files = vec![file("out/by_dept.csv", "text/csv")];
        files.extend((1..=9).map(|n| file(&format!("figure{n}.png"), "image/png")));
        for name in [
            ".bash_profile",
            ".config/autostart/x.desktop",
            ".ssh/authorized_keys",
        ] {
            files.push(file(name, "text/plain"));
        }
        left(b, files);
        b.keys("S");
        let text = b.draw();
        assert!(text.contains("not saved: \".bash_profile\""), "{text}");
    });
}

#[test]
fn a_copy_has_marks_instead_of_what_a_terminal_obeys() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("print('\u{1b}[2J\u{202e}')\n"));
    b.settle();
    assert_eq!(b.keys("c"), [Action::Copy]);
    let code = copied(&b.state, &b.ui, &b.facts, b.now);
    // A shell could run a last line that has an end.
    assert_eq!(code.text, "print('␛[2J\\u{202E}')");
    let said = code.notice(true);
    assert!(
        said.contains("of CODE to the terminal's clipboard"),
        "{said}"
    );
    let id = b.start();
    b.end(id, run("a\tb\x07\nc\n"));
    for pane in [Pane::Output, Pane::Outcome] {
        b.focus_on(pane);
        let text = copied(&b.state, &b.ui, &b.facts, b.now).text;
        assert!(
            text.chars().all(|c| c == '\n' || !c.is_control()),
            "{text:?}"
        );
        assert!(text.lines().count() >= 2 && !text.ends_with('\n'), "{text}");
    }
}

#[test]
fn a_long_copy_is_cut_and_says_so() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("print(1)\n"));
    let id = b.start();
    b.end(id, run(&"漢 line\n".repeat(20_000)));
    b.focus_on(Pane::Output);
    let text = copied(&b.state, &b.ui, &b.facts, b.now);
    assert!(text.text.len() <= 55_000 && text.text.len() > 54_000);
    assert!(
        text.notice(true).starts_with("sent the first 54,9"),
        "{}",
        text.notice(true)
    );
    assert_eq!(text.notice(false), crate::tui::words::NO_CLIPBOARD);
}

#[test]
fn files_that_were_thrown_away_are_said_to_be() {
    for (withheld, said) in [
        (0, "this run left no file"),
        (1, "its file was thrown away: private data was given"),
        (2, "its 2 files were thrown away: private data was given"),
    ] {
        let mut b = Bench::new(80, 24);
        b.propose(Making::clear("print(1)\n"));
        let id = b.start();
        b.end(
            id,
            crate::model::Run {
                artifacts_withheld: withheld,
                ..run("")
            },
        );
        for key in ["o", "S"] {
            b.keys(key);
            assert_eq!(notice(&b), said, "{key}");
        }
    }
}
