//! `countersign audit` in a real terminal: a log that is only read, of which nothing changes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use countersign::audit;
use countersign::model::{Blob, LogEvent, ProposalId, StreamName, Ticket};
use serde_json::json;

use crate::common::dash::{Dash, Options};
use crate::samples;

/// Writes events, each once the one before it is on disk.
fn written(state: &Path, events: Vec<(LogEvent, Vec<Blob>)>) {
    let (tell, told) = mpsc::channel();
    let opened = audit::open(state).unwrap();
    let handle = opened
        .writer
        .start(Box::new(move |e| tell.send(e).unwrap()));
    for (event, blobs) in events {
        handle.submit(Ticket::Core(1), event, blobs);
        told.recv().unwrap();
    }
    handle.close();
}

/// A log of one proposal that ran and one that was denied, as a dashboard leaves it.
fn log(state: &Path) {
    let ids = [ProposalId::new(), ProposalId::new()];
    let events = vec![
        samples::proposed(ids[0], "the first"),
        (samples::granted(ids[0]), Vec::new()),
        (samples::started(ids[0]), Vec::new()),
        samples::finished(ids[0]),
        samples::proposed(ids[1], "the second"),
        (samples::denied(ids[1]), Vec::new()),
    ];
    written(state, events);
}

/// A log of a run that printed one line, ten minutes later another, and half a second later the last.
fn paced(state: &Path) {
    let id = ProposalId::new();
    let (mut event, _) = samples::finished(id);
    let out = Blob::of(b"begins\ngoes on\nends\n");
    if let LogEvent::Finished(f) = &mut event {
        (f.stdout_sha256, f.stdout_bytes) = (out.sha256, out.bytes.len() as u64);
        for (ms, bytes) in [(0, 7), (600_000, 8), (600_500, 5)] {
            f.pace.push(ms, StreamName::Stdout, bytes);
        }
    }
    let events = vec![
        samples::proposed(id, "a long run"),
        (samples::granted(id), Vec::new()),
        (samples::started(id), Vec::new()),
        (event, vec![out, Blob::of(b"")]),
    ];
    written(state, events);
}

/// What a file or folder is: its bytes, its mode, and when it was changed.
type Is = (Vec<u8>, u32, i64, i64);

/// Every file and folder below a folder, and the folder itself.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Is> {
    let is = |path: &Path, bytes| {
        let meta = fs::symlink_metadata(path).unwrap();
        (bytes, meta.mode(), meta.ctime(), meta.ctime_nsec())
    };
    let mut all = BTreeMap::from([(folder.to_owned(), is(folder, Vec::new()))]);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(tree(&path)),
            false => {
                let bytes = fs::read(&path).unwrap();
                all.insert(path.clone(), is(&path, bytes));
            }
        }
    }
    all
}

fn copy(from: &Path, to: &Path) {
    let done = std::process::Command::new("cp")
        .arg("-r")
        .args([from, to])
        .status();
    assert!(done.unwrap().success());
}

/// Opens the review screen on a state folder.
fn open(state: &Path, more: &[&str], size: (u16, u16)) -> Dash {
    let state = state.to_str().unwrap();
    let args: Vec<&str> = ["audit", "--state-dir", state]
        .iter()
        .chain(more)
        .copied()
        .collect();
    Dash::launch(&Options {
        args: &args,
        size,
        ..Options::default()
    })
}

fn leave(mut review: Dash) {
    review.press("q");
    assert_eq!(review.wait_exit().exit_code(), 0);
    assert!(!review.socket.exists(), "it opened a socket");
}

