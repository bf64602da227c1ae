//! What a run left in its output folder that is not returned, and why.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::file_name::Renamed;
use super::{Artifact, Run};

/// An entry of the output folder that is not collected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Path in the folder, without control characters; `None` if the path may be private.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub reason: Reason,
}

/// Why an entry is not collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Its name is one of [`Artifact::OWN`].
    Reserved,
    Name,
    Deep,
    Link,
    Special,
    Unreadable,
    /// The policy collects no file.
    NoFiles,
}

impl Reason {
    /// Follows "… is not collected: ".
    const fn words(self) -> &'static str {
        match self {
            Self::Reserved => {
                "the names `result` and `stdout` are the run's own result and output; write it under another name"
            }
            Self::Name => {
                "a name has at most 100 characters, without control characters and backslashes"
            }
            Self::Deep => "at most three folders are looked into",
            Self::Link => "links are not, nor files with several names",
            Self::Special => "pipes, sockets and devices are not",
            Self::Unreadable => "it cannot be opened",
            Self::NoFiles => "the policy collects no files",
        }
    }
}

impl LeftOut {
    /// How many entries of one run are listed; the others are only counted.
    pub const MOST: usize = 20;

    /// Longest name in bytes; longer ones are cut.
    const NAME_MAX: usize = 200;

    /// `name` comes from the disk and may contain any bytes.
    pub fn new(name: &[u8], reason: Reason) -> Self {
        let mut shown = String::new();
        for c in String::from_utf8_lossy(name).chars() {
            if c.is_control() {
                shown.extend(c.escape_default());
            } else {
                shown.push(c);
            }
            if shown.len() > Self::NAME_MAX {
                shown.push('…');
                break;
            }
        }
        Self {
            name: Some(shown),
            reason,
        }
    }
}

impl Run {
    /// Withholds all files and their names, since both may contain private data.
    pub fn withhold_files(&mut self) {
        let files = (self.artifacts.len() + self.artifacts_unkept.len()) as u64;
        self.artifacts_left_out += files;
        self.artifacts_withheld += files;
        self.artifacts.clear();
        self.artifacts_unkept.clear();
        self.figures_unkept = 0;
        self.artifacts_renamed.clear();
        for one in &mut self.artifacts_refused {
            // Reserved names are known to everybody.
            if one.reason != Reason::Reserved {
                one.name = None;
            }
        }
    }

    /// Says which files and figures were too many, which files are kept under other names, and what of the output
    /// folder is not returned and why, in one sentence per reason.
    pub fn notes_on_files(&self) -> Vec<String> {
        let mut said = self.losses();
        said.extend(renamed(&self.artifacts_renamed));
        match self.artifacts_withheld {
            0 => {}
            1 => said.push("1 file was thrown away: files of runs on private data are.".to_owned()),
            files => said.push(format!(
                "{files} files were thrown away: files of runs on private data are."
            )),
        }
        let mut by_reason: BTreeMap<Reason, Vec<&LeftOut>> = BTreeMap::new();
        for one in &self.artifacts_refused {
            by_reason.entry(one.reason).or_default().push(one);
        }
        for (reason, things) in by_reason {
            let verb = if things.len() == 1 { "is" } else { "are" };
            let what = listed(&things);
            said.push(format!("{what} {verb} not collected: {}.", reason.words()));
        }
        let listed = self.artifacts_withheld + self.artifacts_refused.len() as u64;
        match self.artifacts_left_out.saturating_sub(listed) {
            0 => {}
            1 => said.push("1 more thing in its output folder is not collected.".to_owned()),
            more => said.push(format!(
                "{more} more things in its output folder are not collected."
            )),
        }
        said
    }

    /// Says which files and figures were too many.
    pub fn losses(&self) -> Vec<String> {
        let both = [self.too_many_files(), self.too_many_figures()];
        both.into_iter().flatten().collect()
    }

    fn too_many_files(&self) -> Option<String> {
        let (first, rest) = self.artifacts_unkept.split_first()?;
        let all = rest.len() + 1;
        let named = rest.iter().take(LeftOut::MOST - 1);
        let named = named.fold(first.clone(), |all, name| format!("{all}, {name}"));
        let more = if all > LeftOut::MOST { ", …" } else { "" };
        Some(format!(
            "It left more files than the {} that are kept, and {all} of them are not: {named}{more}.",
            self.artifacts.len(),
        ))
    }

    fn too_many_figures(&self) -> Option<String> {
        let verb = match self.figures_unkept {
            0 => return None,
            1 => "1 figure is",
            figures => &format!("{figures} figures are"),
        };
        Some(format!(
            "{verb} not kept: a run keeps no more figures than the policy keeps files; draw several into one with \
             `plt.subplots`."
        ))
    }
}

fn renamed(files: &[Renamed]) -> Option<String> {
    let named = files.iter().take(LeftOut::MOST);
    let named: Vec<String> = named
        .map(|file| format!("`{}` as `{}`", file.left, file.kept))
        .collect();
    let more = match files.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| format!("Kept under plain names: {}{more}.", named.join(", ")))
}

/// The names, or the number of entries if a name may be private.
fn listed(things: &[&LeftOut]) -> String {
    let names: Option<Vec<String>> = things
        .iter()
        .map(|one| one.name.as_ref().map(|name| format!("`{name}`")))
        .collect();
    match names.as_deref() {
        Some([one]) => one.clone(),
        Some([all @ .., last]) => format!("{} and {last}", all.join(", ")),
        _ if things.len() == 1 => "1 thing in its output folder".to_owned(),
        _ => format!("{} things in its output folder", things.len()),
    }
}

impl Artifact {
    /// Names of what a run returns besides its files. No file or folder may have one of them.
    pub const OWN: [&'static str; 2] = [Self::RESULT, Self::STDOUT];

    /// Whether the path is one of [`Self::OWN`], or in a folder of such a name.
    pub fn is_reserved(path: &str) -> bool {
        let first = path.split('/').next().unwrap_or_default();
        Self::OWN.contains(&first)
    }
}
