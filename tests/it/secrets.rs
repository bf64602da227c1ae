//! Secrets that pass through a dashboard are in none of its files, exports and bundles.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use base64::Engine as _;
use serde_json::json;
use sha2::Digest as _;

use crate::common::dash::{Dash, Options};

/// The value of a variable of the dashboard.
const VALUE: &str = "zQ8pa-77wo0rD-x1y";

/// A token of GitHub's format, another one for each place. No file of this repository has one.
fn token(place: u8) -> String {
    format!("ghp_{}{place:02}", "aB3".repeat(12).get(..34).unwrap())
}

fn forms() -> Vec<Vec<u8>> {
    let hex = |text: &str| -> String { text.bytes().map(|b| format!("{b:02x}")).collect() };
    let encoded = base64::engine::general_purpose::STANDARD.encode(VALUE);
    let core = encoded.get(..16).unwrap().to_owned();
    [
        VALUE.to_owned(),
        core,
        hex(VALUE),
        "aB3aB3aB3".to_owned(),
        hex("aB3aB3aB3"),
    ]
    .map(String::into_bytes)
    .into()
}

#[track_caller]
fn assert_clean(what: &str, bytes: &[u8]) {
    for form in forms() {
        let at = bytes.windows(form.len()).position(|window| window == form);
        assert_eq!(at, None, "{what}: {}", String::from_utf8_lossy(&form));
    }
}

fn assert_folder_clean(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert_clean("a name", path.to_str().unwrap().as_bytes());
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            assert_folder_clean(&path);
        } else if kind.is_file() {
            assert_clean(path.to_str().unwrap(), &fs::read(&path).unwrap());
        }
    }
}

#[test]
fn canaries_of_every_place_are_nowhere_below_the_state_folder_and_in_no_export() {
    let mut dash = Dash::with(&Options {
        env: &[("PARTNER_TOKEN", VALUE)],
        ..Options::default()
    });
    let mut agent = dash.agent();
    // The printed token comes in two writes, and the code has none of it whole.
    let code = format!(
        "# {}\nprint('gh', end='', flush=True)\nprint('p_' + ('aB3' * 12)[:34] + '01')\nprint(secret['s'])\n\
         with open('a.txt', 'w') as f:\n    f.write(secret['s'])\nsecret['s']\n",
        token(2)
    );
    let proposal = agent.propose(json!({
        "code": code,
        "title": format!("title {}", token(3)),
        "reason": format!("reason {VALUE}"),
        "agent": {"name": "etl", "session": token(4)},
        "inputs": {"secret": {"json": {"s": VALUE}}},
    }));
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    // The agent and the run have the exact bytes.
    let stdout = outcome["run"]["stdout"].as_str().unwrap();
    assert!(
        stdout.contains(&token(1)) && stdout.contains(VALUE),
        "{stdout}"
    );

    let failed = agent.code("raise ValueError('gh' + 'p_' + ('aB3' * 12)[:34] + '05')\n");
    dash.grant(&mut agent, &failed);
    assert_eq!(agent.outcome(&failed["id"])["state"], "failed");

    let denied = agent.code("print(2)\n");
    dash.go_to_urgent();
    dash.keys("d");
    dash.wait_text("deny, reason");
    dash.keys(&format!("no {}\r", token(6)));
    let outcome = agent.outcome(&denied["id"]);
    assert_eq!(outcome["decision"]["reason"], format!("no {}", token(6)));

    let state = dash.state.clone();
    assert_folder_clean(&state);
    drop(agent);
    dash.press("q");
    dash.wait_exit();
    assert_folder_clean(&state);

    let shown = dash.cli(&["audit", "show", proposal["id"].as_str().unwrap()]);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        text.contains("secrets were replaced before this was kept"),
        "{text}"
    );
    assert!(
        text.contains("[REDACTED:github-token]") && text.contains("[REDACTED:environment]"),
        "{text}"
    );
    for args in [
        &["audit", "verify"][..],
        &["audit", "list"],
        &["audit", "export"],
        &["audit", "export", "--format", "csv"],
        &["audit", "export", "--format", "ocsf"],
    ] {
        let output = dash.cli(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
        assert_clean("printed", &output.stdout);
    }
    let bundle = dash.root().join("bundle");
    let made = dash.cli(&["audit", "export", "--bundle", bundle.to_str().unwrap()]);
    assert_eq!(
        made.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    assert_folder_clean(&bundle);
    assert!(!bundle.join("salts").exists());
    assert_folder_clean(&state);

    // The one who has the code can show that it is the one.
    let file = dash.root().join("code.py");
    let id = proposal["id"].as_str().unwrap();
    let compare = |text: &str| {
        fs::write(&file, text).unwrap();
        dash.cli(&["audit", "show", id, "--code", file.to_str().unwrap()])
    };
    let same = compare(&code);
    assert_eq!(
        same.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&same.stderr)
    );
    let other = compare(&code.replace(&token(2), "[REDACTED:github-token]"));
    assert_eq!(other.status.code(), Some(1));
}

