//! Estimates the progress of an installation from pip's output and the folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::lock;
use super::managed::Progress;
use crate::model::visible;

/// Counts packages: each once when it is downloaded, and once when it is installed.
pub(super) struct Meter<'a> {
    progress: &'a mut dyn FnMut(Progress),
    step: String,
    /// Number of lock file entries for this Python and machine.
    packages: u64,
    /// Number of packages whose download has begun.
    begun: u64,
    installing: bool,
    made: bool,
    done: u64,
}

impl<'a> Meter<'a> {
    pub fn new(progress: &'a mut dyn FnMut(Progress)) -> Self {
        let packages = lock::packages().len() as u64;
        Self {
            progress,
            step: String::new(),
            packages,
            begun: 0,
            installing: false,
            made: false,
            done: 0,
        }
    }

    pub fn say(&mut self, step: &str) {
        self.step = visible(step).into_owned();
        self.tell();
    }

    fn tell(&mut self) {
        (self.progress)(Progress {
            step: self.step.clone(),
            done: self.done,
            total: 2 + 2 * self.packages,
        });
    }

    /// Raises the progress; never lowers it.
    fn reach(&mut self, done: u64) {
        self.done = self.done.max(done.min(1 + 2 * self.packages));
    }

    pub fn made(&mut self) {
        self.made = true;
        self.reach(1);
        self.say("asking for packages");
    }

    pub fn line(&mut self, line: &str) {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("Collecting ") {
            // The previous package has arrived.
            self.reach(1 + self.begun);
            self.begun = (self.begun + 1).min(self.packages);
            let name = rest.split([' ', '=']).next().unwrap_or_default();
            self.say(&format!("downloading {name}"));
        } else if let Some(rest) = line.strip_prefix("Downloading ") {
            let (file, size) = rest.split_once(' ').unwrap_or((rest, ""));
            let name = file.split('-').next().unwrap_or_default();
            self.say(format!("downloading {name} {size}").trim_end());
        } else if line.starts_with("Installing collected packages") {
            self.installing = true;
            self.reach(1 + self.packages);
            self.say("installing");
        }
    }

    /// Counts the packages that are installed in the environment.
    pub fn installed(&mut self, site: &Path) {
        if !self.installing {
            return;
        }
        let names = installed_names(site);
        let known: Vec<&str> = lock::packages();
        let count = known.iter().filter(|n| names.contains(**n)).count() as u64;
        self.reach(1 + self.packages + count);
        self.tell();
    }

    pub fn checking(&mut self) {
        self.reach(1 + 2 * self.packages);
        self.say("checking");
    }
}

/// The normalised names of the distributions in a folder.
fn installed_names(site: &Path) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(site) else {
        return BTreeSet::new();
    };
    entries
        .filter_map(|e| {
            let name = e.ok()?.file_name().into_string().ok()?;
            let stem = name.strip_suffix(".dist-info")?;
            let (name, _) = stem.rsplit_once('-')?;
            Some(name.replace(['_', '.'], "-").to_lowercase())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_never_goes_back_and_ends_before_the_last_step() {
        let mut seen: Vec<Progress> = Vec::new();
        let mut note = |p: Progress| seen.push(p);
        let mut meter = Meter::new(&mut note);
        meter.say("making the environment");
        meter.made();
        for name in lock::packages() {
            meter.line(&format!("Collecting {name}==1.0 (from -r x (line 1))"));
            meter.line(&format!(
                "  Downloading {name}-1.0-py3-none-any.whl (12.3 MB)\x1b[2J"
            ));
        }
        meter.line("Installing collected packages: a, b");
        meter.installed(Path::new("/nonexistent"));
        meter.checking();
        assert!(seen.windows(2).all(|w| w[0].done <= w[1].done));
        assert!(
            seen.iter()
                .all(|p| p.done < p.total && !p.step.contains('\x1b'))
        );
        assert!(seen.iter().any(|p| p.step.contains("(12.3 MB)")));
        let last = seen.last().unwrap();
        assert_eq!(last.done + 1, last.total);
    }
}
