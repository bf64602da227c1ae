//! Unreadable data sets are reported at the start and by `doctor`, before an agent names one.

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crate::config::Config;
use crate::executor::open_dataset;

/// How long to wait for a file system to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The data sets whose files cannot be opened: name, path and reason, for a person.
pub fn absent(config: &Config) -> Vec<String> {
    let until = Instant::now() + PATIENCE;
    let looks: Vec<_> = config
        .datasets
        .iter()
        .map(|(name, dataset)| {
            let (said, heard) = channel();
            let path = dataset.path.clone();
            // A thread whose file system never answers is abandoned.
            std::thread::spawn(move || said.send(fault(&path)));
            (name, &dataset.path, heard)
        })
        .collect();
    let found = looks.into_iter().filter_map(|(name, path, heard)| {
        let left = until.saturating_duration_since(Instant::now());
        let why = match heard.recv_timeout(left) {
            Ok(fault) => fault?,
            Err(_) => "its file system does not answer".to_owned(),
        };
        Some(format!("{name} ({}: {why})", path.display()))
    });
    found.collect()
}

fn fault(path: &Path) -> Option<String> {
    let error = open_dataset(path).err()?;
    Some(match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "you may not read it".to_owned(),
        _ => error.to_string(),
    })
}
