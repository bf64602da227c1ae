//! The answers to requests that are refused, and the limits that these answers name.

use serde_json::json;

use super::decision::Refused;
use super::effect::RpcError;
use crate::config::nearest;
use crate::model::AgentClaim;

/// Bytes a title may have.
pub(super) const TITLE_BYTES: usize = 16 * 1024;
/// Bytes a reason may have.
pub(super) const REASON_BYTES: usize = 64 * 1024;
/// Bytes of each field of an agent's claim about itself, and of an idempotency key.
pub(super) const CLAIM_BYTES: usize = 256;
/// Characters of an unknown name that are repeated to its sender.
const SHOWN_CHARS: usize = 64;
/// Calls of one connection that may wait for one proposal.
pub(super) const CALLS_MAX: usize = 64;

pub(super) fn used_up(what: &str, ms: u64) -> RpcError {
    RpcError::new(
        RpcError::TOO_MANY,
        format!("the budget of {what} is used up for now"),
    )
    .with_data(json!({ "retry_after_ms": ms }))
}

pub(super) fn invalid(param: &str, message: String, expected: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, message)
        .with_data(json!({"param": param, "expected": expected}))
}

/// An unknown name, with the nearest known one as a hint.
pub(super) fn unknown(what: &str, name: &str, param: &str, known: &[&str]) -> RpcError {
    let near = nearest(name, known.iter().copied());
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let shown: String = name.chars().take(SHOWN_CHARS).collect();
    let mut data = json!({"param": param, "expected": known});
    if let (Some(near), Some(data)) = (near, data.as_object_mut()) {
        data.insert("nearest".to_owned(), near.into());
    }
    let message = format!("unknown {what} `{}`{hint}", shown.escape_debug());
    RpcError::new(RpcError::UNKNOWN_NAME, message).with_data(data)
}

/// A known profile about which nobody can be asked here.
pub(super) fn not_asked(profile: &str, asked: &[&str]) -> RpcError {
    let message = format!(
        "profile `{profile}` asks no reviewers, and this host has no screen where a person could decide"
    );
    RpcError::new(RpcError::UNKNOWN_NAME, message)
        .with_data(json!({"param": "profile", "expected": asked}))
}

/// The answer when a connection has too many calls waiting for one proposal.
pub(super) fn too_many_calls() -> RpcError {
    RpcError::new(
        RpcError::TOO_MANY,
        format!("{CALLS_MAX} calls of this connection wait for this proposal"),
    )
    .with_data(json!({"retry_after_ms": 1000, "expected": "wait for one of their answers"}))
}

pub(super) fn within(param: &str, text: Option<&str>, max: usize) -> Result<(), RpcError> {
    match text.map_or(0, str::len) {
        n if n > max => Err(invalid(
            param,
            format!("{param} has {n} bytes"),
            &format!("at most {max} bytes"),
        )),
        _ => Ok(()),
    }
}

/// The answer to work that arrives while the dashboard closes.
pub(super) fn closing() -> RpcError {
    let error = RpcError::new(RpcError::INTERNAL, Refused::Closing.to_string());
    error.with_data(json!({"closing": true, "retry_after_ms": 1000}))
}

/// The answer of a host whose log is not the one that it signed. What is wrong with it is for its operator and for other hosts.
pub(super) fn log_is_doubted() -> RpcError {
    let message = "The log of this host is not the one that it signed, so nothing is granted here until its operator has put the \
                   newer log back, or has given the host a new key; another host may take it.";
    RpcError::new(RpcError::INTERNAL, message).with_data(json!({"doubted": true, "retry": "no"}))
}

pub(super) fn check_claim(agent: &AgentClaim) -> Result<(), RpcError> {
    within("agent.name", Some(&agent.name), CLAIM_BYTES)?;
    within("agent.version", agent.version.as_deref(), CLAIM_BYTES)?;
    within("agent.session", agent.session.as_deref(), CLAIM_BYTES)?;
    within("agent.model", agent.model.as_deref(), CLAIM_BYTES)
}
