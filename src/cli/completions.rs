//! `countersign completions`: a completion script for a shell, on standard output.

use crate::error::Failure;

use super::out::print_data;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell to complete for
    pub shell: clap_complete::Shell,
}

/// Runs the command and returns the exit code.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::tree(), "countersign", &mut script);
    print_data(&script)?;
    Ok(0)
}
