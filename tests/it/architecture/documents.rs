//! Everything that documents and sources cite exists: files, headings, sections of the protocol,
//! and the tests that ARCHITECTURE names.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// A text of the repository, by its path below the root.
struct Text {
    path: String,
    text: String,
}

/// Every file of the repository, and the texts of files that cite others.
struct Repository {
    files: BTreeSet<String>,
    texts: Vec<Text>,
}

impl Repository {
    fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut paths = Vec::new();
        walk(root, &mut paths);
        let name = |p: &PathBuf| p.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let cites = |p: &&PathBuf| {
            let kind = p.extension().and_then(|e| e.to_str());
            matches!(kind, Some("md" | "rs" | "py" | "toml" | "yml"))
        };
        let text = |p: &PathBuf| {
            let text = std::fs::read_to_string(p).ok()?;
            let path = name(p);
            Some(Text { path, text })
        };
        Self {
            files: paths.iter().map(name).collect(),
            texts: paths.iter().filter(cites).filter_map(text).collect(),
        }
    }

    fn has(&self, path: &str) -> bool {
        let within = |f: &String| f.starts_with(&format!("{path}/"));
        self.files.contains(path) || self.files.iter().any(within)
    }

    /// Whether a file's or folder's path ends with `path`: `tui/keys.rs` for `src/tui/keys.rs`.
    fn knows(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let ends = |f: &String| f.ends_with(&format!("/{path}"));
        let inside = |f: &String| f.contains(&format!("/{path}/"));
        self.has(path) || self.files.iter().any(|f| ends(f) || inside(f))
    }

    fn text(&self, path: &str) -> Option<&str> {
        let text = self.texts.iter().find(|t| t.path == path)?;
        Some(&text.text)
    }
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !["target", ".git", "corpus", "artifacts"].contains(&name) {
            walk(&path, found);
        } else if path.is_file() {
            found.push(path);
        }
    }
}

/// Where a link leads from a document, as a path below the root.
fn resolved(document: &str, link: &str) -> String {
    let folder = Path::new(document).parent().unwrap();
    let mut path = PathBuf::new();
    for part in folder.join(link).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    path.to_str().unwrap().to_owned()
}

/// The links of a document: the text inside `](…)`, outside of code.
fn links(text: &str) -> Vec<&str> {
    let outside: Vec<&str> = text.split("```").step_by(2).collect();
    let outside = outside.into_iter().flat_map(|t| t.split('`').step_by(2));
    let links = outside.flat_map(|t| t.split("](").skip(1));
    links.filter_map(|t| Some(t.split_once(')')?.0)).collect()
}

/// The anchor that websites make from a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().chars();
    let kept = kept.filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn has_anchor(text: &str, wanted: &str) -> bool {
    let mut headings = text.lines().filter(|l| l.starts_with('#'));
    headings.any(|heading| anchor(heading) == wanted)
}

fn broken_links(repository: &Repository) -> Vec<String> {
    let mut found = Vec::new();
    for Text { path, text } in &repository.texts {
        if !path.ends_with(".md") {
            continue;
        }
        for link in links(text) {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => path.clone(),
                file => resolved(path, file),
            };
            if !repository.has(&target) {
                found.push(format!("{path}: {link}: there is no {target}"));
            } else if !heading.is_empty() {
                let text = repository.text(&target).unwrap_or_default();
                if !has_anchor(text, heading) {
                    found.push(format!("{path}: {link}: no such heading"));
                }
            }
        }
    }
    found
}

