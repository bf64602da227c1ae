//! Binding inputs: reads, parses and hashes what a proposal names, away from the loop and a few at
//! a time. The content of a data set is cached while its file does not change. Parts of files that
//! runs left are read here too.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::sync::Semaphore;

use crate::broker::{Reply, RpcError};
use crate::executor::{self, Sources};
use crate::model::{Artifact, BoundInput, DatasetInfo, InputRequest};

/// Reads that may run at once; further ones wait.
const AT_ONCE: usize = 2;

/// Bytes of a file in one answer: encoded as base64 they stay well below a frame.
const PART: usize = 512 * 1024;

/// The sources of inputs, and the permits to read them.
#[derive(Clone)]
pub struct Inputs {
    sources: Arc<Sources>,
    places: Arc<Semaphore>,
}

impl Inputs {
    pub fn new(sources: Arc<Sources>) -> Self {
        Self {
            sources,
            places: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// The contents of these inputs, or a sentence for the agent that names no path. `artifacts`
    /// has the files of earlier runs among them, by input.
    pub async fn bind(
        &self,
        requests: BTreeMap<String, InputRequest>,
        artifacts: BTreeMap<String, Artifact>,
    ) -> Result<Vec<BoundInput>, String> {
        let sources = self.sources.clone();
        self.blocking(move || bind(requests, &artifacts, &sources))
            .await
            .unwrap_or_else(|| Err("the inputs could not be read".to_owned()))
    }

    /// Names, columns and row counts of the data sets, without paths.
    pub async fn describe(&self) -> Vec<DatasetInfo> {
        let sources = self.sources.clone();
        self.blocking(move || executor::describe(&sources))
            .await
            .unwrap_or_default()
    }

    /// The part of a file that begins at `offset`, and where the next part begins. The log's copy
    /// is compared with its digest each time: a file changed on disk is not handed out.
    pub async fn part(&self, artifact: Artifact, offset: u64) -> Result<Reply, RpcError> {
        let sources = self.sources.clone();
        self.blocking(move || part(&artifact, offset, &sources))
            .await
            .unwrap_or_else(|| Err("the file could not be read".to_owned()))
            .map_err(|e| {
                let message = format!("the log's copy of the artifact cannot be used: {e}");
                RpcError::new(RpcError::INTERNAL, message)
            })
    }

    /// `None` when the read panicked: a defect in one file must not affect others.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let _place = self.places.acquire().await.ok()?;
        tokio::task::spawn_blocking(work).await.ok()
    }
}

fn bind(
    mut requests: BTreeMap<String, InputRequest>,
    artifacts: &BTreeMap<String, Artifact>,
    sources: &Sources,
) -> Result<Vec<BoundInput>, String> {
    let mut bound = Vec::with_capacity(requests.len());
    for (name, artifact) in artifacts {
        if let Some(InputRequest::Artifact { artifact: named }) = requests.remove(name) {
            bound.push(executor::bind_artifact(name, named.id, artifact, sources)?);
        }
    }
    bound.extend(executor::bind_with(&requests, sources)?);
    bound.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(bound)
}

fn part(artifact: &Artifact, offset: u64, sources: &Sources) -> Result<Reply, String> {
    let digest = artifact
        .sha256
        .parse()
        .map_err(|_| "it has no digest".to_owned())?;
    let content = (sources.left)(&digest)?;
    let from = usize::try_from(offset).map_or(content.len(), |from| from.min(content.len()));
    let to = content.len().min(from + PART);
    Ok(Reply::Artifact {
        base64: STANDARD.encode(&content[from..to]),
        next_offset: (to < content.len()).then_some(to as u64),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Digest;

    #[test]
    fn the_parts_of_a_file_add_up_to_the_file() {
        let content: Vec<u8> = (0..PART * 2 + 7).map(|n| (n % 251) as u8).collect();
        let kept = content.clone();
        let digest = Digest::of(&content);
        let sources = Sources {
            datasets: BTreeMap::new(),
            converters: Default::default(),
            left: Box::new(move |asked| {
                (*asked == digest)
                    .then(|| kept.clone())
                    .ok_or_else(|| "it is missing".to_owned())
            }),
        };
        let artifact = Artifact {
            name: "a.bin".to_owned(),
            media_type: "application/octet-stream".to_owned(),
            bytes: content.len() as u64,
            sha256: digest.hex(),
        };
        let mut joined = Vec::new();
        let mut at = Some(0);
        while let Some(offset) = at {
            let Reply::Artifact {
                base64,
                next_offset,
            } = part(&artifact, offset, &sources).unwrap()
            else {
                panic!("the reply is no part of a file");
            };
            joined.extend(STANDARD.decode(base64).unwrap());
            at = next_offset;
        }
        assert_eq!(joined, content);
        assert_eq!(
            part(&artifact, content.len() as u64, &sources),
            Ok(Reply::Artifact {
                base64: String::new(),
                next_offset: None
            })
        );
    }
}
