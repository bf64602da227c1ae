//! `audit export --bundle`: what a stranger can check and a person can read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use countersign::model::ProposalId;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::json;

use crate::common::dash::{Dash, Options};
use crate::proofs::{Signed, check, check_once, run_once, said};
use crate::samples;

impl Signed {
    /// Makes a bundle of what a question selects.
    fn bundle(&self, name: &str, query: &[&str]) -> (Option<i32>, String) {
        let to = self.path(name).display().to_string();
        let output = self.cli(&[&["audit", "export", "--bundle", &to], query].concat());
        (output.status.code(), said(&output))
    }
}

/// Every file of a bundle, by its path in it.
fn files(bundle: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for folder in ["", "proofs", "blobs"] {
        for entry in fs::read_dir(bundle.join(folder)).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                let name = entry.file_name().into_string().unwrap();
                all.push(Path::new(folder).join(name).display().to_string());
            }
        }
    }
    all.sort();
    all
}

/// Where a copy of a bundle can be changed.
fn copied(bundle: &Path, to: &Path) -> PathBuf {
    let _ = fs::remove_dir_all(to);
    for folder in ["proofs", "blobs"] {
        fs::create_dir_all(to.join(folder)).unwrap();
    }
    for file in files(bundle) {
        fs::copy(bundle.join(&file), to.join(&file)).unwrap();
    }
    to.to_owned()
}

#[test]
fn a_bundle_is_checked_by_what_it_brings_and_by_nothing_else() {
    let log = Signed::new();
    let other = ProposalId::new();
    log.grow(other);
    log.sign();
    let (code, told) = log.bundle("bundle", &[&format!("id:{}", log.id)]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("1 proposal, 4 records, 4 contents"), "{told}");
    assert!(told.contains(&log.key()), "{told}");
    let bundle = log.path("bundle");
    let all = files(&bundle);
    assert_eq!(all.len(), 6 + 4 + 4, "{all:?}");
    for file in &all {
        let mode = bundle.join(file).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    let folder = bundle.display().to_string();
    let (good, told) = check(&["--key", &log.key(), &folder]);
    assert!(good, "{told}");
    assert!(
        told.contains(": proved\n  4 records of countersign/"),
        "{told}"
    );
    assert!(told.contains("    title: monthly revenue"), "{told}");
    assert!(!told.contains(&other.to_string()), "{told}");
    assert!(told.contains("not proved: index.html"), "{told}");
    // The checker in the bundle is the checker.
    let brought = fs::read(bundle.join("countersign_proof.py")).unwrap();
    let known = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/assets/check/countersign_proof.py"
    );
    assert!(brought == fs::read(known).unwrap());
    let (good, told) = check(&["--key", &Signed::new().key(), &folder]);
    assert!(!good && told.contains("other origin"), "{told}");
}

#[test]
fn no_changed_bundle_passes() {
    let log = Signed::new();
    log.grow(ProposalId::new());
    log.sign();
    assert_eq!(log.bundle("bundle", &[]).0, Some(0));
    let (bundle, key) = (log.path("bundle"), log.key());
    let (copy, all) = (log.path("copy"), files(&bundle));
    let checked = || {
        let folder = copy.display().to_string();
        let (good, told) = check_once(&["--key", &key, &folder]);
        assert!(good || told.contains("NOT PROVED: "), "{told}");
        (good, told)
    };
    let unproved = ["README.txt", "countersign_proof.py", "index.html"];
    for file in all.iter().filter(|file| !unproved.contains(&&***file)) {
        copied(&bundle, &copy);
        let path = copy.join(file);
        let bytes = fs::read(&path).unwrap();
        let changes = (0..bytes.len()).step_by(bytes.len() / 8 + 1).map(|at| {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            bytes
        });
        for changed in changes.chain([[&bytes[..], b"x"].concat()]) {
            fs::write(&path, changed).unwrap();
            let (good, told) = checked();
            assert!(!good, "{file}: {told}");
        }
        fs::remove_file(&path).unwrap();
        assert!(!checked().0, "without {file}");
    }
    for file in unproved {
        copied(&bundle, &copy);
        fs::remove_file(copy.join(file)).unwrap();
        let (good, told) = checked();
        assert!(!good && told.contains(file), "without {file}: {told}");
    }
    copied(&bundle, &copy);
    assert!(checked().0);
    // What no record names, a record left out of one place, records in another order.
    fs::write(copy.join("blobs").join("0".repeat(64)), "x").unwrap();
    assert!(checked().1.contains("is named by no record"));
    let records = fs::read_to_string(bundle.join("records.jsonl")).unwrap();
    let mut lines: Vec<&str> = records.lines().collect();
    copied(&bundle, &copy);
    fs::write(copy.join("records.jsonl"), lines[1..].join("\n") + "\n").unwrap();
    assert!(
        checked()
            .1
            .contains("proves a record that records.jsonl does not have")
    );
    lines.swap(0, 1);
    fs::write(copy.join("records.jsonl"), lines.join("\n") + "\n").unwrap();
    assert!(checked().1.contains("not in its order"));
    copied(&bundle, &copy);
    fs::write(copy.join("countersign_proof.py"), "print('proved')\n").unwrap();
    let (good, told) = checked();
    let other = "countersign_proof.py in it is another one than this checker";
    assert!(good && told.contains(other), "{told}");
    // Beside it, and unchecked, is said.
    copied(&bundle, &copy);
    fs::write(copy.join("letter.html"), "trust me").unwrap();
    let (good, told) = checked();
    assert!(
        good && told.contains("not looked at: letter.html"),
        "{told}"
    );
}

