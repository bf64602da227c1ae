//! The Python environment: found or created while the dashboard is already open, read to the last
//! file, and checked again whenever somebody is about to rely on it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::broker::Settings;
use crate::model::{Digest, Environment, Installed, Tier};
use crate::policy::{DRAWS, Policy, is_given};
use crate::runtime::{Change, Managed, Measured, Progress, PythonEnv, RuntimeError, probe};

/// File in the data folder that caches what is known of files read before.
const CACHE: &str = "environment-files";

/// How soon an environment that is being changed is read again.
const AGAIN: Duration = Duration::from_secs(5);

/// What the thread reports: the state for the core and, once ready, the environment itself.
pub struct Report {
    pub environment: Environment,
    pub python: Option<Arc<Measured>>,
    /// Whether a Python can be expected within seconds. Packages that are downloaded take a minute.
    pub soon: bool,
}

impl Report {
    /// `change`: what differs from the environment at the start. It stays next to the environment's
    /// name wherever that is shown.
    fn ready(python: Arc<Measured>, change: Option<&Change>, listed: &BTreeSet<String>) -> Self {
        let mut label = python.env.label();
        if let Some(change) = change {
            label.push_str(&format!(", changed since the start ({change})"));
        }
        Self {
            environment: Environment::Ready {
                digest: python.env.digest,
                label,
                installed: Installed {
                    version: (python.env.version.0, python.env.version.1),
                    missing: python.env.lacking(listed.iter().map(String::as_str)),
                    present: importable(python.env.tops()),
                    releases: python.env.distributions.iter().cloned().collect(),
                },
            },
            python: Some(python),
            soon: true,
        }
    }

    fn of(environment: Environment) -> Self {
        Self {
            soon: !matches!(environment, Environment::Failed { .. }),
            environment,
            python: None,
        }
    }

    fn making(progress: Progress) -> Self {
        let Progress { step, done, total } = progress;
        Self::of(Environment::Making { step, done, total })
    }

    fn installing(progress: Progress) -> Self {
        Self {
            soon: false,
            ..Self::making(progress)
        }
    }
}

/// What is shown until the thread's first report. A reviewer's seat has none: each offer names its host's.
pub fn at_first(is_seat: bool) -> Environment {
    match is_seat {
        true => Environment::Ready {
            digest: Digest::of(b""),
            label: "the host's Python".to_owned(),
            installed: Installed::default(),
        },
        false => Environment::Making {
            step: "looking for Python".to_owned(),
            done: 0,
            total: 0,
        },
    }
}

/// The top-level modules that policies list, or that a listed one requires, and that must be
/// installed separately.
pub fn listed(settings: &Settings) -> BTreeSet<String> {
    let paths = settings
        .profiles
        .iter()
        .flat_map(|profile| profile.policy.imports.keys());
    let tops = paths.map(|path| path.split('.').next().unwrap_or(path));
    tops.filter(|top| *top != "*" && !is_given(top))
        .chain([DRAWS])
        .map(str::to_owned)
        .collect()
}

/// Keeps the names that an import statement can have, without the standard library's own.
fn importable(tops: BTreeSet<String>) -> BTreeSet<String> {
    let named = |name: &String| {
        let letters = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        letters && !name.is_empty() && !is_given(name)
    };
    tops.into_iter().filter(named).collect()
}

/// Requests another check of the environment.
#[derive(Clone, Debug)]
pub struct Watch(Sender<()>);

impl Watch {
    /// Returns at once. A change comes as a report; if nothing changed there is no report.
    pub fn look(&self) {
        // The thread ends only with the dashboard.
        let _ = self.0.send(());
    }
}

/// For a reviewer's seat, which has none.
pub fn nowhere() -> Watch {
    Watch(channel().0)
}

/// Finds or creates the environment in a thread of its own, and checks it whenever asked. `python`
/// is the user's own choice; without it, the managed environment below `data_dir` is used and
/// created if missing. `listed`: the top-level modules whose presence is reported.
///
/// # Errors
/// When the thread cannot be started.
pub fn prepare(
    python: Option<PathBuf>,
    data_dir: PathBuf,
    listed: BTreeSet<String>,
    report: impl Fn(Report) + Send + 'static,
) -> std::io::Result<Watch> {
    let (send, looks) = channel();
    let keeper = Keeper {
        python,
        data_dir,
        listed,
        report,
    };
    std::thread::Builder::new()
        .name("environment".to_owned())
        .spawn(move || keeper.keep(&looks))?;
    Ok(Watch(send))
}

/// The state of the environment thread.
struct Keeper<R> {
    python: Option<PathBuf>,
    data_dir: PathBuf,
    listed: BTreeSet<String>,
    report: R,
}

/// The environment as last read.
enum Held {
    Usable(Arc<Measured>),
    /// It changed, and it is unusable now or still changing.
    Restless,
    /// Nothing that another attempt could fix.
    Nothing,
}