/// Documents that a text names, and the section behind each: `protocol.md §4`.
fn citations(text: &str) -> Vec<(&str, Option<&str>)> {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
    let mut found = Vec::new();
    for (at, _) in text.match_indices(".md") {
        let end = at + 3;
        if text[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let start = text[..at]
            .rfind(|c| !part(c))
            .map_or(0, |i| i + text[i..].chars().next().unwrap().len_utf8());
        if start == at {
            continue;
        }
        let section = text[end..].strip_prefix(" §").map(|rest| {
            let end = rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            &rest[..end]
        });
        found.push((&text[start..end], section));
    }
    found
}

/// Documents cited by a section and a title in capitals instead of a file name.
fn unnamed(text: &str) -> impl Iterator<Item = &str> {
    let before = text.match_indices(" §").map(|(at, _)| {
        let start = text[..at].rfind(|c: char| !c.is_ascii_alphabetic());
        &text[start.map_or(0, |i| i + text[i..].chars().next().unwrap().len_utf8())..at]
    });
    before.filter(|w| w.len() > 1 && w.bytes().all(|b| b.is_ascii_uppercase()))
}

/// Files that tests let snippets write.
const MADE_BY_SNIPPETS: [&str; 1] = ["note.md"];

fn broken_citations(repository: &Repository) -> Vec<String> {
    let mut found = Vec::new();
    for Text { path, text } in &repository.texts {
        // Snippets of agents cite their own documents, and this test invents some.
        if path.starts_with("benches/served/snippets/")
            || path == "tests/it/architecture/documents.rs"
        {
            continue;
        }
        for word in unnamed(text) {
            found.push(format!("{path}: {word} § names no file"));
        }
        for (named, section) in citations(text) {
            if MADE_BY_SNIPPETS.contains(&named) {
                continue;
            }
            if named.contains("..") || text.contains(&format!("://{named}")) {
                continue;
            }
            if !repository.knows(named) {
                found.push(format!("{path}: there is no {named}"));
            }
            if let Some(section) = section.filter(|s| !s.is_empty()) {
                let file = repository.files.iter().find(|f| f.ends_with(named));
                let cited = file.and_then(|f| repository.text(f)).unwrap_or_default();
                let heading = format!("## {section}. ");
                if !cited.lines().any(|line| line.starts_with(&heading)) {
                    found.push(format!("{path}: {named} has no section {section}"));
                }
            }
        }
    }
    found
}

/// The texts in back quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let outside = text.split("```").step_by(2);
    outside.flat_map(|t| t.split('`').skip(1).step_by(2))
}

/// `tui/{a,b}.rs` as `tui/a.rs` and `tui/b.rs`.
fn expanded(path: &str) -> Vec<String> {
    let parts = path.split_once('{').and_then(|(before, rest)| {
        let (inside, after) = rest.split_once('}')?;
        Some((before, inside, after))
    });
    match parts {
        None => vec![path.to_owned()],
        Some((before, inside, after)) => {
            let all = inside
                .split(',')
                .map(|one| format!("{before}{}{after}", one.trim()));
            all.collect()
        }
    }
}

/// Files and tests that a document names in back quotes but that do not exist.
fn missing(document: &str, repository: &Repository) -> Vec<String> {
    const KINDS: [&str; 6] = [".rs", ".py", ".md", ".toml", ".jsonl", ".svg"];
    const FOLDERS: [&str; 6] = [
        "src/",
        "tests/",
        "benches/",
        "assets/",
        "fuzz/",
        "executor/helper",
    ];
    let text = repository.text(document).unwrap();
    let defines = |name: &str| {
        let function = format!("fn {name}(");
        let snapshot = format!("/{name}_");
        repository.texts.iter().any(|t| t.text.contains(&function))
            || repository
                .files
                .iter()
                .any(|f| f.ends_with(".snap") && f.contains(&snapshot))
    };
    let mut found = Vec::new();
    for word in quoted(text) {
        let file = KINDS.iter().any(|kind| word.ends_with(kind));
        let folder = FOLDERS.iter().any(|folder| word.starts_with(folder));
        if (file || folder) && !word.contains([' ', '<', '*', '~']) {
            let paths = expanded(word).into_iter();
            found.extend(paths.filter(|path| !repository.knows(path)));
        }
        // Names of tests are sentences.
        let setting = format!("\"{word}\"");
        let is_setting = || {
            repository
                .texts
                .iter()
                .any(|t| t.path == "src/config/keys.rs" && t.text.contains(&setting))
        };
        let sentence = word.matches('_').count() >= 3 && !is_setting();
        let name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if sentence && word.chars().all(name) && !defines(word) {
            found.push(word.to_owned());
        }
    }
    found
}