/// The rows of the table that the search itself is tested with.
const FOUND: &str = include_str!("../../src/secrets/corpus/found.txt");

/// The text of a row: `~20`, `#20` and `^20` are letters and digits of a key, of hexadecimal and of base32.
fn made(row: &str) -> String {
    let mut text = String::new();
    let mut chars = row.trim_end().chars().peekable();
    while let Some(c) = chars.next() {
        let all = match c {
            '«' | '»' => continue,
            '~' => "a7KqxZ3m9BtR",
            '#' => "0a9f3c7be1d5",
            '^' => "A7KQX3ZM2B",
            _ => "",
        };
        let mut count = 0;
        while let Some(digit) = chars
            .peek()
            .and_then(|c| c.to_digit(10))
            .filter(|_| !all.is_empty())
        {
            chars.next();
            count = count * 10 + digit as usize;
        }
        match count {
            0 => text.push(c),
            count => {
                let all = all.as_bytes();
                let letter =
                    |n: usize| char::from(all[(n * 7 + n / all.len() * 5 + n / 3) % all.len()]);
                text.extend((0..count).map(letter));
            }
        }
    }
    text
}

/// A secret of each kind, and what of it must be nowhere: the shortest row of the table that has the kind alone.
fn of_each_kind() -> Vec<(String, String, String)> {
    let secrets = countersign::secrets::Secrets::default();
    let mut all: BTreeMap<String, (String, String)> = BTreeMap::new();
    for row in FOUND.split("\n== ").skip(1) {
        let text = made(row.split_once('\n').unwrap().1);
        let found = secrets.find(&text);
        let kinds: BTreeSet<&str> = found.iter().map(|span| &*span.kind).collect();
        let [kind] = kinds.into_iter().collect::<Vec<_>>()[..] else {
            continue;
        };
        let value = text[found[0].at.clone()].to_owned();
        // A line of a key tells it, and not the line that says what it is.
        let value = value
            .lines()
            .max_by_key(|line| line.len())
            .unwrap()
            .to_owned();
        let shorter = all
            .get(kind)
            .is_none_or(|(text_, _)| text.len() < text_.len());
        if shorter && value.len() > 6 && value.is_ascii() {
            all.insert(kind.to_owned(), (text, value));
        }
    }
    let mut all: Vec<_> = all
        .into_iter()
        .map(|(kind, (text, value))| (kind, text, value))
        .collect();
    let mut add = |kind: &str, text: &str, value: &str| {
        all.push((kind.to_owned(), text.to_owned(), value.to_owned()));
    };
    add("environment", VALUE, VALUE);
    add("employee", "EMP-471147", "471147");
    all
}

