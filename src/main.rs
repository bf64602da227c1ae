//! Dispatches to the hidden roles of the one binary, else to the command line.

use std::io::Write as _;
use std::process::ExitCode;

use countersign::error::Failure;
use countersign::{analysis, cli, executor};

fn main() -> ExitCode {
    // Before any runtime or thread: these roles restrict themselves, and one of them forks.
    let role = std::env::args_os().nth(1);
    match role.as_deref().and_then(std::ffi::OsStr::to_str) {
        Some("__analyse") => return ExitCode::from(analysis::worker::main()),
        Some("__sandbox") => return ExitCode::from(executor::roles::sandbox_main()),
        _ => {}
    }
    match command_line() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // With standard error closed there is nobody to tell; the code still says it.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(error.downcast_ref::<Failure>().map_or(1, |f| f.code))
        }
    }
}

fn command_line() -> anyhow::Result<u8> {
    match cli::parse(std::env::args_os()) {
        Ok(cli) => Ok(cli::run(cli)?),
        Err(words) => {
            // Help and version go to standard output and are no error; usage is code 2.
            let code = u8::try_from(words.exit_code()).unwrap_or(2);
            match words.print() {
                Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e.into()),
                _ => Ok(code),
            }
        }
    }
}
