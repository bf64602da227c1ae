//! Dispatches to the binary's hidden roles, else to the command line.

use std::process::ExitCode;

use countersign::error::Failure;
use countersign::{analysis, cli, figure, sandbox};

fn main() -> ExitCode {
    // Before any runtime or thread starts: these roles restrict themselves, and one of them forks.
    let role = std::env::args_os().nth(1);
    match role.as_deref().and_then(std::ffi::OsStr::to_str) {
        Some("__analyse") => return ExitCode::from(analysis::worker::main()),
        Some(figure::ROLE) => return ExitCode::from(figure::worker::main()),
        Some("__sandbox") => return ExitCode::from(sandbox::roles::sandbox_main()),
        _ => {}
    }
    match command_line() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let failure = error.downcast_ref::<Failure>();
            let more = failure.map_or(&[][..], |f| f.more.as_slice());
            cli::tell_error(&format!("{error:#}"), more);
            ExitCode::from(failure.map_or(1, |f| f.code))
        }
    }
}

fn command_line() -> anyhow::Result<u8> {
    match cli::parse(std::env::args_os()) {
        Ok(cli) => Ok(cli::run(cli)?),
        Err(words) => {
            // Help and version are not errors and go to standard output; wrong usage is code 2.
            let code = u8::try_from(words.exit_code()).unwrap_or(2);
            match cli::print_usage(&words, std::env::args_os()) {
                Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e.into()),
                _ => Ok(code),
            }
        }
    }
}
