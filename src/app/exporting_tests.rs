//! Exports into folders.

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::audit::{Store, open};

fn wanted(folder: &Path, format: ExportAs) -> Exporting {
    Exporting {
        query: String::new(),
        format,
        folder: folder.display().to_string(),
    }
}

fn source(state: &Path) -> Source {
    Source {
        state_dir: state.to_owned(),
        checkpoints: Store::beside(state),
        apart: None,
        sealed: Default::default(),
    }
}

fn log() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    drop(open(&dir.path().join("state")).unwrap());
    dir
}

#[test]
fn an_export_goes_into_a_new_folder_for_its_owner_alone_and_over_nothing() {
    let dir = log();
    let source = source(&dir.path().join("state"));
    let folder = dir.path().join("out");
    let said = write(
        &source,
        &wanted(&folder, ExportAs::Csv),
        &folder,
        &Going::default(),
    )
    .unwrap();
    assert!(
        said.starts_with("wrote proposals.csv, 0 proposals with 0 records, into "),
        "{said}"
    );
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join("proposals.csv")), 0o600);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    let again = write(
        &source,
        &wanted(&folder, ExportAs::Records),
        &folder,
        &Going::default(),
    )
    .unwrap_err();
    assert!(
        again.contains("is there already, and nothing is overwritten"),
        "{again}"
    );
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn a_link_in_the_folders_place_is_not_followed() {
    let dir = log();
    let source = source(&dir.path().join("state"));
    let (link, target) = (dir.path().join("link"), dir.path().join("target"));
    fs::create_dir(&target).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let refused = write(
        &source,
        &wanted(&link, ExportAs::Csv),
        &link,
        &Going::default(),
    )
    .unwrap_err();
    assert!(refused.contains("is there already"), "{refused}");
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
}

#[test]
fn nothing_goes_into_the_folder_of_the_log_itself() {
    let dir = log();
    let state = dir.path().join("state");
    let source = source(&state);
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&state, &link).unwrap();
    let before = fs::read_dir(&state).unwrap().count();
    for folder in [
        state.clone(),
        state.join("out"),
        state.join("log/out"),
        state.join("new/out"),
        link.join("out"),
        state.join("log/../out"),
    ] {
        let refused = write(
            &source,
            &wanted(&folder, ExportAs::Csv),
            &folder,
            &Going::default(),
        )
        .unwrap_err();
        assert!(
            refused.contains("inside the folder of the log itself"),
            "{refused}"
        );
    }
    assert_eq!(fs::read_dir(&state).unwrap().count(), before);
    let beside = dir.path().join("state-2");
    write(
        &source,
        &wanted(&beside, ExportAs::Csv),
        &beside,
        &Going::default(),
    )
    .unwrap();
}

#[test]
fn what_cannot_be_whole_leaves_nothing() {
    let dir = log();
    let source = source(&dir.path().join("state"));
    let folder = dir.path().join("out");
    let refused = write(
        &source,
        &wanted(&folder, ExportAs::Bundle),
        &folder,
        &Going::default(),
    )
    .unwrap_err();
    assert!(refused.contains("no checkpoint yet"), "{refused}");
    assert!(!folder.exists());
    let own = Own::make(&folder).unwrap();
    for name in ["a/b/c", "a/d", "e.unfinished"] {
        own.file(name).unwrap().write_all(b"x").unwrap();
    }
    assert!(own.file("a/d").is_err(), "nothing is written over");
    own.remove();
    assert!(!folder.exists());
}

#[test]
fn one_that_is_stopped_leaves_nothing() {
    let dir = log();
    let source = source(&dir.path().join("state"));
    let folder = dir.path().join("out");
    let going = Going::stopped();
    let stopped = write(&source, &wanted(&folder, ExportAs::Csv), &folder, &going).unwrap_err();
    assert_eq!(stopped, "it was stopped");
    assert!(!folder.exists());
    assert!(matches!(going.goes(), ExportGoes::Reads { .. }));
}
