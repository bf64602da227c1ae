//! `countersign completions`: a completion script for a shell, on standard output.

use std::io::Write as _;

use crate::error::Failure;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell to complete for
    pub shell: clap_complete::Shell,
}

/// Runs the command; the value is the exit code.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::tree(), "countersign", &mut script);
    match std::io::stdout().lock().write_all(&script) {
        // Whoever closed the pipe has read enough.
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::general(format!(
            "cannot write the completions: {e}"
        ))),
        _ => Ok(0),
    }
}
