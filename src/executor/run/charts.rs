//! Writes the charts of a run as files: each as complete JSON and as a picture.
//!
//! They are made from the cleaned result for the agent, so hidden values are not in them, and drawn
//! by the bounded code of [`chart`] instead of a library of the snippet.

use serde_json::Value;

use crate::chart;
use crate::model::{Artifact, Blob};

/// Maximum number of charts of one run that become files; all are in its result.
pub const CHARTS_MAX: usize = 20;

/// The charts' files and their contents. `taken` are the names of the run's own files.
pub fn files(result: &Value, taken: &[Artifact]) -> (Vec<Artifact>, Vec<Blob>) {
    let is_free = |name: &str| taken.iter().all(|file| file.name != name);
    let mut numbers = (1..).filter(|n| {
        [format!("chart{n}.json"), format!("chart{n}.png")]
            .iter()
            .all(|name| is_free(name))
    });
    let mut files = Vec::new();
    for chart in chart::charts(result).into_iter().take(CHARTS_MAX) {
        let Some(n) = numbers.next() else { break };
        let json = serde_json::to_vec(chart).unwrap_or_default();
        files.push((format!("chart{n}.json"), "application/json", json));
        match chart::draw(chart) {
            Ok(picture) => files.push((format!("chart{n}.png"), "image/png", picture)),
            Err(e) => tracing::warn!("a chart has no picture: {e}"),
        }
    }
    files
        .into_iter()
        .map(|(name, media_type, content)| {
            let blob = Blob::of(&content);
            let file = Artifact {
                name,
                media_type: media_type.to_owned(),
                bytes: content.len() as u64,
                sha256: blob.sha256.hex(),
            };
            (file, blob)
        })
        .unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_chart_is_two_files_with_names_of_their_own() {
        let result = json!({"chart": [{"data": [{"y": [1, 2]}]}, {"data": []}]});
        let mine = Artifact {
            name: "chart1.png".to_owned(),
            media_type: "image/png".to_owned(),
            bytes: 1,
            sha256: String::new(),
        };
        let (files, blobs) = files(&result, &[mine]);
        let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(
            names,
            ["chart2.json", "chart2.png", "chart3.json", "chart3.png"]
        );
        assert_eq!(&*blobs[0].bytes, b"{\"data\":[{\"y\":[1,2]}]}");
        assert!(blobs[1].bytes.starts_with(b"\x89PNG"));
        for (file, blob) in files.iter().zip(&blobs) {
            assert_eq!(file.sha256, blob.sha256.hex());
            assert_eq!(file.bytes, blob.bytes.len() as u64);
        }
        let many = json!({"chart": vec![json!({"data": []}); CHARTS_MAX + 1]});
        assert_eq!(super::files(&many, &[]).0.len(), 2 * CHARTS_MAX);
        assert!(super::files(&json!({"chart": null}), &[]).0.is_empty());
    }
}
