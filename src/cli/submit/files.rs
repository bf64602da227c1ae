//! Files that a run left: fetched over the socket and compared with their digests.
//!
//! The dashboard may belong to another user, so its file names are checked again.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::error::Failure;
use crate::ipc::{Client, ClientError};
use crate::model::{Artifact, Digest, visible};

use super::failure;

/// Why a file was not fetched.
pub enum NotFetched {
    /// It is not what the outcome says; the next one may be.
    Refused(String),
    /// The dashboard does not hand it out any more.
    Gone(Failure),
}

/// The content of one file, if it matches the outcome's size and digest.
pub async fn fetch(client: &mut Client, id: &str, file: &Artifact) -> Result<Vec<u8>, NotFetched> {
    let odd = |why: &str| {
        let name = visible(&file.name);
        NotFetched::Refused(format!("artifact {name} is refused: {why}"))
    };
    if !Artifact::is_name(&file.name) {
        return Err(odd("its name is no plain file name"));
    }
    let mut content: Vec<u8> = Vec::new();
    let mut offset = Some(0u64);
    while let Some(at) = offset {
        let params = json!({"id": id, "name": file.name, "offset": at});
        let answer = client.call("artifact", params).await.map_err(|e| match e {
            ClientError::Refused(_) => odd(&e.to_string()),
            e => NotFetched::Gone(failure(&e)),
        })?;
        let text = answer["base64"].as_str().ok_or_else(|| odd("no content"))?;
        let part = STANDARD.decode(text).map_err(|_| odd("it is no base64"))?;
        content.extend_from_slice(&part);
        offset = answer.get("next_offset").and_then(Value::as_u64);
        // Each part must continue where the last one ended, never past the announced size. A peer that
        // sends empty parts could go on forever.
        let stalled = part.is_empty() && offset.is_some();
        let elsewhere = offset.is_some_and(|n| n != content.len() as u64);
        if stalled || elsewhere || content.len() as u64 > file.bytes {
            return Err(odd("its parts do not fit together"));
        }
    }
    if content.len() as u64 != file.bytes || Digest::of(&content).hex() != file.sha256 {
        return Err(odd("its content is not what the outcome says"));
    }
    Ok(content)
}
