//! `countersign replicate`: shows kept code, asks on the terminal, runs it for the user.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;

use nix::sys::termios::{FlushArg, tcflush};

use super::Globals;
use super::out::show;
use super::policy::policies;
use crate::app::replicate::{Replica, check};
use crate::config::{self, Surroundings};
use crate::error::Failure;
use crate::model::visible;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A kept run: `kept/run_<time>_<id>.py` in the state folder
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Runs the command and returns Python's exit code, or 1 if nothing was run.
pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    let usage = |e: &dyn std::fmt::Display| Failure::usage(e.to_string());
    let around = Surroundings::of_process().map_err(|e| usage(&e))?;
    let config = config::load_in(&globals.options(), &around).map_err(|e| usage(&e))?;
    let replica = check(&config, &policies(globals)?, &args.file)?;
    let python = globals
        .python
        .clone()
        .unwrap_or_else(|| PathBuf::from("python3"));
    let mut terminal = File::options()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .map_err(|e| {
            Failure::general(format!(
                "nothing was run: replicate asks on a terminal, and there is none ({e})"
            ))
        })?;
    let asked = |e: io::Error| Failure::general(format!("nothing was run: the terminal: {e}"));
    show(&mut terminal, &page(&replica, &python)).map_err(asked)?;
    if !agreed(&replica, &mut terminal).map_err(asked)? {
        return Err(Failure::general("nothing was run"));
    }
    replica.record()?;
    let cannot = |e: io::Error| {
        Failure::general(format!(
            "{} cannot be started: {e}; --python names another",
            python.display()
        ))
    };
    let (mut command, folder) = replica.command(&python).map_err(cannot)?;
    let status = command.status().map_err(cannot)?;
    drop(folder);
    let signal = status.signal().map(|n| 128 + n);
    let code = status.code().or(signal).unwrap_or(1);
    Ok(u8::try_from(code).unwrap_or(1))
}

/// Everything a person must see before the code runs. None of the code reaches the terminal
/// unescaped.
fn page(replica: &Replica, python: &std::path::Path) -> String {
    let mut text = String::new();
    let mut line = |words: &str| {
        text.push_str(words);
        text.push('\n');
    };
    for (n, code) in replica.code.split_terminator('\n').enumerate() {
        line(&format!("{:5}  {}", n + 1, visible(code)));
    }
    line("");
    line(&format!("run      {}", replica.id));
    line(&format!("profile  {}", visible(&replica.profile)));
    line(&format!("verdict  {}", replica.verdict.verdict));
    for f in &replica.verdict.findings {
        let said = format!("{} {}: {}", f.rule, f.action.as_str(), f.message);
        line(&format!("         line {}: {}", f.line, visible(&said)));
    }
    for given in &replica.given {
        line(&format!("given    {}", visible(given)));
    }
    for changed in &replica.changed {
        line(&format!("changed  {}", visible(changed)));
    }
    line(&format!(
        "python   {}, as you and unconfined: it can do whatever you can",
        visible(&python.display().to_string())
    ));
    text
}

/// Asks for the digits. Input typed before the question must not answer it.
fn agreed(replica: &Replica, terminal: &mut File) -> io::Result<bool> {
    tcflush(&*terminal, FlushArg::TCIFLUSH)?;
    let digits = &replica.digest.hex()[..4];
    write!(
        terminal,
        "\ntype {digits} to run it, anything else to leave: "
    )?;
    terminal.flush()?;
    let mut answer = String::new();
    BufReader::new(&*terminal).read_line(&mut answer)?;
    Ok(answer.trim_end_matches(['\n', '\r']) == digits)
}
