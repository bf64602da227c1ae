//! The styles, at every colour depth, dark and light: of each state one size, because the roles are the same at all.

use crossterm::event::KeyCode;

use super::bench::*;
use super::contrast_tests::assert_readable;
use super::snapshot_tests::{audit_page, snap};
use super::ui::Pane;
use super::{Background, Depth, TerminalCaps};
use crate::model::{RunErrorKind, StreamName};

/// Marks for hostile text stay visible in selected rows and under the cursor.
#[test]
fn marks() {
    for (name, depth) in [("none", Depth::None), ("true_dark", Depth::True)] {
        let background = Background::Dark;
        let mut bench = Bench::with_caps(80, 24, TerminalCaps { depth, background });
        bench.propose(Making {
            agent: Some("bot\u{202e}"),
            ..Making::clear("x = 1 # \x1b[2K\u{200b}\n")
        });
        bench.settle();
        bench.press(KeyCode::Enter);
        bench.draw();
        snap(&format!("marks_{name}_80x24"), &bench.styled());
        assert_readable(&mut bench);
    }
}

/// The styles of a state in these palettes.
fn styles(name: &str, caps: &[(&str, Depth, Background)], make: impl Fn(&mut Bench)) {
    for (palette, depth, background) in caps {
        let (depth, background) = (*depth, *background);
        let mut bench = Bench::with_caps(80, 24, TerminalCaps { depth, background });
        make(&mut bench);
        bench.draw();
        snap(&format!("{name}_{palette}_80x24"), &bench.styled());
        assert_readable(&mut bench);
    }
}

const ALL: [(&str, Depth, Background); 5] = [
    ("none", Depth::None, Background::Unknown),
    ("16", Depth::Sixteen, Background::Unknown),
    ("256_dark", Depth::Palette, Background::Dark),
    DARK,
    LIGHT,
];
const DARK: (&str, Depth, Background) = ("true_dark", Depth::True, Background::Dark);
const LIGHT: (&str, Depth, Background) = ("true_light", Depth::True, Background::Light);
/// Without colours, dark and light.
const THREE: [(&str, Depth, Background); 3] = [ALL[0], DARK, LIGHT];

#[test]
fn colours() {
    styles("colours", &ALL, |b| {
        b.propose(Making::flagged());
        b.propose(Making::clear("x = 1\n"));
        b.settle();
        b.press(KeyCode::Enter);
        b.colour();
    });
}

#[test]
fn colours_of_the_sheet() {
    styles("colours_sheet", &THREE, |b| {
        b.propose(Making {
            private: true,
            ..Making::flagged()
        });
        b.settle();
        b.read();
        b.open_sheet();
        b.keys("4f");
    });
}

#[test]
fn colours_of_a_run() {
    styles("colours_run", &THREE, |b| {
        b.propose(Making::clear("print(1 / 0)\n"));
        let id = b.start();
        b.output(id, StreamName::Stdout, "one\n");
        b.output(id, StreamName::Stderr, "a warning\n");
        b.end(id, failed(RunErrorKind::SnippetError, "division by zero"));
        b.focus_on(Pane::Outcome);
    });
}

#[test]
fn colours_of_the_log() {
    styles("colours_log", &THREE, |b| {
        b.keys("2");
        b.ui.set_audit(audit_page());
        b.draw();
        b.keys("j");
    });
}

#[test]
fn colours_of_policies_and_agents() {
    styles("colours_agents", &THREE, |b| {
        b.propose(Making::flagged());
        b.keys("3");
    });
}
