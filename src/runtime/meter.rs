//! Estimates the progress of an installation from the installer's output and the folder: packages, megabytes, and the seconds
//! that are left.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::lock;
use super::managed::Progress;
use crate::model::visible;

/// Who installs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Uv,
    Pip,
}

/// The steps in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Making,
    Downloading,
    Installing,
    Compiling,
    Checking,
}

impl By {
    /// Hundredths of the whole time that each phase took where it was measured (two cores, a fast network).
    const fn shares(self) -> [u64; 5] {
        match self {
            Self::Uv => [1, 20, 4, 70, 5],
            Self::Pip => [6, 32, 20, 39, 3],
        }
    }
}

/// No estimate before this share of the work and this time: it would jump.
const EARLY: f64 = 0.04;
const SOON: Duration = Duration::from_secs(2);
/// How often the files that are compiled are counted.
const COUNT: Duration = Duration::from_secs(1);

pub(super) struct Meter<'a> {
    progress: &'a mut dyn FnMut(Progress),
    by: By,
    start: Instant,
    phase: Phase,
    /// How much of the phase is done, from 0 to 1.
    part: f64,
    step: String,
    /// Number of lock file entries for this Python and machine.
    packages: u64,
    /// Packages whose download has begun, and megabytes of all but the last one.
    begun: u64,
    arrived: f64,
    last: f64,
    counted: Option<Instant>,
    done: u64,
}

impl<'a> Meter<'a> {
    pub fn new(by: By, progress: &'a mut dyn FnMut(Progress)) -> Self {
        let mut meter = Self {
            progress,
            by,
            start: Instant::now(),
            phase: Phase::Making,
            part: 0.0,
            step: "making the environment".to_owned(),
            packages: lock::packages().len() as u64,
            begun: 0,
            arrived: 0.0,
            last: 0.0,
            counted: None,
            done: 0,
        };
        meter.tell();
        meter
    }

    /// Another installer begins anew, as the first one failed.
    pub fn change(&mut self, by: By) {
        self.by = by;
        (self.begun, self.arrived, self.last) = (0, 0.0, 0.0);
        self.phase = Phase::Making;
        self.reach(Phase::Making, 0.0, "uv failed, so pip installs");
    }

    pub fn made(&mut self) {
        let (packages, megabytes) = (self.packages, lock::DOWNLOAD_MB);
        let step = format!("asking for {packages} packages, about {megabytes} MB");
        self.reach(Phase::Downloading, 0.0, &step);
    }

    /// A line of the installer's output.
    pub fn line(&mut self, line: &str) {
        let line = line.trim();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (self.by, word) {
            (By::Pip, "Collecting") => {
                self.settle();
                self.begun = (self.begun + 1).min(self.packages);
                self.download(rest.split([' ', '=']).next().unwrap_or_default());
            }
            (By::Pip, "Downloading" | "Using") => {
                let rest = rest.strip_prefix("cached ").unwrap_or(rest);
                let (file, size) = rest.split_once(' ').unwrap_or((rest, ""));
                self.last = megabytes(size).unwrap_or(0.0);
                self.download(file.split('-').next().unwrap_or_default());
            }
            (By::Pip, "Installing") if rest.starts_with("collected") => {
                self.reach(Phase::Installing, 0.0, "installing");
            }
            // uv names the larger packages, several at once.
            (By::Uv, "Downloading") => {
                let (name, size) = rest.split_once(' ').unwrap_or((rest, ""));
                self.settle();
                self.last = megabytes(size).unwrap_or(0.0);
                self.download(name);
            }
            (By::Uv, "Downloaded") => self.download(rest),
            (By::Uv, "Prepared") => self.reach(Phase::Installing, 0.0, "installing"),
            _ => {}
        }
    }

    /// The package before has arrived.
    fn settle(&mut self) {
        self.arrived += std::mem::take(&mut self.last);
    }

    fn download(&mut self, name: &str) {
        let total = lock::DOWNLOAD_MB as f64;
        // Other Pythons and machines have packages of other sizes.
        let arrived = self.arrived.min(total);
        let of = format!("{arrived:.0} of about {total} MB");
        let step = match self.by {
            By::Pip => {
                let before = self.begun.saturating_sub(1);
                format!(
                    "downloading {name}: {before} of {} packages, {of}",
                    self.packages
                )
            }
            By::Uv => format!("downloading {name}: {of}"),
        };
        self.reach(Phase::Downloading, arrived / total, &step);
    }

    /// Counts the packages that are installed in the environment.
    pub fn installed(&mut self, site: &Path) {
        if self.phase != Phase::Installing {
            return;
        }
        let names = installed_names(site);
        let known: Vec<&str> = lock::packages();
        let count = known.iter().filter(|n| names.contains(**n)).count() as u64;
        let step = format!("installing: {count} of {} packages", self.packages);
        let part = count as f64 / self.packages.max(1) as f64;
        self.reach(Phase::Installing, part, &step);
    }

    /// Counts the files that are compiled, once a second.
    pub fn compiled(&mut self, site: &Path) {
        if self.counted.is_some_and(|at| at.elapsed() < COUNT) {
            return;
        }
        self.counted = Some(Instant::now());
        let (mut sources, mut compiled) = (0, 0);
        count(site, &mut sources, &mut compiled);
        let step = format!("compiling: {compiled} of {sources} files");
        let part = f64::from(compiled) / f64::from(sources.max(1));
        self.reach(Phase::Compiling, part, &step);
    }

    pub fn checking(&mut self) {
        self.reach(Phase::Checking, 0.0, "checking");
    }

