//! The Python environment, looked for or made while the dashboard is already open.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::broker::Environment;
use crate::runtime::{Managed, PythonEnv, RuntimeError, probe};

/// What the thread reports: the state for the core and, at the end, the environment itself.
pub struct Report {
    pub environment: Environment,
    pub python: Option<Arc<PythonEnv>>,
}

impl Report {
    fn ready(env: PythonEnv) -> Self {
        let environment = Environment::Ready {
            digest: env.digest,
            label: env.label(),
        };
        Self {
            environment,
            python: Some(Arc::new(env)),
        }
    }

    fn of(environment: Environment) -> Self {
        Self {
            environment,
            python: None,
        }
    }
}

/// What is shown until the thread has reported for the first time.
pub fn at_first() -> Environment {
    Environment::Making {
        step: "looking for Python".to_owned(),
        done: 0,
        total: 0,
    }
}

/// Finds or makes the environment in a thread of its own. `python` is the user's own choice,
/// else the managed environment below `data_dir` is used, and made where it is missing.
///
/// # Errors
/// When the thread cannot be started.
pub fn prepare(
    python: Option<PathBuf>,
    data_dir: PathBuf,
    report: impl Fn(Report) + Send + 'static,
) -> std::io::Result<()> {
    let work = move || {
        let found = match python {
            Some(python) => probe(&python),
            None => managed(&data_dir, &report),
        };
        report(match found {
            Ok(env) => Report::ready(env),
            Err(error) => Report::of(Environment::Failed {
                message: error.to_string(),
            }),
        });
    };
    std::thread::Builder::new()
        .name("environment".to_owned())
        .spawn(work)
        .map(drop)
}

fn managed(data_dir: &Path, report: &impl Fn(Report)) -> Result<PythonEnv, RuntimeError> {
    let managed = Managed::at(data_dir);
    match managed.ready() {
        Some(env) => Ok(env),
        None => managed.make(&mut |p| {
            let (step, done, total) = (p.step, p.done, p.total);
            report(Report::of(Environment::Making { step, done, total }));
        }),
    }
}
