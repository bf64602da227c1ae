//! Names of files that a run leaves: which ones a run may use, and under which name its artifacts are kept.
//!
//! A run may use nearly any name, because names are often made from data (`North America.csv`). Artifacts have the plain
//! names of [`Artifact::is_name`], because agents and people use them in other places.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use super::{Artifact, ProposalId};

/// Most characters of a name, folders apart.
pub const NAME_MAX: usize = 100;

/// A file that is kept under another name than the run gave it. Both are whole paths in the output folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renamed {
    pub left: String,
    pub kept: String,
}

/// Whether a run may use this name for a file or folder: 1 to [`NAME_MAX`] characters without control characters,
/// slashes and backslashes, except `.` and `..`. The runner's `files.py` has the same rule.
pub fn is_usable(name: &str) -> bool {
    (1..=NAME_MAX).contains(&name.chars().count())
        && !name.contains(|c: char| c.is_control() || matches!(c, '/' | '\\'))
        && name != "."
        && name != ".."
}

/// Whether a run may use this path: one to [`Artifact::SEGMENTS`] names joined by `/`.
pub fn is_usable_path(path: &str) -> bool {
    path.split('/').count() <= Artifact::SEGMENTS && path.split('/').all(is_usable)
}

/// Why a file is not saved under its name.
pub const READ_BY_ITSELF: &str = "a name that programs read by themselves";

/// Whether a person's copy of an artifact may have this name; the error says why not. Shells, desktops, editors and
/// this program read files whose names begin with a dot (`.bash_profile`, `.config/autostart`) without being asked,
/// so no part of the name may.
pub fn may_be_saved(name: &str) -> Result<(), &'static str> {
    if name.split('/').any(|part| part.starts_with('.')) {
        return Err(READ_BY_ITSELF);
    }
    match Artifact::is_name(name) {
        true => Ok(()),
        false => Err("no plain file name"),
    }
}

/// The folder of its own in which the files of a run are saved.
pub fn folder_for(title: Option<&str>, id: ProposalId) -> String {
    let slug = slug(title.unwrap_or_default(), 24);
    let slug = slug.map_or(Cow::Borrowed("run"), Cow::Owned);
    format!("countersign-{slug}-{}", id.short())
}

/// A title as a part of a file's name; `None` if it has no letter or digit of ASCII.
pub fn slug(title: &str, most: usize) -> Option<String> {
    let mut out = String::new();
    for c in title.chars() {
        if out.len() >= most {
            break;
        }
        match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() => out.push(c),
            _ if out.is_empty() || out.ends_with('-') => {}
            _ => out.push('-'),
        }
    }
    let slug = out.trim_end_matches('-');
    (!slug.is_empty()).then(|| slug.to_owned())
}

