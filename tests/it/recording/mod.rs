//! README's pictures and recording, made from a real run: a dashboard in a terminal, agents that
//! connect to its socket, and keys.
//!
//! `assets/demo.cast` is the source. The pictures are drawn from it, and a new run must show the
//! same frames except for values that change from run to run and from machine to machine (`fixed`).
//! `CS_WRITE_PICTURES=1 cargo test --test it recording` regenerates all three files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cast;
use crate::common;
mod fixed;
mod frame;
mod scene;
mod svg;

use std::path::{Path, PathBuf};

use frame::Shot;

fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets")
        .join(name)
}

fn writes() -> bool {
    std::env::var_os("CS_WRITE_PICTURES").is_some_and(|v| !v.is_empty())
}

/// The recording as it is in the repository.
fn recorded() -> Vec<Shot> {
    let text = std::fs::read_to_string(asset("demo.cast")).unwrap_or_default();
    cast::read(&text)
}

/// The pictures that README shows, by their file names.
fn pictures(shots: &[Shot]) -> [(&'static str, String); 2] {
    [
        (
            "dashboard.svg",
            svg::still(&[&shots[scene::RESULT].frame, &shots[scene::SHEET].frame]),
        ),
        ("demo.svg", svg::moving(shots, scene::CHART)),
    ]
}

#[test]
fn readme_shows_what_a_run_of_today_shows() {
    if !scene::available() {
        return;
    }
    let played = scene::play();
    if writes() {
        std::fs::write(asset("demo.cast"), cast::write(&played)).unwrap();
        for (name, picture) in pictures(&played) {
            std::fs::write(asset(name), picture).unwrap();
        }
    }
    let recorded = recorded();
    let captions = |shots: &[Shot]| shots.iter().map(|s| s.caption.clone()).collect::<Vec<_>>();
    assert_eq!(captions(&recorded), captions(&played), "{ANEW}");
    for (old, new) in recorded.iter().zip(&played) {
        let differs = fixed::difference(&old.frame, &new.frame);
        assert!(
            differs.is_none(),
            "{:?}: {}; {ANEW}",
            old.caption,
            differs.unwrap()
        );
    }
}

#[test]
fn the_pictures_are_drawn_from_the_recording() {
    if writes() {
        return; // The other test writes them meanwhile.
    }
    for (name, picture) in pictures(&recorded()) {
        let current = std::fs::read_to_string(asset(name)).unwrap_or_default();
        assert!(
            current == picture,
            "assets/{name} is not drawn from assets/demo.cast; {ANEW}"
        );
    }
}

#[test]
fn the_recording_and_the_pictures_are_small_enough_for_a_page() {
    if writes() {
        return;
    }
    for name in ["demo.cast", "dashboard.svg", "demo.svg"] {
        let bytes = std::fs::metadata(asset(name)).unwrap().len();
        assert!(bytes <= 300_000, "assets/{name} has {bytes} bytes");
    }
}

const ANEW: &str = "CS_WRITE_PICTURES=1 cargo test --test it recording";
