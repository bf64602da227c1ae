//! What is read back is plainly the person's text, or nothing is.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

fn draft(code: &str) -> (tempfile::TempDir, Draft) {
    let state = tempfile::tempdir().unwrap();
    let draft = Draft::new(state.path(), ProposalId::new(), Some("A title"), code).unwrap();
    (state, draft)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_file_is_its_users_alone_and_is_removed_with_what_an_editor_left() {
    let (state, draft) = draft("print(1)\n");
    let path = draft.path();
    assert_eq!(path.file_name().unwrap(), "a-title.py");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(mode(&state.path().join("edits")), 0o700);
    assert_eq!(draft.read(100).unwrap(), "print(1)\n");
    fs::write(path.with_extension("py~"), "backup").unwrap();
    draft.remove();
    assert!(!path.parent().unwrap().exists());
}

#[test]
fn a_second_edit_of_the_same_proposal_has_another_folder() {
    let (state, id) = (tempfile::tempdir().unwrap(), ProposalId::new());
    let one = Draft::new(state.path(), id, None, "1").unwrap();
    let two = Draft::new(state.path(), id, None, "2").unwrap();
    assert_ne!(one.path(), two.path());
    assert_eq!(one.read(10).unwrap(), "1");
    assert_eq!(two.read(10).unwrap(), "2");
}

#[test]
fn a_file_that_was_replaced_by_its_name_is_read() {
    let (_state, draft) = draft("1\n");
    let other = draft.path().with_extension("new");
    fs::write(&other, "2\n").unwrap();
    fs::rename(&other, draft.path()).unwrap();
    assert_eq!(draft.read(10).unwrap(), "2\n");
}

#[test]
fn what_is_not_plainly_the_persons_text_is_not_taken() {
    type Spoil = fn(&Path);
    let cases: [(Spoil, &str); 8] = [
        (
            |path| {
                let other = path.with_extension("other");
                fs::rename(path, &other).unwrap();
                symlink(&other, path).unwrap();
            },
            "the file is a link or no regular file",
        ),
        (
            |path| fs::hard_link(path, path.with_extension("other")).unwrap(),
            "the file has a second name (a hard link)",
        ),
        (|path| fs::remove_file(path).unwrap(), "the file is gone"),
        (
            |path| {
                fs::remove_file(path).unwrap();
                nix::unistd::mkfifo(path, Mode::S_IRWXU).unwrap();
            },
            "the file is a link or no regular file",
        ),
        (
            |path| {
                fs::remove_file(path).unwrap();
                fs::create_dir(path).unwrap();
            },
            "the file is a link or no regular file",
        ),
        (
            |path| fs::write(path, "x".repeat(11)).unwrap(),
            "the code is longer than 10 bytes",
        ),
        (|path| fs::write(path, "").unwrap(), "the code is empty"),
        (
            |path| fs::write(path, [0xff]).unwrap(),
            "the text is not UTF-8",
        ),
    ];
    for (spoil, why) in cases {
        let (_state, draft) = draft("1\n");
        spoil(&draft.path());
        assert_eq!(draft.read(10).unwrap_err().to_string(), why);
    }
}

#[test]
fn a_folder_that_others_could_enter_is_not_used() {
    let state = tempfile::tempdir().unwrap();
    let edits = state.path().join("edits");
    fs::create_dir(&edits).unwrap();
    fs::set_permissions(&edits, fs::Permissions::from_mode(0o755)).unwrap();
    let made = Draft::new(state.path(), ProposalId::new(), None, "1");
    assert!(made.unwrap_err().to_string().contains("mode 0700"));
    fs::remove_dir(&edits).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), &edits).unwrap();
    assert!(Draft::new(state.path(), ProposalId::new(), None, "1").is_err());
}