/// Whoever sends a bundle may have put anything in it.
#[test]
fn what_is_no_regular_file_is_refused_and_waited_for_by_nobody() {
    let log = Signed::new();
    assert_eq!(log.bundle("bundle", &[]).0, Some(0));
    let (bundle, copy, key) = (log.path("bundle"), log.path("copy"), log.key());
    let folder = copy.display().to_string();
    let all = files(&bundle);
    let each = |make: &dyn Fn(&Path), names: &[&String]| {
        for file in names {
            copied(&bundle, &copy);
            let path = copy.join(file);
            let _ = fs::remove_file(&path);
            make(&path);
            let (good, told) = check_once(&["--key", &key, &folder]);
            let why = format!("NOT PROVED: {file} is no regular file");
            assert!(!good && told.contains(&why), "{file}: {told}");
        }
    };
    let more = ["proofs/more".to_owned(), "more".to_owned()];
    let names: Vec<_> = all.iter().chain(&more).collect();
    let fifo = |path: &Path| mkfifo(path, Mode::S_IRWXU).unwrap();
    each(&fifo, &names);
    let link = |path: &Path| symlink(bundle.join("README.txt"), path).unwrap();
    each(&link, &names);
    // Alone, as a proof.
    let alone = log.path("alone");
    fifo(&alone);
    let (good, told) = check_once(&["--key", &key, &alone.display().to_string()]);
    assert!(!good && told.contains("it is no regular file"), "{told}");
    let (good, told) = check_once(&["--key", &alone.display().to_string(), &folder]);
    assert!(!good && told.contains("it is no regular file"), "{told}");
}

#[test]
fn json_that_is_nested_too_deeply_is_told_in_words() {
    let log = Signed::new();
    assert_eq!(log.bundle("bundle", &[]).0, Some(0));
    let copy = copied(&log.path("bundle"), &log.path("copy"));
    let deep = format!("{}{}\n", "[".repeat(200_000), "]".repeat(200_000));
    fs::write(copy.join("records.jsonl"), deep).unwrap();
    let output = run_once(&["--key", &log.key(), &copy.display().to_string()]);
    let told = said(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("NOT PROVED: its JSON is nested deeper"),
        "{told}"
    );
    assert!(!told.contains("Traceback"), "{told}");
}

#[test]
fn a_key_can_be_a_file() {
    let log = Signed::new();
    assert_eq!(log.bundle("bundle", &[]).0, Some(0));
    let folder = log.path("bundle").display().to_string();
    let file = log.path("key.pub");
    fs::write(&file, format!("{}\n", log.key())).unwrap();
    let (good, told) = check(&["--key", &file.display().to_string(), &folder]);
    assert!(good, "{told}");
    let (good, told) = check(&["--key", &log.path("none").display().to_string(), &folder]);
    assert!(
        !good && told.contains("none cannot be read: No such file"),
        "{told}"
    );
}

#[test]
fn nothing_of_an_agent_acts_on_the_page() {
    let log = Signed::titled(
        "</title><script>alert(1)</script><img src=x onerror=y> \u{202e}txt \u{1b}[2J",
    );
    assert_eq!(log.bundle("bundle", &[]).0, Some(0));
    let page = fs::read_to_string(log.path("bundle/index.html")).unwrap();
    assert!(page.contains("default-src 'none'"));
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
        "{page}"
    );
    for bad in [
        "<script", "<img", "\u{202e}", "\u{1b}", "http://", "https://",
    ] {
        assert!(!page.contains(bad), "{bad}: {page}");
    }
    // Each element that is opened is closed.
    for name in [
        "article", "section", "pre", "ol", "ul", "dl", "details", "table", "p", "li", "span",
        "code",
    ] {
        let opened =
            page.matches(&format!("<{name}>")).count() + page.matches(&format!("<{name} ")).count();
        assert_eq!(
            opened,
            page.matches(&format!("</{name}>")).count(),
            "{name}"
        );
    }
    let (good, told) = check(&[
        "--key",
        &log.key(),
        &log.path("bundle").display().to_string(),
    ]);
    assert!(
        good && !told.contains('\u{1b}') && !told.contains('\u{202e}'),
        "{told}"
    );
}