#[test]
fn a_copied_log_is_read_with_all_its_screens_and_not_a_byte_of_it_changes() {
    let dir = tempfile::tempdir().unwrap();
    let (state, copied) = (dir.path().join("state"), dir.path().join("copied"));
    log(&state);
    copy(&state, &copied);
    let before = tree(&copied);
    let mut review = open(&copied, &[], (120, 40));
    let text = review.wait_text("AUDIT  2 proposals");
    assert!(
        text.contains("read only") && text.contains("copied"),
        "{text}"
    );
    review.wait_text("not anchored: a cut end cannot be excluded");
    review.press("F");
    review.wait_text("FACETS");
    review.press("F");
    review.press("B");
    review.wait_text("STATISTICS  2 proposals");
    review.press("B");
    review.press("/");
    review.wait_text("WHAT CAN STAND HERE");
    review.keys("state:succ\t");
    review.press("\r");
    review.wait_text("query: state:succeeded");
    review.press("\r");
    review.wait_text("TIMELINE");
    review.press("i");
    review.wait_text("The records, as they were written:");
    review.press("\x1b");
    review.press("\x1b");
    review.wait_text("AUDIT  2 proposals");
    let inside = copied.join("exported");
    let outside = review.root().join("exported");
    for (folder, said) in [
        (&inside, "is inside the folder of the log itself"),
        (&outside, "wrote records.jsonl"),
    ] {
        review.press("E");
        review.press("\x15");
        review.keys(folder.to_str().unwrap());
        review.press("\r");
        review.wait_text(said);
    }
    assert!(outside.join("records.jsonl").exists());
    leave(review);
    assert_eq!(tree(&copied), before);
}

#[test]
fn a_folder_that_cannot_be_written_is_read_as_well_and_no_private_index_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let (state, temporary) = (dir.path().join("state"), dir.path().join("tmp"));
    log(&state);
    fs::create_dir(&temporary).unwrap();
    let all: Vec<PathBuf> = tree(&state).into_keys().collect();
    let set = |file: u32, folder: u32| {
        for path in all.iter().rev() {
            let mode = if path.is_dir() { folder } else { file };
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    set(0o444, 0o555);
    let before = tree(&state);
    let args = ["audit", "--state-dir", state.to_str().unwrap()];
    let mut review = Dash::launch(&Options {
        args: &args,
        env: &[("TMPDIR", temporary.to_str().unwrap())],
        ..Options::default()
    });
    review.wait_text("AUDIT  2 proposals");
    review.wait_text("one was made in a private place");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 1);
    review.press("\r");
    review.wait_text("TIMELINE");
    leave(review);
    assert_eq!(tree(&state), before);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    set(0o644, 0o755);
}

#[test]
fn beside_a_dashboard_it_follows_the_log_and_decides_nothing() {
    let dash = Dash::start();
    let mut agent = dash.agent();
    let mut propose = |title: &str| {
        let asked = json!({"code": "print(1)\n", "title": title, "agent": {"name": "etl"}});
        agent.propose(asked)["id"].clone()
    };
    let first = propose("the first");
    let mut review = open(&dash.state, &[], (120, 40));
    let text = review.wait_text("AUDIT  1 proposal");
    assert!(text.contains("the first"), "{text}");
    review.wait_text("a dashboard writes it");
    let second = propose("the second");
    review.wait_text("AUDIT  2 proposals");
    for key in ["a", "y", "d", "D", "x", "e", "1", "3", "u", "g", "g"] {
        review.press(key);
    }
    review.press_until("\r", "a page", |text| text.contains("TIMELINE"));
    for id in [&first, &second] {
        assert_eq!(agent.state(id), "pending");
    }
    leave(review);
    agent.call("withdraw", json!({"id": first}));
    assert_eq!(agent.outcome(&first)["state"], "withdrawn");
}

#[test]
fn a_small_terminal_shows_the_same_and_a_large_one_again() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    log(&state);
    let review = open(&state, &[], (120, 40));
    review.wait_text("AUDIT  2 proposals");
    review.resize(40, 10);
    let text = review.wait_for("a small screen", |_, text| {
        text.contains("read only") && !text.contains("countersign audit")
    });
    assert!(text.contains("AUDIT  2 proposals"), "{text}");
    review.resize(120, 40);
    review.wait_text("countersign audit");
    leave(review);
}