#[test]
fn a_secret_of_each_kind_is_nowhere_below_the_state_folder_and_in_no_export() {
    let all = of_each_kind();
    let kinds = countersign::secrets::kinds();
    let missing = kinds
        .iter()
        .filter(|known| !all.iter().any(|(kind, ..)| kind == *known));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&&str>::new());
    let mut dash = Dash::with(&Options {
        config: "[audit.secrets]\nemployee = 'EMP-[0-9]{6}'\n",
        env: &[("PARTNER_TOKEN", VALUE)],
        ..Options::default()
    });
    let mut agent = dash.agent();
    let code = "for text in given:\n    print(text)\nfor text in given:\n    print('\\x1b[31m'.join(text))\n\
                with open('a.txt', 'w') as f:\n    f.write('\\n'.join(given))\n\
                with open('b.txt', 'w', encoding='utf-16') as f:\n    f.write('\\n'.join(given))\n\
                with open('c.bin', 'wb') as f:\n    f.write(bytes([255, 0, 1]))\ngiven\n";
    let texts: Vec<&str> = all.iter().map(|(_, text, _)| text.as_str()).collect();
    let proposal = agent.propose(json!({
        "code": code,
        "reason": texts[..8].join(" "),
        "inputs": {"given": {"json": texts}},
    }));
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    drop(agent);
    dash.press("q");
    dash.wait_exit();

    let id = proposal["id"].as_str().unwrap();
    let bundle = dash.root().join("bundle");
    let exports: Vec<Vec<u8>> = [
        &["audit", "show", id][..],
        &["audit", "playback", id, "--speed", "1000"],
        &["audit", "export"],
        &["audit", "export", "--format", "csv"],
        &["audit", "export", "--format", "ocsf"],
        &["audit", "export", "--bundle", bundle.to_str().unwrap()],
    ]
    .into_iter()
    .map(|args| dash.cli(args).stdout)
    .collect();
    let interleaved = |text: &str| {
        text.chars()
            .map(String::from)
            .collect::<Vec<_>>()
            .join("\u{1b}[31m")
            .into_bytes()
    };
    let wide = |text: &str| {
        text.encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>()
    };
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    files_below(&dash.state, &mut files);
    files_below(&bundle, &mut files);
    files.extend(
        exports
            .into_iter()
            .map(|printed| ("printed".to_owned(), printed)),
    );
    assert!(files.len() > 12);
    for (kind, _, needle) in &all {
        for form in [
            needle.clone().into_bytes(),
            interleaved(needle),
            wide(needle),
        ] {
            for (name, bytes) in &files {
                let at = memchr::memmem::find(bytes, &form);
                assert_eq!(at, None, "{kind} in {name}");
            }
        }
    }

    // Each was found as what it is, in what came in and in what came out.
    let log: String = files
        .iter()
        .filter(|(name, _)| name.contains("/log/"))
        .map(|(_, bytes)| String::from_utf8_lossy(bytes))
        .collect();
    let counted = |kind: &str| -> BTreeSet<String> {
        let lines = log
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let mut lines =
            lines.filter(|line| line.to_string().contains(&format!("\"kind\":\"{kind}\"")));
        let line = lines.find(|line| line.get("redacted").is_some()).unwrap();
        line["redacted"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    let expected: BTreeSet<String> = all.iter().map(|(kind, ..)| kind.clone()).collect();
    assert_eq!(counted("proposed"), expected);
    assert_eq!(counted("finished"), expected);
    assert!(log.contains("\"unsearched\":[\"c.bin\"]"), "{log}");

    // What a copy without salts tells of the contents, is nothing that somebody could try secrets against.
    let given = serde_json::to_string(&texts).unwrap();
    let stdout = outcome["run"]["stdout"].as_str().unwrap();
    for content in [given.as_str(), stdout, &texts.join("\n")] {
        let digest = sha2::Sha256::digest(content.as_bytes());
        let digest: String = digest.iter().map(|b| format!("{b:02x}")).collect();
        for (name, bytes) in &files {
            let text = String::from_utf8_lossy(bytes);
            assert!(!text.contains(&digest) && !name.contains(&digest), "{name}");
        }
    }
}

fn files_below(folder: &Path, all: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            files_below(&path, all);
        } else if kind.is_file() {
            all.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
}

/// A copied state folder: without the salt nobody can try a secret, with it one can, and an erasure takes it away.
#[test]
fn the_salt_of_code_with_a_secret_is_its_owners_alone_and_goes_with_the_code() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let code = format!("print(1)  # {}\n", token(7));
    let proposal = agent.code(&code);
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["state"], "succeeded");
    drop(agent);
    dash.press("q");
    dash.wait_exit();
    let id = proposal["id"].as_str().unwrap();
    let salts = dash.state.join("salts");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&salts), mode(&salts.join(id))), (0o700, 0o600));
    let file = dash.root().join("code.py");
    fs::write(&file, &code).unwrap();
    let guess = |dash: &Dash| {
        let said = dash.cli(&["audit", "show", id, "--code", file.to_str().unwrap()]);
        (
            said.status.code(),
            String::from_utf8_lossy(&said.stderr).into_owned(),
        )
    };
    assert_eq!(guess(&dash).0, Some(0));
    // Kept code with a secret is no code to run again.
    let kept = fs::read_dir(dash.state.join("kept"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let again = dash.cli(&["replicate", kept.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(
        said.contains("its code held secrets, which are not kept"),
        "{said}"
    );
    fs::rename(salts.join(id), dash.root().join("salt")).unwrap();
    let (status, said) = guess(&dash);
    assert!(status != Some(0) && said.contains("salt"), "{said}");
}

/// What the agent brought may lack something, and whoever runs the code again is told.
#[test]
fn a_replica_says_that_its_inputs_may_lack_secrets() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({
        "code": "print(len(given['s']))\n",
        "inputs": {"given": {"json": {"s": token(8)}}},
    }));
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["state"], "succeeded");
    let folder = dash.state.join("kept");
    let file = |dash: &Dash| -> Option<std::path::PathBuf> {
        let mut files = fs::read_dir(dash.state.join("kept")).ok()?;
        let path = files.next()?.ok()?.path();
        (fs::metadata(&path).ok()?.len() > 0).then_some(path)
    };
    dash.wait_for("the kept code", |dash, _| file(dash).is_some());
    let path = file(&dash).unwrap();
    assert!(path.starts_with(folder));
    drop(agent);
    dash.press("q");
    let python = crate::common::python::managed_env()
        .prefix
        .join("bin/python3");
    dash.then(&[
        "--python",
        python.to_str().unwrap(),
        "replicate",
        path.to_str().unwrap(),
    ]);
    let text = dash.wait_text("to run it");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("the log keeps no secrets: what the agent brought may lack some of its own"),
        "{text}"
    );
}
