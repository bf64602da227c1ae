//! `countersign setup`: creates or repairs the managed Python environment.

use crate::config;
use crate::error::Failure;
use crate::model::visible;
use crate::runtime::{Managed, Progress, PythonEnv, find_python, libraries};

use super::Globals;
use super::out::{self, is_told, print, tell};

#[derive(Debug, clap::Args)]
pub struct Args {}

/// Hundredths of the work that are worth a line in a file.
const FEW: u64 = 10;
/// Columns of the bar itself.
const BAR: usize = 24;

/// Runs the command and returns the exit code.
pub fn run(_args: &Args, globals: &Globals) -> Result<u8, Failure> {
    let config = config::load(&globals.options()).map_err(|e| Failure::usage(e.to_string()))?;
    let failed = |e: crate::runtime::RuntimeError| Failure::general(e.to_string());
    if let Some(python) = &config.python {
        let env = find_python(Some(python)).map_err(failed)?;
        return own(&env);
    }
    let managed = Managed::at(&config.paths.data_dir);
    if let Some(env) = managed.ready() {
        return done("already there", &env);
    }
    let mut bar = Bar::new();
    let made = managed.make(&mut |p| bar.show(&p));
    bar.clear();
    done("ready", &made.map_err(failed)?)
}

fn done(how: &str, env: &PythonEnv) -> Result<u8, Failure> {
    let prefix = env.prefix.display().to_string();
    let (label, prefix) = (env.label(), visible(&prefix));
    print(|out| writeln!(out, "{how}: {}, in {prefix}", visible(&label)))?;
    Ok(0)
}

/// The user's own Python is used as it is: nothing is installed into it.
fn own(env: &PythonEnv) -> Result<u8, Failure> {
    let lacks: Vec<&str> = libraries()
        .into_iter()
        .filter(|name| !env.distributions.iter().any(|(there, _)| there == name))
        .collect();
    print(|out| {
        writeln!(
            out,
            "your own: {}, {}",
            visible(&env.label()),
            visible(&env.executable.display().to_string())
        )?;
        if !lacks.is_empty() {
            writeln!(
                out,
                "it lacks {}; snippets that need them fail. Install them there, or leave --python \
                 out to use the managed environment",
                lacks.join(", ")
            )?;
        }
        Ok(())
    })?;
    Ok(0)
}

/// A bar on a terminal, plain lines elsewhere; on standard error either way.
struct Bar {
    terminal: bool,
    done: u64,
    step: String,
    last: String,
}

impl Bar {
    fn new() -> Self {
        Self {
            terminal: is_told(),
            done: 0,
            step: String::new(),
            last: String::new(),
        }
    }

    fn show(&mut self, progress: &Progress) {
        // In a file, the same kind of step with a little more done is not a new line.
        let kind = |step: &str| step.split([' ', ':']).next().map(str::to_owned);
        let again = progress.done < self.done + FEW && kind(&progress.step) == kind(&self.step);
        if !self.terminal && again && !self.last.is_empty() {
            return;
        }
        self.done = progress.done;
        self.step.clone_from(&progress.step);
        let line = if self.terminal {
            let columns = crossterm::terminal::size().map_or(80, |(columns, _)| columns);
            bar(progress, usize::from(columns))
        } else {
            format!("{}/{} {}", progress.done, progress.total, progress.step)
        };
        if line == self.last {
            return;
        }
        if self.terminal {
            out::progress(&line);
        } else {
            tell(&line);
        }
        self.last = line;
    }

    fn clear(&mut self) {
        if self.terminal && !self.last.is_empty() {
            out::progress("");
        }
    }
}

/// One line that does not wrap.
fn bar(progress: &Progress, columns: usize) -> String {
    let total = progress.total.max(1);
    let share = |of: u64| progress.done.min(total).saturating_mul(of) / total;
    let full = usize::try_from(share(BAR as u64)).unwrap_or(BAR);
    let line = format!(
        "[{}{}] {:3}% {}",
        "#".repeat(full),
        ".".repeat(BAR - full),
        share(100),
        progress.step
    );
    line.chars().take(columns.saturating_sub(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fits_its_line_at_every_width_and_share() {
        for columns in [0, 1, 20, 80, 400] {
            for done in [0, 1, 50, 99, 100, 200] {
                let line = bar(
                    &Progress {
                        step: "downloading numpy (18.2 MB)".to_owned(),
                        done,
                        total: 100,
                    },
                    columns,
                );
                assert!(line.chars().count() < columns.max(1), "{line}");
            }
        }
        let none = bar(
            &Progress {
                step: String::new(),
                done: 0,
                total: 0,
            },
            80,
        );
        assert!(none.contains("  0%"), "{none}");
    }
}