impl<R: Fn(Report)> Keeper<R> {
    fn keep(&self, looks: &Receiver<()>) {
        let found = self.first();
        // Marks the environment as in use while this thread lives.
        let _in_use = found.as_ref().ok().and_then(Managed::hold);
        // Later checks probe this interpreter; they never create an environment without the user's
        // knowledge.
        let asked = match (&self.python, &found) {
            (Some(python), _) => python.clone(),
            (None, Ok(env)) => env.prefix.join("bin/python"),
            (None, Err(_)) => PathBuf::new(),
        };
        let mut change = None;
        let mut held = self.measure(found, None);
        loop {
            let word = match &held {
                Held::Restless => looks.recv_timeout(AGAIN),
                Held::Usable(_) | Held::Nothing => {
                    looks.recv().map_err(|_| RecvTimeoutError::Disconnected)
                }
            };
            if word == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            // One check answers all requests made before it began.
            while looks.try_recv().is_ok() {}
            match &held {
                Held::Nothing => continue,
                Held::Restless => {}
                Held::Usable(python) => match python.look() {
                    None => continue,
                    Some(found) => {
                        let what = found.to_string();
                        tracing::warn!("the Python environment changed: {what}");
                        change = Some(found);
                        (self.report)(Report::of(Environment::Changed { what }));
                    }
                },
            }
            held = self.measure(probe(&asked), change.as_ref());
        }
    }

    /// Finds or creates the environment.
    fn first(&self) -> Result<PythonEnv, RuntimeError> {
        let managed = Managed::at(&self.data_dir);
        match &self.python {
            Some(python) => probe(python),
            None => match managed.ready() {
                Some(env) => Ok(env),
                None => managed.make(&mut |p| (self.report)(Report::installing(p))),
            },
        }
    }

    /// Reads every file of the environment, and reports the result.
    fn measure(&self, found: Result<PythonEnv, RuntimeError>, change: Option<&Change>) -> Held {
        let cache = self.data_dir.join(CACHE);
        let measured = found
            .and_then(|env| Measured::of(env, &cache, &mut |p| (self.report)(Report::making(p))));
        match measured {
            Ok(measured) => {
                let python = Arc::new(measured);
                (self.report)(Report::ready(python.clone(), change, &self.listed));
                Held::Usable(python)
            }
            Err(error) => {
                let message = error.to_string();
                (self.report)(Report::of(Environment::Failed { message }));
                // One that was usable may become usable again: somebody is changing it.
                if change.is_some() || matches!(error, RuntimeError::Restless { .. }) {
                    Held::Restless
                } else {
                    Held::Nothing
                }
            }
        }
    }
}

/// The default profile and the tier of its runs.
pub fn usual(settings: &Settings) -> Option<(Arc<Policy>, Tier)> {
    let profile = settings
        .profiles
        .iter()
        .find(|profile| profile.policy.name == settings.profile)?;
    let tier = profile.policy.tier.max(settings.tier);
    Some((profile.policy.clone(), tier))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A separate virtual environment.
    fn venv(folder: &std::path::Path) -> PathBuf {
        let base = crate::runtime::find_python(None).unwrap();
        let status = Command::new(base.executable)
            .args(["-m", "venv", "--without-pip", "--symlinks"])
            .arg(folder)
            .status()
            .unwrap();
        assert!(status.success());
        folder.join("bin/python")
    }

    #[test]
    fn a_changed_environment_is_named_and_gets_another_digest() {
        let dir = tempfile::tempdir().unwrap();
        let python = venv(&dir.path().join("venv"));
        let (send, reports) = channel();
        // Most files are read only once for all tests, thanks to the shared cache.
        let data_dir = crate::runtime::testing::data_dir();
        let listed = ["math", "helper", "absent"].map(str::to_owned).into();
        let watch = prepare(Some(python), data_dir, listed, move |report| {
            if !matches!(report.environment, Environment::Making { .. }) {
                let _ = send.send(report);
            }
        })
        .unwrap();
        let next = || reports.recv_timeout(Duration::from_secs(300)).unwrap();
        let ready = |report: &Report| match &report.environment {
            Environment::Ready { digest, label, .. } => (*digest, label.clone()),
            other => panic!("the environment is not ready: {other:?}"),
        };
        let first = next();
        let (before, label) = ready(&first);
        assert!(!label.contains("changed"), "{label}");
        let python = first.python.unwrap();
        assert_eq!(python.env.digest, before);
        let site = python
            .env
            .sys_path
            .iter()
            .find(|p| p.starts_with(&python.env.prefix));
        let module = site.unwrap().join("helper.py");

        // Ten requests that find no change produce no report: the next report is about the change.
        (0..10).for_each(|_| watch.look());
        std::fs::write(&module, "x = 1\n").unwrap();
        watch.look();
        let changed = next();
        assert!(changed.python.is_none());
        let Environment::Changed { what } = changed.environment else {
            panic!("no change is reported: {:?}", changed.environment);
        };
        let name = "site-packages/helper.py was added";
        assert!(what.starts_with("lib/") && what.ends_with(name), "{what}");
        let (after, label) = ready(&next());
        assert_ne!(after, before);
        assert!(label.contains(&what), "{label}");

        // The file is removed again: the digest is the old one, but the person still sees a change.
        std::fs::remove_file(module).unwrap();
        watch.look();
        assert!(matches!(next().environment, Environment::Changed { .. }));
        let (last, label) = ready(&next());
        assert_eq!(last, before);
        assert!(label.contains("is gone"), "{label}");
        drop(watch);
        assert!(reports.recv_timeout(Duration::from_secs(300)).is_err());
    }
}
