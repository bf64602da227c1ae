//! `countersign mcp`: the socket for agents that speak the Model Context Protocol, over standard input and
//! output.
//!
//! ```text
//! agent ── stdio ──▶ front ─▶ server ─▶ tools, arguments, bound ─▶ waiting ─▶ link ── unix socket ──▶ dashboard
//!                               ▲                                              │
//!                               └────────── answer, told, files ◀──────────────┘
//! ```
//!
//! With `--desk` hosts elsewhere are asked instead of the socket ([`crate::desk::Gateway`]).
//!
//! A client and nothing else: it proposes, waits and returns what ran. It decides nothing, never
//! says "allow" to another program's executor, and never asks the agent's side for approval: no elicitation, no
//! `input_required`. `tests/it/architecture` checks that it uses `desk`'s gateway, `ipc`, `model` and `error` only.

mod answer;
mod arguments;
mod bound;
mod files;
mod front;
mod input;
mod link;
mod older;
mod schemas;
mod server;
mod tasks;
mod told;
mod tools;
mod waiting;

use std::path::Path;
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::sync::watch;

use crate::error::Failure;

pub use link::Way;

/// How long it may take to withdraw what nobody waits for any more.
const LEAVING: Duration = Duration::from_secs(3);

/// Serves one agent until it closes standard input.
///
/// `notes` is a folder for what attaches to a task after a restart. `profile` is what proposals run under that name none.
pub fn serve(way: Way, notes: &Path, profile: Option<String>) -> Result<(), Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::general(format!("cannot serve MCP: {e}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| failed(&e))?;
    let leaving = match &way {
        Way::Socket(..) => None,
        Way::Desk(gateway) => Some(gateway.clone()),
    };
    let served = runtime.block_on(async {
        let (ended, gone) = watch::channel(false);
        let (reader, writer) = rmcp::transport::stdio_pipes();
        let adapter = server::Adapter::new(
            link::Link::new(way),
            tasks::Notes::open(notes),
            profile,
            gone,
        );
        let served = match adapter
            .serve(front::Front::new(input::Input::new(reader, ended), writer))
            .await
        {
            Ok(service) => service.waiting().await.map(drop).map_err(|e| failed(&e)),
            // An agent that closes its end before it began wanted nothing.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(ServerInitializeError::ExpectedInitializeRequest(_)) => Err(failed(
                &"the agent's first message must be a request: `initialize`, or one with the `_meta` of revision 2026-07-28",
            )),
            Err(ServerInitializeError::InitializeFailed(e)) => Err(failed(&e.message)),
            Err(e) => Err(failed(&e)),
        };
        if let Some(gateway) = leaving {
            let _ = tokio::time::timeout(LEAVING, gateway.leave()).await;
        }
        served
    });
    // A read of standard input may block a thread that nothing can end.
    runtime.shutdown_background();
    served
}