#[test]
fn every_link_of_a_document_leads_to_a_file_and_a_heading() {
    let repository = Repository::read();
    let found = broken_links(&repository);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_document_that_a_file_cites_is_in_the_repository() {
    let repository = Repository::read();
    let found = broken_citations(&repository);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn architecture_names_tests_and_files_that_exist() {
    let repository = Repository::read();
    for document in [
        "ARCHITECTURE.md",
        "assets/docs/internals.md",
        ".github/CONTRIBUTING.md",
    ] {
        let found = missing(document, &repository);
        assert!(
            found.is_empty(),
            "{document} names what is not there:\n{}",
            found.join("\n")
        );
    }
}

/// The variables that a source names in quotes: `"CS_TEST_TIERS"`.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    let prefixes = ["\"CS_", "\"COUNTERSIGN_TEST_"];
    prefixes.into_iter().flat_map(move |prefix| {
        text.match_indices(prefix).filter_map(|(at, _)| {
            let (name, _) = text[at + 1..].split_once('"')?;
            let whole = name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
            whole.then_some(name)
        })
    })
}

#[test]
fn contributing_has_every_variable_of_the_tests() {
    let repository = Repository::read();
    let table = repository.text(".github/CONTRIBUTING.md").unwrap();
    let sources = repository.texts.iter().filter(|t| {
        // The variables in these files are examples.
        let examples = ["tests/it/config.rs", "tests/it/architecture/documents.rs"];
        t.path.ends_with(".rs") && !examples.contains(&t.path.as_str())
    });
    let mut seen = 0;
    for source in sources {
        for name in variables(&source.text) {
            seen += 1;
            assert!(
                table.contains(&format!("`{name}")),
                "{}: {name}",
                source.path
            );
        }
    }
    assert!(seen > 10, "only {seen} variables were found");
}

#[test]
fn every_invariant_has_a_test() {
    let repository = Repository::read();
    let text = repository.text("ARCHITECTURE.md").unwrap();
    let row = |n: usize| {
        let begins = format!("| {n} |");
        text.lines().find(move |line| line.starts_with(&begins))
    };
    let mut rows = 0;
    while let Some(row) = row(rows + 1) {
        rows += 1;
        let tests = row.split('|').nth(4).unwrap();
        assert!(quoted(tests).count() > 0, "invariant {rows} names no test");
    }
    assert!(rows >= 11, "only {rows} invariants were found");
}

#[test]
fn readme_is_short_and_begins_with_the_demo_and_the_tests() {
    let repository = Repository::read();
    let text = repository.text("README.md").unwrap();
    assert!(
        text.lines().count() <= 150,
        "{} lines",
        text.lines().count()
    );
    let commands: Vec<&str> = text.split("```").skip(1).step_by(2).collect();
    assert_eq!(commands[0].trim(), "cargo run --release -- demo");
    assert_eq!(commands[1].trim(), "cargo test");
}

#[test]
fn made_up_citations_are_found() {
    let text = |path: &str, text: &str| Text {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let texts = vec![
        text(
            "README.md",
            "[a](docs/a.md#two-words) [b](docs/b.md) [c](docs/a.md#three) `[x](no.md)`",
        ),
        text(
            "docs/a.md",
            "# Two words\n## 1. First\nas `gone_and_lost_for_ever` and `tests/{a,b}.rs` say",
        ),
        text(
            "src/x.rs",
            "//! As a.md §1 and a.md §2 say, and nowhere.md. TITLE §3.",
        ),
        text("tests/a.rs", ""),
    ];
    let files = texts.iter().map(|t| t.path.clone()).collect();
    let repository = Repository { files, texts };
    let links = broken_links(&repository);
    assert_eq!(links.len(), 2, "{links:?}");
    assert!(links[0].contains("docs/b.md") && links[1].contains("#three"));
    let cited = broken_citations(&repository).join("\n");
    assert!(
        cited.contains("no section 2") && cited.contains("no nowhere.md"),
        "{cited}"
    );
    assert!(!cited.contains("section 1"), "{cited}");
    assert!(cited.contains("TITLE § names no file"), "{cited}");
    assert_eq!(
        missing("docs/a.md", &repository),
        ["gone_and_lost_for_ever", "tests/b.rs"]
    );
}
