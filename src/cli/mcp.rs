//! `countersign mcp`: serves an agent that speaks the Model Context Protocol.

use std::io::{self, IsTerminal as _};

use crate::config;
use crate::desk::engine::Engine;
use crate::desk::{Gateway, Hosts};
use crate::error::Failure;
use crate::mcp::{self, Way};
use crate::paths::{Trust, read_trusted};

use super::Globals;
use super::dashboard;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Ask hosts elsewhere over the engine of `desk.url`, instead of the dashboard of this machine
    #[arg(long)]
    desk: bool,
    /// The host that is asked; by default those of the file of hosts, one after another
    #[arg(long, value_name = "NAME", requires = "desk")]
    host: Option<String>,
}

/// Runs the command and returns the exit code.
pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    if io::stdin().is_terminal() {
        return Err(Failure::usage(
            "`countersign mcp` is started by an agent, which speaks MCP on its standard input; \
             for Claude Code: claude mcp add countersign -- countersign mcp",
        ));
    }
    let paths = config::paths(&globals.options()).map_err(|e| Failure::usage(e.to_string()))?;
    let notes = paths.cache_dir.join("mcp");
    let way = match args.desk {
        true => Way::Desk(gateway(args, globals)?),
        false => Way::Socket(paths.socket, beside),
    };
    mcp::serve(way, &notes, globals.profile.clone())?;
    Ok(0)
}

fn gateway(args: &Args, globals: &Globals) -> Result<Gateway, Failure> {
    let usage = |e: &dyn std::fmt::Display| Failure::usage(format!("[desk]: {e}"));
    let config = globals.load()?;
    let needs = "`mcp --desk` asks over an engine: set `desk.url` of config.toml to it, with the login of a gateway";
    let desk = config.desk.as_ref();
    let desk = desk.ok_or_else(|| Failure::usage(needs))?;
    let engine = Engine::of(desk).map_err(|e| usage(&e))?;
    let engine = engine.ok_or_else(|| Failure::usage(needs))?;
    let hosts = read_trusted(&desk.hosts, Trust::RootOrUser).map_err(|e| usage(&e))?;
    let hosts = Hosts::read(hosts.as_bytes()).map_err(|e| usage(&e))?;
    Gateway::new(engine, hosts, args.host.clone()).map_err(|e| usage(&e))
}

/// A demo may be open, but it has its own socket.
fn beside() -> Option<String> {
    let socket = dashboard::demos().into_iter().next()?;
    let socket = socket.display();
    Some(format!(
        "a demo is open and listens on its own socket: countersign mcp --socket {socket}"
    ))
}
