//! Holding a call while a person decides: with signs of life, until the outcome, the time or the agent ends it.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::link::{Link, Trouble};
use super::schemas::HOLD_MAX;

/// Without signs of life, clients commonly give up after 60 s.
const HOLD_SILENT: u64 = 50;
/// Between two signs of life.
const STEP: Duration = Duration::from_secs(5);
/// How long after the time the dashboard may be silent. One that is stopped answers nothing.
const SILENCE: Duration = Duration::from_secs(10);
/// How many proposals before the agent's own the socket counts.
const COUNTED: u64 = 100;
/// How long a withdrawal may take. Closing the connection withdraws, too.
const WITHDRAWAL: Duration = Duration::from_secs(2);

/// How the holding ended.
pub enum Held {
    /// The outcome object.
    Outcome(Value),
    /// There is none yet: the state, and why no votes can grant it.
    Still(String, Option<String>),
    /// The agent cancelled the call or is gone.
    Abandoned,
    Trouble(Trouble),
}

/// Waits for a proposal's outcome.
///
/// `wait_s` is what the agent asked for. An agent that stops waiting wants no run any more: what is
/// still pending is then withdrawn.
pub async fn hold(
    link: &Link,
    id: &str,
    wait_s: Option<u64>,
    context: &RequestContext<RoleServer>,
    mut gone: watch::Receiver<bool>,
) -> Held {
    let token = context.meta.get_progress_token();
    let most = match token {
        Some(_) => HOLD_MAX,
        None => HOLD_SILENT,
    };
    let begun = Instant::now();
    let until = begun + Duration::from_secs(wait_s.unwrap_or(most));
    let mut told = Duration::ZERO;
    let mut state = "pending".to_owned();
    loop {
        // Progress must grow with each notification.
        let progress = begun.elapsed().max(told + Duration::from_millis(1));
        told = progress;
        let wait = async {
            if let Some(token) = &token {
                let message = format!(
                    "{} ({} s)",
                    stage(link, id, &state).await,
                    progress.as_secs()
                );
                let sign = ProgressNotificationParam::new(token.clone(), progress.as_secs_f64());
                // The agent may be gone; the select below hears of it.
                let _ = context
                    .peer
                    .notify_progress(sign.with_message(message))
                    .await;
            }
            let step = STEP.min(until.saturating_duration_since(Instant::now()));
            let params = json!({"id": id, "timeout_s": step.as_secs_f64()});
            link.call("wait", params).await
        };
        let answer = tokio::select! {
            answer = wait => answer,
            () = context.ct.cancelled() => return abandon(link, id).await,
            () = ended(&mut gone) => return abandon(link, id).await,
            () = tokio::time::sleep_until(until + SILENCE) => return Held::Trouble(link.silent()),
        };
        match answer {
            Err(trouble) => return Held::Trouble(trouble),
            // Only an outcome has a message.
            Ok(outcome) if outcome.get("message").is_some() => return Held::Outcome(outcome),
            Ok(still) => {
                let state_now = still["state"].as_str().unwrap_or("pending");
                state_now.clone_into(&mut state);
                if Instant::now() >= until {
                    let hopeless = still["hopeless"].as_str().map(str::to_owned);
                    return Held::Still(state, hopeless);
                }
            }
        }
    }
}

/// What the agent's user is told while it lasts.
async fn stage(link: &Link, id: &str, state: &str) -> String {
    if state != "pending" {
        return state.to_owned();
    }
    let status = link.call("status", json!({"id": id})).await;
    let status = status.unwrap_or_default();
    let waiting = "waiting for a person's decision";
    match (status["shown"].as_bool(), status["before"].as_u64()) {
        (Some(true), _) => format!("being read, {waiting}"),
        (_, None | Some(0)) => waiting.to_owned(),
        (_, Some(COUNTED..)) => format!("{waiting}, {COUNTED} or more before yours"),
        (_, Some(before)) => format!("{waiting}, {before} before yours"),
    }
}

/// Returns once the agent closed its end.
async fn ended(gone: &mut watch::Receiver<bool>) {
    drop(gone.wait_for(|gone| *gone).await);
}

async fn abandon(link: &Link, id: &str) -> Held {
    // What runs goes on, and what ended stays as it is.
    let _ = tokio::time::timeout(WITHDRAWAL, link.call("withdraw", json!({"id": id}))).await;
    Held::Abandoned
}
