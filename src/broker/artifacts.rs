//! Files and results that runs left: who may read them and who may use them as inputs.

use serde_json::json;

use crate::model::{Artifact, ArtifactRef, ConnId, ProposalId, Run, State};

use super::effect::RpcError;
use super::entry::Entry;
use super::run::result_of;
use super::state::BrokerState;

impl BrokerState {
    /// A file of a proposal that belongs to this connection.
    ///
    /// # Errors
    /// −32004 for an id that is unknown or belongs to another agent, −32602 for a name or an offset
    /// that the outcome does not have.
    pub(super) fn own_artifact(
        &self,
        conn: ConnId,
        id: ProposalId,
        name: &str,
        offset: u64,
    ) -> Result<Artifact, RpcError> {
        let artifact = named(self.owned(conn, id)?, name)?;
        if offset > artifact.bytes {
            let message = format!(
                "the offset lies beyond the artifact's {} bytes",
                artifact.bytes
            );
            return Err(RpcError::new(RpcError::INVALID_PARAMS, message).with_data(
                json!({"param": "offset", "expected": format!("0 to {}", artifact.bytes)}),
            ));
        }
        Ok(artifact)
    }

    /// A file or the result of an earlier succeeded run of the same session, as an input.
    pub(super) fn artifact_input(
        &self,
        conn: ConnId,
        wanted: &ArtifactRef,
    ) -> Result<Artifact, RpcError> {
        let session = self.session_of(conn);
        let entry = self
            .entries
            .get(&wanted.id)
            .filter(|e| e.session == session)
            .ok_or_else(|| {
                RpcError::new(
                    RpcError::UNKNOWN_ID,
                    "no proposal of this session has the id of the artifact",
                )
                .with_data(json!({"param": "inputs",
                    "expected": "the id of an earlier succeeded run of this session"}))
            })?;
        // Until the end is reported, its record is not durable.
        if !entry.told() || entry.state() != State::Succeeded {
            return Err(RpcError::new(
                RpcError::INVALID_PARAMS,
                "the run that left the artifact has not succeeded",
            )
            .with_data(json!({"param": "inputs", "state": entry.heard(),
                "expected": "a file of a run that succeeded"})));
        }
        named(entry, &wanted.name)
    }
}

/// The artifact with this name, once the record that names it is durable: a file, or the result
/// that the log keeps for every run that has one. No file can have the result's name.
fn named(entry: &Entry, name: &str) -> Result<Artifact, RpcError> {
    let run = entry.run().filter(|_| entry.told());
    let artifacts = run.map_or(&[][..], |run| &run.artifacts);
    let result = run.and_then(result);
    let file = artifacts.iter().find(|a| a.name == name);
    if let Some(file) = file.filter(|_| name != Artifact::RESULT) {
        return Ok(file.clone());
    }
    let mut names: Vec<&str> = artifacts.iter().map(|a| a.name.as_str()).collect();
    names.extend(result.as_ref().map(|_| Artifact::RESULT));
    let message = match names[..] {
        [] => "this proposal has left no artifacts",
        _ => "this proposal has left no artifact of this name",
    };
    let unknown = || {
        RpcError::new(RpcError::INVALID_PARAMS, message)
            .with_data(json!({"param": "name", "expected": names}))
    };
    result
        .filter(|_| name == Artifact::RESULT)
        .ok_or_else(unknown)
}

/// `run.result` as a file: exactly the bytes that the log keeps.
fn result(run: &Run) -> Option<Artifact> {
    let blob = result_of(run)?;
    Some(Artifact {
        name: Artifact::RESULT.to_owned(),
        media_type: "application/json".to_owned(),
        bytes: blob.bytes.len() as u64,
        sha256: blob.sha256.hex(),
    })
}
