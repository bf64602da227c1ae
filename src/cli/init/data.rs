//! The first question: which files of a folder agents may use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::config::check_identifier;
use crate::error::Failure;
use crate::model::nearest;

use super::super::ask::line;
use super::super::out::tell;
use super::UNDONE;

const EXTENSIONS: [&str; 5] = ["csv", "tsv", "json", "jsonl", "parquet"];

/// More in one folder are a store of files and no choice of tables.
const TABLES_MAX: usize = 50;

/// Data sets by name.
pub(super) type Tables = BTreeMap<String, String>;

/// The tables of the folder that was named, or of the one that the person names; on a terminal, those they choose.
pub(super) fn tables(folder: Option<&Path>) -> Result<Tables, Failure> {
    if let Some(folder) = folder {
        return found(folder);
    }
    loop {
        let said = line("where are your data? a folder; Enter for none", UNDONE)?;
        if said.is_empty() {
            return Ok(Tables::new());
        }
        match found(Path::new(&said)) {
            Ok(tables) if tables.is_empty() => {
                tell(&format!("{said} has no files ({})", EXTENSIONS.join(", ")));
            }
            Ok(tables) => return chosen(tables),
            Err(e) => tell(&e.to_string()),
        }
    }
}

fn chosen(tables: Tables) -> Result<Tables, Failure> {
    for (name, path) in &tables {
        tell(&format!("  {name}  {path}"));
    }
    loop {
        let said = line("which may agents use? their names; Enter for all", UNDONE)?;
        let names: Vec<&str> = said
            .split([' ', ','])
            .filter(|name| !name.is_empty())
            .collect();
        let unknown = names.iter().find(|name| !tables.contains_key(**name));
        match unknown {
            None if names.is_empty() => return Ok(tables),
            None => {
                let is_named = |(name, _): &(String, String)| names.contains(&&**name);
                return Ok(tables.into_iter().filter(is_named).collect());
            }
            Some(unknown) => {
                let near = nearest(unknown, tables.keys().map(String::as_str));
                let near = near.map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
                tell(&format!("there is no `{unknown}`{near}"));
            }
        }
    }
}

/// The tables right in a folder, under names that code can use.
fn found(folder: &Path) -> Result<Tables, Failure> {
    let wrong = |e: std::io::Error| Failure::usage(format!("{}: {e}", folder.display()));
    let folder = folder.canonicalize().map_err(wrong)?;
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .map_err(wrong)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_table(path))
        .collect();
    paths.sort();
    let mut tables = Tables::new();
    for path in paths {
        let Some(text) = path.to_str() else {
            tell(&format!(
                "left out, its name is not UTF-8: {}",
                path.display()
            ));
            continue;
        };
        if let Some(why) = unwanted(&path, &folder) {
            tell(&format!("left out, {why}: {text}"));
            continue;
        }
        if tables.len() == TABLES_MAX {
            tell(&format!(
                "only the first {TABLES_MAX} files are taken; add others to the configuration"
            ));
            break;
        }
        match name(&path, &tables) {
            Some(name) => drop(tables.insert(name, text.to_owned())),
            None => tell(&format!("left out, no name can be made of it: {text}")),
        }
    }
    Ok(tables)
}

fn is_table(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str());
    extension.is_some_and(|e| EXTENSIONS.iter().any(|one| e.eq_ignore_ascii_case(one)))
        && path.is_file()
}

/// Why a file is no data set, though its name ends like one: what is in a folder is taken without another look, and a link
/// could lead to anything.
fn unwanted(path: &Path, folder: &Path) -> Option<&'static str> {
    let name = path.file_name().unwrap_or_default();
    let inside = path.canonicalize().is_ok_and(|at| at.starts_with(folder));
    if !inside {
        Some(
            "it is a link that leads out of the folder; add it to the configuration by its own path",
        )
    } else if name.as_encoded_bytes().starts_with(b".") {
        Some("it is hidden")
    } else if path.metadata().is_ok_and(|at| at.len() == 0) {
        Some("it is empty")
    } else {
        None
    }
}

/// `2024 sales-north.csv` is `_2024_sales_north`, and with another of that name `_2024_sales_north_2`.
fn name(path: &Path, taken: &Tables) -> Option<String> {
    let stem = path.file_stem()?.to_str()?.to_lowercase();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut stem: String = stem.chars().map(plain).take(90).collect();
    if stem.starts_with(|c: char| c.is_ascii_digit()) {
        stem.insert(0, '_');
    }
    let stem = match check_identifier(&stem) {
        Ok(()) => stem,
        // A word of Python's, or its own kind of name.
        Err(_) => format!("data_{}", stem.trim_start_matches('_')),
    };
    let others = (2..=TABLES_MAX + 1).map(|n| format!("{stem}_{n}"));
    std::iter::once(stem.clone())
        .chain(others)
        .find(|name| check_identifier(name).is_ok() && !taken.contains_key(name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn each_table_of_a_folder_gets_a_name_that_code_can_use() {
        let dir = tempfile::tempdir().unwrap();
        for file in [
            "Sales 2024.csv",
            "sales-2024.TSV",
            "2024.json",
            "class.csv",
            "__init__.csv",
            "ü.parquet",
            "notes.txt",
            "x.jsonl",
        ] {
            std::fs::write(dir.path().join(file), "a\n1\n").unwrap();
        }
        // What leads elsewhere, is hidden or empty is left out.
        let outside = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(outside.path(), "a\n1\n").unwrap();
        let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, dir.path().join(name));
        link(outside.path(), "elsewhere.csv").unwrap();
        std::fs::write(dir.path().join(".hidden.csv"), "a\n1\n").unwrap();
        std::fs::write(dir.path().join("empty.csv"), "").unwrap();
        link(Path::new("x.jsonl"), "y.jsonl").unwrap();
        std::fs::create_dir(dir.path().join("folder.csv")).unwrap();
        let tables = found(dir.path()).unwrap();
        let names: Vec<&str> = tables.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "_",
                "_2024",
                "data_class",
                "data_init__",
                "sales_2024",
                "sales_2024_2",
                "x",
                "y"
            ]
        );
        assert!(names.iter().all(|name| check_identifier(name).is_ok()));
        assert!(tables["x"].starts_with('/') && tables["x"].ends_with("/x.jsonl"));
        assert!(found(&dir.path().join("x.jsonl")).is_err());
        for n in 0..60 {
            std::fs::write(dir.path().join(format!("n{n}.csv")), "a\n1\n").unwrap();
        }
        assert_eq!(found(dir.path()).unwrap().len(), TABLES_MAX);
    }
}