#[test]
fn a_bundle_that_cannot_be_whole_says_why() {
    let log = Signed::new();
    let (code, told) = log.bundle("none", &["state:denied"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("selects no proposal"), "{told}");
    assert!(!log.path("none/index.html").exists());
    fs::create_dir(log.path("full")).unwrap();
    fs::write(log.path("full/mine"), "x").unwrap();
    let (code, told) = log.bundle("full", &[]);
    assert_eq!(code, Some(2));
    assert!(told.contains("takes a new or empty folder"), "{told}");
    let (code, told) = log.bundle("wrong", &["statte:denied"]);
    assert_eq!(code, Some(2), "{told}");
    log.grow(ProposalId::new());
    let (code, told) = log.bundle("early", &[]);
    assert_eq!(code, Some(1), "{told}");
    assert!(
        told.contains("is newer than the newest checkpoint"),
        "{told}"
    );
    assert!(told.contains("is no whole bundle"), "{told}");
    log.sign();
    assert_eq!(log.bundle("whole", &[]).0, Some(0));
    let blobs = fs::read_dir(log.state().join("blobs")).unwrap();
    for folder in blobs {
        fs::remove_dir_all(folder.unwrap().path()).unwrap();
    }
    let (code, told) = log.bundle("damaged", &[]);
    assert_eq!(code, Some(1), "{told}");
    assert!(!log.path("damaged/index.html").exists(), "{told}");
}

/// Whoever hands on only the first records of a proposal does not pass that on as all.
#[test]
fn a_course_without_its_end_is_called_unfinished() {
    let log = Signed::new();
    assert_eq!(log.bundle("whole", &[]).0, Some(0));
    let page = |name: &str| fs::read_to_string(log.path(name).join("index.html")).unwrap();
    assert!(!page("whole").contains("unfinished"));
    let bundle = log.path("whole").display().to_string();
    let (good, told) = check(&["--key", &log.key(), &bundle]);
    assert!(good && !told.contains("unfinished"), "{told}");
    // Cut to its first two records.
    let cut = copied(&log.path("whole"), &log.path("cut"));
    let records = fs::read_to_string(cut.join("records.jsonl")).unwrap();
    let first: Vec<&str> = records.lines().take(2).collect();
    fs::write(cut.join("records.jsonl"), first.join("\n") + "\n").unwrap();
    for n in 3..=4 {
        fs::remove_file(cut.join(format!("proofs/{n}.tlog-proof"))).unwrap();
    }
    for name in files(&cut) {
        let of_finished = records.lines().nth(3).unwrap();
        let hex = name.trim_start_matches("blobs/");
        if name.starts_with("blobs/") && of_finished.contains(hex) {
            fs::remove_file(cut.join(name)).unwrap();
        }
    }
    let (good, told) = check(&["--key", &log.key(), &cut.display().to_string()]);
    let note = format!(
        "the records of {} end with `granted`: its course is unfinished, or later ones were left out",
        log.id
    );
    assert!(good && told.contains(&note), "{told}");
    // One that waits.
    let (tell, told) = std::sync::mpsc::channel();
    let writer = countersign::audit::open(&log.state()).unwrap().writer;
    let handle = writer.start(Box::new(move |event| tell.send(event).unwrap()));
    let (event, blobs) = samples::proposed(ProposalId::new(), "waits");
    handle.submit(countersign::model::Ticket::Unawaited, event, blobs);
    told.recv().unwrap();
    handle.close();
    log.sign();
    assert_eq!(log.bundle("waits", &[]).0, Some(0));
    let said = "The records here end with <code>proposed</code>: its course was unfinished";
    assert_eq!(page("waits").matches(said).count(), 1, "{}", page("waits"));
}

#[test]
fn the_page_of_a_real_run_tells_it_from_the_question_to_the_output() {
    let mut dash = Dash::with(&Options::default());
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({"code": "import os\nprint('a < b', 3 * 14)\nwith open('out.txt', 'w') as f:\n    f.write('x')\n", "title": "Sums"}));
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["state"], "succeeded");
    dash.keys("q");
    dash.wait_exit();
    let to = dash.root().join("bundle").display().to_string();
    let output = dash.cli(&["audit", "export", "--bundle", &to]);
    assert!(output.status.success(), "{}", said(&output));
    let page = fs::read_to_string(dash.root().join("bundle/index.html")).unwrap();
    for part in [
        "“Sums” <span class=\"state\">succeeded</span>",
        "print(&#39;a &lt; b&#39;, 3 * 14)",
        "Granted as proposed by",
        "The walls of the run",
        "<pre>a &lt; b 42\n",
        "exit code 0",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let key = fs::read_to_string(dash.root().join("bundle/key.pub")).unwrap();
    let (good, told) = check(&["--key", key.trim(), &to]);
    assert!(good && told.contains("granted  person"), "{told}");
}
