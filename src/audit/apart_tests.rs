//! An index in a private place: nothing is written into the state folder, and the answers are the same.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;

use super::super::query::Query;
use super::super::samples::{denied, proposed};
use super::super::written::write;
use super::super::{Answers, Log, open};
use super::*;
use crate::model::ProposalId;

/// Every file below a folder with its content and when it changed.
fn tree(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, Stamp)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(tree(&path)),
            false => drop(all.insert(
                path.clone(),
                (fs::read(&path).unwrap(), stamp(&path).unwrap()),
            )),
        }
    }
    all.insert(folder.to_owned(), (Vec::new(), stamp(folder).unwrap()));
    all
}

fn add(state: &Path, title: &str) {
    let id = ProposalId::new();
    let events = vec![proposed(id, title), (denied(id), Vec::new())];
    write(open(state).unwrap(), events);
}

fn titles(answers: &mut Answers) -> Vec<String> {
    let all = Query::parse("", Timestamp::now()).unwrap();
    let rows = answers.page(&all, 0, 10).unwrap();
    rows.into_iter().filter_map(|row| row.title).collect()
}

fn apart(state: &Path, place: &Arc<Apart>) -> Answers {
    Log::open(state)
        .unwrap()
        .apart(place.clone())
        .answers()
        .unwrap()
}

#[test]
fn an_index_apart_answers_as_one_beside_and_leaves_the_folder_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    add(&state, "first");
    let _ = fs::remove_dir_all(state.join("index"));
    let before = tree(&state);
    let place = Arc::new(Apart::new().unwrap());
    assert_eq!(place.stage(), Stage::None);
    assert_eq!(titles(&mut apart(&state, &place)), ["first"]);
    assert_eq!(place.stage(), Stage::Made);
    assert_eq!(tree(&state), before);
    // It follows the log, and is not made anew.
    add(&state, "second");
    let before = tree(&state);
    assert_eq!(titles(&mut apart(&state, &place)), ["second", "first"]);
    assert_eq!(tree(&state), before);
    let folder = place.folder().to_owned();
    assert!(folder.join("v1.sqlite3").exists());
    place.remove();
    assert!(!folder.exists());
}

#[test]
fn the_folders_own_index_is_copied_if_it_is_of_this_log_and_of_this_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    add(&state, "first");
    drop(Log::open(&state).unwrap().answers().unwrap());
    // Records that the copied index does not have yet.
    add(&state, "second");
    let before = tree(&state);
    let stage = |expected: Stage| {
        let place = Arc::new(Apart::new().unwrap());
        assert_eq!(titles(&mut apart(&state, &place)), ["second", "first"]);
        assert_eq!(place.stage(), expected);
    };
    stage(Stage::Copied);
    assert_eq!(tree(&state), before);
    let mode =
        |mode| fs::set_permissions(state.join("index"), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o755);
    stage(Stage::Made);
    mode(0o700);
    stage(Stage::Copied);
    let file = state.join("index/v1.sqlite3");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    stage(Stage::Made);
    // A copy of the folder is another log.
    let copy = dir.path().join("copy");
    fs::write(&file, &whole).unwrap();
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .args([&state, &copy])
        .status();
    assert!(copied.unwrap().success());
    fs::set_permissions(copy.join("index"), fs::Permissions::from_mode(0o700)).unwrap();
    let place = Arc::new(Apart::new().unwrap());
    assert_eq!(titles(&mut apart(&copy, &place)), ["second", "first"]);
    assert_eq!(place.stage(), Stage::Made);
}

#[test]
fn what_a_killed_process_left_is_removed_and_nothing_else() {
    let tmp = tempfile::tempdir().unwrap();
    let place = tmp.path();
    let (dead, theirs) = (place.join("countersign-index-dead"), place.join("other"));
    for folder in [&dead, &theirs] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("v1.sqlite3"), "x").unwrap();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    }
    std::os::unix::fs::symlink(&theirs, dead.join("link")).unwrap();
    std::os::unix::fs::symlink(&theirs, place.join("countersign-index-link")).unwrap();
    let open = place.join("countersign-index-open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(place.join("countersign-index-file"), "x").unwrap();
    let lives = Apart::new_in(place, Duration::ZERO).unwrap();
    assert!(!dead.exists(), "nobody locks it");
    for stays in [
        lives.folder(),
        &theirs.join("v1.sqlite3"),
        &place.join("countersign-index-link"),
        &open,
        &place.join("countersign-index-file"),
    ] {
        assert!(fs::symlink_metadata(stays).is_ok(), "{}", stays.display());
    }
    // One that lives is left alone, and so is one that was just made.
    let young = place.join("countersign-index-young");
    fs::create_dir(&young).unwrap();
    fs::set_permissions(&young, fs::Permissions::from_mode(0o700)).unwrap();
    let other = Apart::new_in(place, YOUNG).unwrap();
    assert!(lives.folder().exists() && other.folder().exists() && young.exists());
    drop(Apart::new_in(place, Duration::ZERO).unwrap());
    assert!(lives.folder().exists() && other.folder().exists() && !young.exists());
}