/// The nearest plain name: [`Artifact::is_segment`] holds for it.
pub fn plain(name: &str) -> String {
    let mut plain = String::new();
    for c in name.nfc() {
        match c {
            'ä' => plain.push_str("ae"),
            'ö' => plain.push_str("oe"),
            'ü' => plain.push_str("ue"),
            'Ä' => plain.push_str("Ae"),
            'Ö' => plain.push_str("Oe"),
            'Ü' => plain.push_str("Ue"),
            'ß' => plain.push_str("ss"),
            c => {
                let base = std::iter::once(c).nfd().next().unwrap_or(c);
                match is_plain(base) {
                    true => plain.push(base),
                    false if plain.ends_with('_') => {}
                    false => plain.push('_'),
                }
            }
        }
    }
    let mut plain = plain.replace("_.", ".");
    // Nothing but the extension is left of `表.csv`, and `é..` must not become `..`.
    if plain.is_empty() || (plain.starts_with('.') && !name.starts_with('.')) {
        plain.insert(0, '_');
    }
    with_suffix(&plain, "")
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// Puts `suffix` before the extension and cuts what stands before it to [`NAME_MAX`].
fn with_suffix(plain: &str, suffix: &str) -> String {
    let (stem, end) = match plain.rfind('.') {
        Some(at) if at > 0 && plain.len() - at <= 10 => plain.split_at(at),
        _ => (plain, ""),
    };
    let room = NAME_MAX - suffix.len() - end.len();
    format!("{}{suffix}{end}", &stem[..stem.len().min(room)])
}

/// The name under which each of the paths is kept, in their order. Plain names stay; no two paths get the same name,
/// and no file the name of a folder.
pub fn kept_as(paths: &[&str]) -> Vec<String> {
    let mut names = Names::default();
    let mut kept = vec![String::new(); paths.len()];
    // Plain paths first: they keep their names.
    let (first, rest): (Vec<usize>, Vec<usize>) =
        (0..paths.len()).partition(|at| Artifact::is_name(paths[*at]));
    for at in first.into_iter().chain(rest) {
        kept[at] = names.of(paths[at]);
    }
    kept
}

/// Which names are given, by the folder as the run named it.
#[derive(Default)]
struct Names<'a> {
    of: BTreeMap<(&'a str, &'a str), String>,
    taken: BTreeSet<(&'a str, String)>,
}

impl<'a> Names<'a> {
    fn of(&mut self, path: &'a str) -> String {
        let mut kept = String::new();
        let mut start = 0;
        for name in path.split('/') {
            let folder = &path[..start];
            start += name.len() + 1;
            if !kept.is_empty() {
                kept.push('/');
            }
            let given = match self.of.get(&(folder, name)) {
                Some(given) => given.clone(),
                None => self.give(folder, name),
            };
            kept.push_str(&given);
        }
        kept
    }

    fn give(&mut self, folder: &'a str, name: &'a str) -> String {
        let plain = match Artifact::is_segment(name) {
            true => name.to_owned(),
            false => plain(name),
        };
        let mut given = plain.clone();
        let mut number = 1;
        while (folder.is_empty() && Artifact::is_reserved(&given) && given != name)
            || !self.taken.insert((folder, given.clone()))
        {
            number += 1;
            given = with_suffix(&plain, &format!("-{number}"));
        }
        self.of.insert((folder, name), given.clone());
        given
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usable_name_has_no_control_character_and_leads_nowhere() {
        for name in ["a b.csv", "Übersicht.txt", "12:30 (1).png", "表.csv", "..."] {
            assert!(is_usable(name), "{name}");
        }
        let long = "x".repeat(NAME_MAX + 1);
        for name in [
            "", ".", "..", "a/b", "a\\b", "a\nb", "a\u{85}", "\u{7f}", &long,
        ] {
            assert!(!is_usable(name), "{name:?}");
        }
        assert!(is_usable_path("a b/c/d/e.csv") && !is_usable_path("a/b/c/d/e.csv"));
        assert!(!is_usable_path("/a") && !is_usable_path("a//b"));
    }

    #[test]
    fn no_name_that_a_program_reads_by_itself_is_saved() {
        for name in [
            ".bashrc",
            ".bash_profile",
            ".config/autostart/x.desktop",
            ".ssh/authorized_keys",
            "a/.git/hooks/post-checkout",
            "a/b/.env",
            "...",
            "..a/b",
            "../x",
            "a/../b",
            "./x",
        ] {
            assert_eq!(may_be_saved(name), Err(READ_BY_ITSELF), "{name}");
        }
        for name in [
            "",
            "/etc/passwd",
            "a//b",
            "a/b/c/d/e",
            "a b",
            "~\n",
            "a\u{202e}b",
        ] {
            assert_eq!(may_be_saved(name), Err("no plain file name"), "{name:?}");
        }
        for name in ["a.csv", "out/b.txt", "_.csv", "-rf", "a..b"] {
            assert_eq!(may_be_saved(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn a_title_makes_a_plain_name() {
        for (title, expected) in [
            ("Head count, by dept", Some("head-count-by-dept")),
            ("--help; rm -rf ../x", Some("help-rm-rf-x")),
            ("\u{202e}\u{1b}[2J", Some("2j")),
            ("日本", None),
            ("", None),
        ] {
            assert_eq!(slug(title, 40).as_deref(), expected);
        }
        assert!(slug(&"a b".repeat(100), 40).is_some_and(|slug| slug.len() <= 40));
    }

    #[test]
    fn a_folder_for_files_is_named_after_its_run() {
        let id = ProposalId::new();
        for (title, slug) in [
            (None, "run"),
            (Some("東京"), "run"),
            (Some("../../.bashrc"), "bashrc"),
            (Some("Quarterly report: Q3"), "quarterly-report-q3"),
            (
                Some("a very long title that goes on"),
                "a-very-long-title-that-g",
            ),
        ] {
            let name = folder_for(title, id);
            assert_eq!(name, format!("countersign-{slug}-{}", id.short()));
            assert_eq!(may_be_saved(&name), Ok(()));
        }
    }

    #[test]
    fn every_usable_name_has_a_plain_one() {
        for (name, expected) in [
            ("Total Amount.csv", "Total_Amount.csv"),
            ("Übersicht.txt", "Uebersicht.txt"),
            ("café (1).csv", "cafe_1.csv"),
            ("a & b.png", "a_b.png"),
            ("表.csv", "_.csv"),
            ("東京", "_"),
            (" .", "_."),
            (".é", ".e"),
        ] {
            assert_eq!(plain(name), expected);
            assert!(Artifact::is_segment(&plain(name)), "{name}");
        }
        let long = plain(&format!("{}.csv", "ß b".repeat(33)));
        assert!(
            Artifact::is_segment(&long) && long.ends_with(".csv"),
            "{long}"
        );
    }

    #[test]
    fn no_two_files_are_kept_under_one_name() {
        let kept = kept_as(&[
            "a b.csv",
            "a_b.csv",
            "a+b.csv",
            "a b/x.csv",
            "a b/y z",
            "a-b",
        ]);
        assert_eq!(
            kept,
            [
                "a_b-2.csv",
                "a_b.csv",
                "a_b-3.csv",
                "a_b/x.csv",
                "a_b/y_z",
                "a-b"
            ]
        );
        // A file and a folder in one place.
        assert_eq!(kept_as(&["a b", "a_b/x"]), ["a_b-2", "a_b/x"]);
        assert_eq!(kept_as(&["a_b", "a b/x"]), ["a_b", "a_b-2/x"]);
        // The run's own names.
        assert_eq!(kept_as(&["rèsult", "a/rèsult"]), ["result-2", "a/result"]);
        let dense: Vec<String> = (0..30).map(|n| "é".repeat(100 - n)).collect();
        let dense: Vec<&str> = dense.iter().map(String::as_str).collect();
        let given: BTreeSet<String> = kept_as(&dense).into_iter().collect();
        assert_eq!(given.len(), dense.len());
    }
}