#[test]
fn what_of_a_damaged_log_can_be_read_is_shown_in_the_colour_of_alarms() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    for title in ["the first", "the second", "the third"] {
        let proposal = agent.propose(json!({"code": "print(1)\n", "title": title}));
        agent.call("withdraw", json!({"id": proposal["id"]}));
        assert_eq!(agent.outcome(&proposal["id"])["state"], "withdrawn");
    }
    dash.press("q");
    assert_eq!(dash.wait_exit().exit_code(), 0);
    let review = open(&dash.state, &[], (120, 40));
    review.wait_text("anchored through seq");
    leave(review);
    let segment = dash.state.join("log/00000001.jsonl");
    let whole = fs::read_to_string(&segment).unwrap();
    // A cut end is sound in itself.
    let mut lines: Vec<&str> = whole.lines().collect();
    lines.truncate(lines.len() - 2);
    fs::write(&segment, lines.join("\n") + "\n").unwrap();
    samples::unnoted(&dash.state);
    let mut review = open(&dash.state, &[], (120, 40));
    review.wait_text("CONTRADICTS ITS CHECKPOINT");
    review.wait_for("what is left of it, and why it is not all", |_, text| {
        let words = [
            "NOT THE LOG THAT WAS SIGNED",
            "countersign audit verify --state-dir",
            "the first",
        ];
        words.iter().all(|words| text.contains(words))
    });
    review.press("\r");
    review.wait_text("TIMELINE");
    leave(review);
    fs::write(&segment, whole.replace("the third", "THE THIRD")).unwrap();
    let mut review = open(&dash.state, &[], (120, 40));
    let text = review.wait_for("what stands before the damage", |_, text| {
        text.contains("✗ damaged") && text.contains("the first")
    });
    assert!(!text.contains("THE THIRD"), "{text}");
    review.press("\r");
    review.wait_text("TIMELINE");
    leave(review);
    // Nothing of it is a record.
    fs::write(&segment, [0xff; 4096]).unwrap();
    let review = open(&dash.state, &[], (120, 40));
    review.wait_text("✗ damaged");
    leave(review);
}

#[test]
fn lines_say_the_same_and_send_no_sequence() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    log(&state);
    let mut review = open(&state, &["--plain"], (100, 40));
    review.wait_text("a log that is only read");
    review.wait_text("AUDIT, 2 proposals");
    review.wait_text("not anchored: a cut end cannot be excluded");
    review.press("\r");
    review.wait_text("TIMELINE");
    review.press("a");
    review.wait_text("no key a here");
    let raw = review.raw();
    assert!(!raw.contains(&0x1b), "{}", String::from_utf8_lossy(&raw));
    leave(review);
}

#[test]
fn without_a_terminal_it_says_what_to_use() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    log(&state);
    let mut review = Dash::launch(&Options {
        args: &["audit", "--state-dir", state.to_str().unwrap()],
        env: &[("TERM", "dumb")],
        ..Options::default()
    });
    assert_eq!(review.wait_exit().exit_code(), 2);
    review.wait_text("TERM=dumb");
    for args in [&["audit"][..], &["audit", "--plain"]] {
        let output = review.cli(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains("countersign audit list [QUERY]"), "{error}");
    }
    let output = review.cli(&["audit", "--plain", "list"]);
    assert_eq!(output.status.code(), Some(2));
    let mut none = open(dir.path(), &[], (80, 24));
    assert_eq!(none.wait_exit().exit_code(), 1);
    none.wait_text("there is no audit log in");
}

#[test]
fn output_is_played_faster_slower_without_its_waits_and_not_while_it_is_paused() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    paced(&state);
    let mut review = open(&state, &[], (120, 40));
    review.wait_text("AUDIT  1 proposal");
    review.press("\r");
    review.wait_text("TIMELINE");
    review.press("\r");
    let text = review.wait_text("1×, playing, 0.0 s of 600.5 s");
    assert!(
        text.contains("begins") && !text.contains("goes on"),
        "{text}"
    );
    review.press("\x1b[C");
    review.wait_text("2×, playing");
    review.press("\x1b[D");
    review.press("\x1b[D");
    review.wait_text("0.5×, playing");
    review.press("\r");
    review.wait_text("0.5×, paused");
    review.press("\t");
    let text = review.wait_text("paused, 0.0 s of 600.5 s, waits cut to 1 s");
    assert!(!text.contains("goes on"), "{text}");
    review.press("\r");
    let text = review.wait_text("over, 600.5 s of 600.5 s");
    assert!(text.contains("goes on") && text.contains("ends"), "{text}");
    review.press("\t");
    review.wait_for("waits as they were", |_, text| {
        text.contains("over, 600.5 s") && !text.contains("waits cut")
    });
    review.press("\x1b[H");
    review.wait_text("playing, 0.0 s of 600.5 s");
    // The field of a search takes the letters; of commands, `q` would leave.
    review.press("/");
    review.wait_text("search the page");
    review.keys("quoque");
    review.press("\r");
    review.wait_text("not found");
    review.press("/");
    review.press("\x15");
    review.keys("goes on");
    review.press("\r");
    review.wait_text("goes on");
    leave(review);
}
