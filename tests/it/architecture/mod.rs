//! Checks the direction of dependencies between modules, and the rules that keep decisions where
//! they belong.
//!
//! Reads the sources as text. Comments and the contents of strings are blanked first, so that only
//! words in code count.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod documents;
mod source;

use source::{Source, is_within, matching, sources, test_modules, tokens};

/// From the top down: a module may use only itself and modules below it.
const ORDER: [&str; 26] = [
    "main", "cli", "app", "mcp", "tui", "desk", "ipc", "figure", "executor", "child", "sandbox",
    "runtime", "analysis", "audit", "broker", "config", "policy", "ballot", "chart", "hook",
    "secrets", "model", "paths", "clock", "error", "given",
];
/// These are the bottom and may not use each other; `given` exists for tests only.
const BASE: [&str; 4] = ["paths", "clock", "error", "given"];

/// The first may not use the second, except that its tests write records of the second.
const APART: [(&str, &str); 1] = [("audit", "broker")];

/// Maximum lines of a file: a longer one has more than one duty.
const LINES_MAX: usize = 600;

/// Every top-level module that the code names through `crate` or the crate's own name: `crate::a`,
/// `crate::{a, b::c}`.
fn modules_used(code: &str) -> Vec<String> {
    let tokens = tokens(code);
    let mut used = Vec::new();
    for at in 0..tokens.len() {
        let own = tokens[at] == "crate" || tokens[at] == "countersign";
        if !own || tokens.get(at + 1) != Some(&"::") {
            continue;
        }
        if tokens.get(at + 2) != Some(&"{") {
            used.extend(tokens.get(at + 2).map(|t| (*t).to_owned()));
            continue;
        }
        let mut depth = 0;
        let mut head = true;
        for token in &tokens[at + 2..] {
            match *token {
                "{" => {
                    head = depth == 0;
                    depth += 1;
                }
                "}" => depth -= 1,
                "," => head = depth == 1,
                name if head && depth == 1 => {
                    used.push(name.to_owned());
                    head = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    used
}

fn rank(module: &str) -> Option<usize> {
    ORDER.iter().position(|m| *m == module)
}

fn direction(source: &Source, found: &mut Vec<String>) {
    let top = source.top();
    if top == "lib" {
        return;
    }
    let Some(own) = rank(top) else {
        source.says("stands in no layer", found);
        return;
    };
    for module in modules_used(&source.code) {
        let is_allowed = match rank(&module) {
            _ if module == top => true,
            Some(other) => other > own && !(BASE.contains(&top) && BASE.contains(&&*module)),
            None => false,
        };
        if !is_allowed {
            source.says(
                &format!("`{top}` uses `{module}`, which is not below it"),
                found,
            );
        }
    }
    for module in modules_used(&source.outside_tests()) {
        if APART.contains(&(top, &module)) {
            source.says(&format!("`{top}` uses `{module}` outside tests"), found);
        }
    }
}

/// Names that pure rooms must not use.
const IMPURE: [&str; 11] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "std::env",
    "time::Instant",
    "SystemTime",
    "tokio",
    "ratatui",
    "Now::read",
    "ProposalId::new",
];

fn purity(source: &Source, found: &mut Vec<String>) {
    if !["broker", "ballot"].contains(&source.top()) {
        return;
    }
    let joined: String = tokens(&source.outside_tests())
        .join(" ")
        .replace(" :: ", "::");
    for word in IMPURE {
        if contains_words(&joined, word) {
            source.says(&format!("the core names `{word}`"), found);
        }
    }
    // `use std::{fs, …}` would hide such a name.
    if contains_words(&joined, "std::{") {
        source.says(
            "the core imports from `std` in braces, which hides what",
            found,
        );
    }
}

/// Whether `text` contains `words` as whole words.
fn contains_words(text: &str, words: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(words).any(|(at, _)| {
        let starts_inside = words.starts_with(part) && text[..at].ends_with(part);
        let continues = words.ends_with(part) && text[at + words.len()..].starts_with(part);
        !starts_inside && !continues
    })
}

/// Checks words that only certain files may contain.
fn places(source: &Source, found: &mut Vec<String>) {
    let top = source.top();
    let all = tokens(&source.code).join(" ");
    let own = tokens(&source.outside_tests()).join(" ");
    let entry = source.path == "executor/tests/entry.rs";
    if contains_words(&all, "unsafe") && top != "sandbox" && top != "ipc" && !entry {
        source.says("`unsafe` belongs into sandbox and ipc only", found);
    }
    // Only the modules with a child's states may release a held child.
    if contains_words(&own, "Command :: Release") && top != "child" && top != "sandbox" {
        source.says("releases a child past its states", found);
    }
    let near = top == "child" || top == "executor";
    if near && is_built(&own, "Held") && source.path != "child/states.rs" {
        source.says("makes a `Held` without a look", found);
    }
    if top == "tui" {
        for word in ["println !", "print !", "eprintln !", "eprint !"] {
            if contains_words(&own, word) {
                source.says("prints beside the terminal's frames", found);
            }
        }
    }
    // All output for people and scripts goes through one sanitiser.
    const SAYING: [&str; 4] = [
        "cli/out.rs",
        "tui/terminal.rs",
        "analysis/worker.rs",
        "figure/worker.rs",
    ];
    let tests =
        source.test_only || source.path.ends_with("_tests.rs") || source.path.contains("/tests/");
    if !tests && !SAYING.contains(&source.path.as_str()) {
        for word in [
            "println !",
            "print !",
            "eprintln !",
            "eprint !",
            "dbg !",
            "stdout ( )",
            "stderr ( )",
        ] {
            if contains_words(&own, word) {
                source.says("says something past `cli::out`", found);
            }
        }
    }
    if contains_words(&own, "anyhow") && top != "main" {
        source.says("uses `anyhow`; modules have errors of their own", found);
    }
    if is_built(&own, "Confirmation") && top != "app" {
        source.says("makes a `Confirmation`; only `app` may, from a key", found);
    }
    if is_built(&own, "Grant") && source.path != "broker/decision/grant.rs" {
        source.says("makes a `Grant`", found);
    }
    if contains_words(&own, "Ticket :: Core") && source.path != "broker/record.rs" {
        source.says("counts a ticket of the core's", found);
    }
    if contains_words(&own, "Effect :: Execute") && top != "app" && top != "broker" {
        source.says("handles `Effect::Execute`; only `app` may", found);
    }
}

/// What the program that only reads a log must not name: whatever decides, serves agents, runs code or writes a log.
const DECIDING: [&str; 16] = [
    "broker",
    "ipc",
    "executor",
    "child",
    "sandbox",
    "session",
    "startup",
    "Action",
    "Confirmation",
    "GrantRequest",
    "HumanAct",
    "UiState",
    "Writer",
    "Notary",
    "Feeder",
    "audit :: start",
];

fn reading(source: &Source, found: &mut Vec<String>) {
    if !source.path.starts_with("app/reviewing/") && source.path != "cli/audit/review.rs" {
        return;
    }
    let own = tokens(&source.outside_tests()).join(" ");
    for word in DECIDING {
        if contains_words(&own, word) {
            source.says(&format!("only reads a log, and names `{word}`"), found);
        }
    }
}

/// What an adapter for agents may use: it is a client of the socket or of hosts elsewhere, so it can only ask.
const ASKING: [&str; 5] = ["mcp", "desk", "ipc", "model", "error"];

fn asking(source: &Source, found: &mut Vec<String>) {
    if source.top() != "mcp" {
        return;
    }
    for module in modules_used(&source.code) {
        if !ASKING.contains(&&*module) {
            source.says(
                &format!("only asks on the socket, and uses `{module}`"),
                found,
            );
        }
    }
    // A server that asks the agent's side would take approval from it.
    let own = tokens(&source.outside_tests()).join(" ");
    for word in [
        "InputRequired",
        "InputRequiredResult",
        "create_elicitation",
        "create_message",
        "elicit",
    ] {
        if contains_words(&own, word) {
            source.says(&format!("asks the agent's side: `{word}`"), found);
        }
    }
}

/// Whether the code constructs a value of the type: `Name {` that is not a declaration, a return
/// type or a pattern.
fn is_built(joined: &str, name: &str) -> bool {
    let start = format!("{name} {{");
    joined.match_indices(&start).any(|(at, _)| {
        let before = joined[..at].trim_end();
        let word = before.rsplit(' ').next().unwrap_or("");
        let declared = ["struct", "enum", "impl", "for", "trait", "mod"].contains(&word);
        // `fn f() -> Name {`: the brace opens the body.
        let returned = before.ends_with("- >");
        // `SubName {` is another name.
        let inside = joined[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        // `Action::Grant {` is an enum's variant; `broker::Grant {` is the type itself.
        let scope = before.strip_suffix("::").map(str::trim_end);
        let owner = scope.and_then(|s| s.rsplit(' ').next()).unwrap_or("");
        let variant = owner.starts_with(char::is_uppercase);
        // `Confirmation { id, digest, by, viewed } = …` is a pattern.
        let rest = &joined[at + start.len()..];
        let close = matching(rest);
        let after = rest[close..].trim_start_matches(['}', ' ']);
        let taken = after.starts_with("= ") && !after.starts_with("= =");
        let matched = taken || after.starts_with(") =") && !after.starts_with(") = =");
        !(declared || returned || inside || variant || matched)
    })
}

fn size(source: &Source, found: &mut Vec<String>) {
    if source.lines > LINES_MAX {
        source.says(&format!("has {} lines", source.lines), found);
    }
}

fn judge(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        direction(source, &mut found);
        purity(source, &mut found);
        places(source, &mut found);
        reading(source, &mut found);
        asking(source, &mut found);
        size(source, &mut found);
    }
    found
}

#[test]
fn every_module_uses_only_what_stands_below_it_and_decisions_stay_in_their_place() {
    let sources = sources();
    assert!(
        sources.len() > 40,
        "only {} sources were found",
        sources.len()
    );
    let found = judge(&sources);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Of two lists one would lack a tool some day, and the hook would block it or let another one pass.
#[test]
fn the_tools_of_agents_are_named_in_one_list() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for source in sources().iter().filter(|source| !source.test_only) {
        let text = std::fs::read_to_string(root.join(&source.path)).unwrap();
        for name in countersign::model::TOOLS {
            let expected = match &*source.path {
                // The list, and where each call goes.
                "model/tools.rs" | "mcp/server.rs" => 1,
                _ => 0,
            };
            let found = text.matches(&format!("{name:?}")).count();
            assert_eq!(found, expected, "{}: {name}", source.path);
        }
    }
}

/// That way is `tests/common/given.rs`, which fails on machines that must have everything.
#[test]
fn a_test_that_lacks_something_says_so_in_one_way_only() {
    let mut folders = vec!["src".into(), "tests".into()];
    let mut found = Vec::new();
    let mut helper = 0;
    while let Some(folder) = folders.pop() {
        let folder: std::path::PathBuf = folder;
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.display().to_string();
            if !name.ends_with(".rs") || name.starts_with("tests/it/architecture") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for words in ["\"skipped: ", "not tried\"", "\"CS_TEST_TIERS\""] {
                match text.contains(words) {
                    true if name == "tests/common/given.rs" => helper += 1,
                    true => found.push(format!("{name}: {words}")),
                    false => {}
                }
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(helper, 2, "the helper says both");
}

#[test]
fn the_grant_and_the_confirmation_are_each_made_somewhere() {
    // With a wrong pattern, the check above could never fail.
    let sources = sources();
    let makers = |name: &str| -> Vec<&str> {
        sources
            .iter()
            .filter(|s| is_built(&tokens(&s.outside_tests()).join(" "), name))
            .map(|s| s.path.as_str())
            .collect()
    };
    assert_eq!(makers("Grant"), ["broker/decision/grant.rs"]);
    assert!(makers("Confirmation").iter().all(|p| p.starts_with("app/")));
}

#[test]
fn no_socket_method_sounds_like_a_decision() {
    for method in countersign::ipc::METHODS {
        for word in [
            "grant", "approve", "allow", "accept", "decide", "deny", "confirm",
        ] {
            assert!(!method.contains(word), "{method}");
        }
    }
}

#[test]
fn made_up_faults_are_found() {
    let faulty = [
        (
            "app/reviewing/x.rs",
            "fn f() { crate::broker::update() }",
            "only reads a log, and names `broker`",
        ),
        (
            "mcp/x.rs",
            "use crate::broker::Request;",
            "only asks on the socket",
        ),
        (
            "mcp/x.rs",
            "fn f() { CallToolResponse::InputRequired(x) }",
            "asks the agent's side",
        ),
        ("model/x.rs", "use crate::broker::Event;", "not below"),
        ("model/x.rs", "fn f() { crate::tui::draw() }", "not below"),
        (
            "broker/x.rs",
            "use crate::{model::Peer, ipc::Router};",
            "uses `ipc`",
        ),
        (
            "broker/x.rs",
            "use crate::{\n    model::{Peer, State},\n    cli,\n};",
            "uses `cli`",
        ),
        ("config/x.rs", "use crate::broker;", "uses `broker`"),
        ("audit/x.rs", "use crate::broker::Event;", "outside tests"),
        ("ipc/x.rs", "pub use crate::nowhere::X;", "uses `nowhere`"),
        ("paths.rs", "use crate::clock::Now;", "uses `clock`"),
        ("ipc/x.rs", "use countersign::tui::X;", "uses `tui`"),
        ("helpers/x.rs", "", "no layer"),
        ("broker/x.rs", "use std::fs::File;", "std::fs"),
        ("ballot/x.rs", "use std::fs::File;", "std::fs"),
        (
            "broker/x.rs",
            "let t = std::time::Instant::now();",
            "time::Instant",
        ),
        ("broker/x.rs", "let n = Now :: read();", "Now::read"),
        ("broker/x.rs", "use tokio::sync::mpsc;", "tokio"),
        ("broker/x.rs", "use std::{fs, io};", "in braces"),
        ("cli/x.rs", "use anyhow::Context as _;", "anyhow"),
        ("tui/x.rs", "fn f() { unsafe { g() } }", "unsafe"),
        ("executor/x.rs", "fn f() { unsafe { g() } }", "unsafe"),
        (
            "executor/x.rs",
            "send(&socket, &Command::Release)",
            "past its states",
        ),
        ("child/x.rs", "let held = Held { alive };", "without a look"),
        ("tui/x.rs", "fn f() { println!(\"{x}\"); }", "prints"),
        (
            "cli/x.rs",
            "fn f() { eprintln!(\"{x}\"); }",
            "past `cli::out`",
        ),
        (
            "executor/x.rs",
            "fn f() { let _ = std::io::stderr().write_all(b); }",
            "past `cli::out`",
        ),
        (
            "ipc/x.rs",
            "let c = Confirmation { id, digest, by, viewed };",
            "Confirmation",
        ),
        ("ipc/x.rs", "f(broker::Confirmation { id })", "Confirmation"),
        (
            "tui/x.rs",
            "#[cfg(test)]\nuse a::b;\nfn f() { g(Confirmation { id }) }",
            "Confirmation",
        ),
        (
            "broker/update.rs",
            "Ok(Grant { proposal })",
            "makes a `Grant`",
        ),
        (
            "executor/x.rs",
            "let g = decision::Grant { proposal };",
            "makes a `Grant`",
        ),
        (
            "app/x.rs",
            "log.submit(Ticket::Core(0), event, blobs);",
            "a ticket of the core's",
        ),
        (
            "ipc/x.rs",
            "match e { Effect::Execute(g) => run(g), _ => {} }",
            "Effect::Execute",
        ),
    ];
    for (path, text, expected) in faulty {
        let found = judge(&[Source::new(path, text)]).join("\n");
        assert!(found.contains(expected), "{path}: {text}: {found:?}");
    }
    let long = "\n".repeat(LINES_MAX + 1);
    assert!(judge(&[Source::new("ipc/x.rs", &long)])[0].contains("601 lines"));
}

#[test]
fn a_file_is_a_test_by_its_declaration_and_not_by_its_name() {
    let declared = "#[cfg(test)]\nmod tests;\nmod testing;\n#[cfg(test)]\n#[path = \"a_tests.rs\"]\n\
                    mod tests;\n#[cfg(test)]\nmod inline {}\n#[cfg(test)]\nuse a::b;";
    assert_eq!(
        test_modules("ipc/mod.rs", declared),
        ["ipc/tests", "ipc/a_tests"]
    );
    assert_eq!(
        test_modules("ipc/a.rs", declared),
        ["ipc/a/tests", "ipc/a_tests"]
    );
    assert_eq!(test_modules("lib.rs", declared), ["tests", "a_tests"]);
    assert!(is_within("ipc/tests.rs", "ipc/tests") && is_within("ipc/tests/x.rs", "ipc/tests"));
    assert!(!is_within("ipc/tests_of.rs", "ipc/tests"));
}

#[test]
fn allowed_code_is_not_reported() {
    let good = [
        (
            "ipc/x.rs",
            "use crate::{broker::{Event, Reply}, model::Peer};\nuse crate::ipc::Router;",
        ),
        (
            "broker/x.rs",
            "// std::fs and tokio are not for us\nconst A: &str = \"tokio\";",
        ),
        (
            "broker/x.rs",
            "use std::time::Duration;\n#[cfg(test)]\nmod tests { use std::fs; }",
        ),
        (
            "broker/x.rs",
            "const A: &str = r#\"use crate::tui; \" unsafe\"#; const B: char = '\"';",
        ),
        (
            "tui/x.rs",
            "fn f<'a>(x: &'a str) -> &'a str { x } // unsafe",
        ),
        (
            "executor/x.rs",
            "fn f() -> Grant { g() }\nimpl Grant {}\nlet a = Action::Grant { id };",
        ),
        ("broker/x.rs", "let Confirmation { id, by } = confirmation;"),
        (
            "app/x.rs",
            "let c = Confirmation { id };\nEffect::Execute(g) => x,",
        ),
        (
            "audit/x.rs",
            "#[cfg(test)]\nmod tests { use crate::broker::tests::logs; }",
        ),
        ("sandbox/x.rs", "unsafe { f() }"),
        ("child/x.rs", "self.send(Command::Release)"),
    ];
    for (path, text) in good {
        let found = judge(&[Source::new(path, text)]);
        assert!(found.is_empty(), "{path}: {text}: {found:?}");
    }
}