    /// Raises the progress; never lowers it.
    fn reach(&mut self, phase: Phase, part: f64, step: &str) {
        if phase > self.phase {
            (self.phase, self.part) = (phase, 0.0);
        }
        self.part = self.part.max(part.clamp(0.0, 1.0));
        self.step = visible(step).into_owned();
        self.tell();
    }

    /// How much of the work is done, from 0 to 1.
    fn share(&self) -> f64 {
        let shares = self.by.shares();
        let before: u64 = shares[..self.phase as usize].iter().sum();
        let now = shares[self.phase as usize] as f64 * self.part;
        (before as f64 + now) / 100.0
    }

    fn tell(&mut self) {
        let share = self.share();
        self.done = self.done.max((share * 100.0) as u64).min(99);
        let mut step = self.step.clone();
        if let Some(seconds) = left(self.start.elapsed(), share) {
            step.push_str(&format!(", about {seconds} s left"));
        }
        (self.progress)(Progress {
            step,
            done: self.done,
            total: 100,
        });
    }
}

/// The seconds that the rest takes if it goes on as before, in steps of five.
fn left(elapsed: Duration, share: f64) -> Option<u64> {
    if share < EARLY || elapsed < SOON {
        return None;
    }
    let rest = elapsed.as_secs_f64() * (1.0 - share.min(1.0)) / share;
    Some((rest as u64 / 5 + 1) * 5)
}

/// A size as pip (`(16.9 MB)`, `(180 kB)`) and uv (`(16.1MiB)`) write it.
fn megabytes(text: &str) -> Option<f64> {
    let text = text.strip_prefix('(')?.strip_suffix(')')?;
    let unit = text.find(|c: char| c.is_ascii_alphabetic())?;
    let number: f64 = text[..unit].trim().parse().ok()?;
    let times = match &text[unit..] {
        "MB" => 1.0,
        "kB" => 1e-3,
        "MiB" => 1.048_576,
        "KiB" => 1.024e-3,
        _ => return None,
    };
    Some(number * times)
}

/// Counts sources and compiled files below a folder.
fn count(folder: &Path, sources: &mut u32, compiled: &mut u32) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            count(&entry.path(), sources, compiled);
        } else if name.ends_with(b".py") {
            *sources += 1;
        } else if name.ends_with(b".pyc") {
            *compiled += 1;
        }
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

    fn said(by: By, lines: &dyn Fn(&mut Meter<'_>)) -> Vec<Progress> {
        let mut seen: Vec<Progress> = Vec::new();
        let mut note = |p: Progress| seen.push(p);
        let mut meter = Meter::new(by, &mut note);
        meter.made();
        lines(&mut meter);
        meter.installed(Path::new("/nonexistent"));
        meter.compiled(Path::new("/nonexistent"));
        meter.checking();
        seen
    }

    #[test]
    fn progress_never_goes_back_and_ends_before_the_last_step() {
        let pip = said(By::Pip, &|meter| {
            for name in lock::packages() {
                meter.line(&format!("Collecting {name}==1.0 (from -r x (line 1))"));
                meter.line(&format!(
                    "  Downloading {name}-1.0-py3-none-any.whl (12.3 MB)"
                ));
            }
            meter.line("  Downloading evil\x1b[2J-1.whl (1 kB)");
            meter.line("Installing collected packages: a, b");
        });
        let uv = said(By::Uv, &|meter| {
            meter.line("Downloading numpy (16.0MiB)");
            meter.line("Downloading pyarrow (47.7MiB)");
            meter.line(" Downloaded numpy");
            meter.change(By::Pip);
            meter.line("Collecting numpy==1.0 (from -r x (line 1))");
        });
        for seen in [&pip, &uv] {
            assert!(seen.windows(2).all(|w| w[0].done <= w[1].done), "{seen:?}");
            assert!(
                seen.iter()
                    .all(|p| p.done < p.total && !p.step.contains('\x1b'))
            );
        }
        let has = |seen: &[Progress], words: &str| seen.iter().any(|p| p.step == words);
        let all = lock::packages().len();
        let total = lock::DOWNLOAD_MB;
        let second = lock::packages()[1];
        for words in [
            format!("asking for {all} packages, about {total} MB"),
            format!("downloading {second}: 1 of {all} packages, 12 of about {total} MB"),
            format!("installing: 0 of {all} packages"),
        ] {
            assert!(has(&pip, &words), "{words}: {pip:#?}");
        }
        let words = format!("downloading pyarrow: 17 of about {total} MB");
        assert!(has(&uv, &words), "{words}: {uv:#?}");
        assert!(has(&uv, "uv failed, so pip installs"), "{uv:#?}");
    }

    #[test]
    fn what_is_left_follows_from_the_share_and_the_time() {
        let seconds = |elapsed, share| left(Duration::from_secs(elapsed), share);
        assert_eq!(seconds(1, 0.5), None);
        assert_eq!(seconds(60, 0.01), None);
        assert_eq!(seconds(30, 0.5), Some(35));
        assert_eq!(seconds(30, 1.0), Some(5));
        assert_eq!(By::Uv.shares().iter().sum::<u64>(), 100);
        assert_eq!(By::Pip.shares().iter().sum::<u64>(), 100);
    }

    #[test]
    fn sizes_of_both_installers_are_read() {
        for (text, size) in [
            ("(16.9 MB)", Some(16.9)),
            ("(180 kB)", Some(0.18)),
            ("(1.0MiB)", Some(1.048_576)),
            ("(some)", None),
            ("", None),
        ] {
            assert_eq!(megabytes(text), size, "{text}");
        }
    }
}
