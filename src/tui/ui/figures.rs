//! Which figures of the selected run are wanted for the screen, and which are there.

use std::sync::Arc;

use crate::broker::{BrokerState, Entry};
use crate::figure::{Small, Undrawn};
use crate::model::{Artifact, Digest};

use super::UiState;

/// Figures of one run that are drawn.
const FIGURES: usize = 4;
/// Figures kept for the next frames.
const KEPT: usize = 16;

/// What is known of a figure; nothing while a worker decodes it.
pub type Figure = Option<Result<Arc<Small>, Undrawn>>;

impl UiState {
    /// The figures of the selected run that nobody asked for yet, once their files are in the log.
    pub fn wants_figures(&mut self, state: &BrokerState) -> Vec<Digest> {
        let Some(entry) = self.entry(state).filter(|entry| entry.is_recorded()) else {
            return Vec::new();
        };
        let mut wanted: Vec<Digest> = drawn(entry)
            .filter_map(|file| file.sha256.parse().ok())
            .collect();
        wanted.retain(|digest| self.kept.figures.iter().all(|(have, _)| have != digest));
        for digest in &wanted {
            self.kept.figures.push_front((*digest, None));
        }
        self.kept.figures.truncate(KEPT);
        wanted
    }

    pub fn set_figure(&mut self, digest: Digest, found: Result<Small, Undrawn>) {
        let slot = self.kept.figures.iter_mut().find(|(d, _)| *d == digest);
        if let Some((_, slot)) = slot {
            *slot = Some(found.map(Arc::new));
        }
    }

    /// The figures of an entry's run, with what is known of each.
    pub(in crate::tui) fn figures<'e>(&self, entry: &'e Entry) -> Vec<(&'e Artifact, Figure)> {
        let known = |file: &Artifact| {
            let digest: Digest = file.sha256.parse().ok()?;
            let found = self.kept.figures.iter().find(|(d, _)| *d == digest);
            found.and_then(|(_, figure)| figure.clone())
        };
        drawn(entry).map(|file| (file, known(file))).collect()
    }

    /// Figures of an entry's run that are not drawn because there are too many.
    pub(in crate::tui) fn more_figures(entry: &Entry) -> usize {
        pictures(entry).count().saturating_sub(FIGURES)
    }
}

fn drawn(entry: &Entry) -> impl Iterator<Item = &Artifact> {
    pictures(entry).take(FIGURES)
}

/// The files that could be drawn. Pictures of charts are made from data that is sketched already.
fn pictures(entry: &Entry) -> impl Iterator<Item = &Artifact> {
    let run = entry.run();
    let is_charted = run.is_some_and(|run| !crate::chart::charts(&run.result).is_empty());
    run.into_iter()
        .flat_map(|run| &run.artifacts)
        .filter(move |file| file.media_type == "image/png" && !is_charted)
}
