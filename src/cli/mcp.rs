//! `countersign mcp`: serves an agent that speaks the Model Context Protocol.

use std::io::{self, IsTerminal as _};

use crate::config;
use crate::error::Failure;
use crate::mcp;

use super::Globals;
use super::dashboard;

/// Runs the command and returns the exit code.
pub fn run(globals: &Globals) -> Result<u8, Failure> {
    if io::stdin().is_terminal() {
        return Err(Failure::usage(
            "`countersign mcp` is started by an agent, which speaks MCP on its standard input; \
             for Claude Code: claude mcp add countersign -- countersign mcp",
        ));
    }
    let paths = config::paths(&globals.options()).map_err(|e| Failure::usage(e.to_string()))?;
    let notes = paths.cache_dir.join("mcp");
    mcp::serve(paths.socket, &notes, globals.profile.clone(), beside)?;
    Ok(0)
}

/// A demo may be open, but it has its own socket.
fn beside() -> Option<String> {
    let socket = dashboard::demos().into_iter().next()?;
    let socket = socket.display();
    Some(format!(
        "a demo is open and listens on its own socket: countersign mcp --socket {socket}"
    ))
}
