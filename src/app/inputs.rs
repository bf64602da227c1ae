//! Binding inputs: reads, parses and hashes what a proposal names, away from the loop, a few
//! at a time; what a data set held is kept while its file does not change.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::executor::{self, DatasetSource};
use crate::model::{BoundInput, DatasetInfo, InputRequest};

/// Reads that may go on at once; more wait for a place.
const AT_ONCE: usize = 2;

/// The configured data sets and the right to read them.
#[derive(Clone)]
pub struct Inputs {
    datasets: Arc<BTreeMap<String, DatasetSource>>,
    places: Arc<Semaphore>,
}

impl Inputs {
    pub fn new(datasets: Arc<BTreeMap<String, DatasetSource>>) -> Self {
        Self {
            datasets,
            places: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// The contents of these inputs, or a sentence for the agent that names no path.
    pub async fn bind(
        &self,
        requests: BTreeMap<String, InputRequest>,
    ) -> Result<Vec<BoundInput>, String> {
        let datasets = self.datasets.clone();
        self.blocking(move || executor::bind(&requests, &datasets))
            .await
            .unwrap_or_else(|| Err("the inputs could not be read".to_owned()))
    }

    /// Names, columns and row counts; no paths.
    pub async fn describe(&self) -> Vec<DatasetInfo> {
        let datasets = self.datasets.clone();
        self.blocking(move || executor::describe(&datasets))
            .await
            .unwrap_or_default()
    }

    /// `None` when the reading panicked: a fault in one file is that file's fault.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let _place = self.places.acquire().await.ok()?;
        tokio::task::spawn_blocking(work).await.ok()
    }
}
