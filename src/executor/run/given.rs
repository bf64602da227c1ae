//! The inputs of every run, however it is started: its job, its code, and a sealed file per input.

use std::fs::File;
use std::io::{self, Seek as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::model::{BoundInput, DataFormat, Digest, InputKind, Limits, RunEvent};
use crate::policy::Contract;

use crate::executor::control::{Switch, Until};
use crate::executor::data::bounds::Bound;
use crate::executor::data::cells::Cells;
use crate::executor::data::datasets::{self, Sources};
use crate::executor::fault::{Fault, Why};
use crate::executor::python::runner;
use crate::executor::spec::RunSpec;
use crate::sandbox::memfd;
use crate::sandbox::protocol::Descriptors;

/// The inputs of a run.
pub struct Given {
    pub job: OwnedFd,
    pub code: OwnedFd,
    pub inputs: Vec<OwnedFd>,
    /// Size of the inputs that the payload maps, in bytes.
    pub mapped: u64,
    pub private: PrivateData,
}

/// Data about the private data sets of a run.
pub struct PrivateData {
    /// The values to hide in everything that goes back.
    pub cells: Arc<Cells>,
    /// The events for the person.
    pub noted: Vec<RunEvent>,
}

pub fn file(name: &str, bytes: io::Result<Vec<u8>>) -> Result<OwnedFd, Fault> {
    bytes
        .and_then(|bytes| memfd::of_bytes(name, &bytes))
        .map_err(Fault::of(Why::Files))
}

// Every accepted proposal can be handed over: one descriptor per input, and one for
// the file of another child.
const _: () = assert!(Limits::INPUTS_MAX < Descriptors::<OwnedFd>::inputs_max());

impl Given {
    /// Reading data sets and counting the values of private ones may take minutes; a kill ends it.
    pub fn make(spec: &RunSpec, sources: &Sources, switch: &Switch) -> Result<Self, Fault> {
        if Digest::of(spec.code.as_bytes()) != spec.digest {
            return Err(Fault::new(Why::OtherCode, "digest"));
        }
        let most = Descriptors::<OwnedFd>::inputs_max() - 1;
        if spec.inputs.len() > most {
            let count = spec.inputs.len();
            return Err(Fault::new(Why::TooManyInputs { most }, count));
        }
        let mut inputs = inputs(spec, sources, switch)?;
        let (cells, noted) = hidden(spec, &inputs, sources, switch)?;
        if let Some(handed) = &spec.handed {
            inputs.push(file("handed", Ok(handed.to_vec()))?.into());
        }
        let frames: Vec<bool> = inputs.iter().map(|one| one.mapped > 0).collect();
        Ok(Self {
            job: file("job", runner::job(spec, &frames))?,
            code: file("code", Ok(spec.code.as_bytes().to_vec()))?,
            mapped: inputs.iter().map(|one| one.mapped).sum(),
            inputs: inputs.into_iter().map(|one| one.fd).collect(),
            private: PrivateData {
                cells: Arc::new(cells),
                noted,
            },
        })
    }
}

/// The sealed file of one input.
struct Content {
    fd: OwnedFd,
    /// Its size if it is a converted table, which the payload maps.
    mapped: u64,
}

impl From<OwnedFd> for Content {
    fn from(fd: OwnedFd) -> Self {
        Self { fd, mapped: 0 }
    }
}

/// The values of private data sets, from exactly the bytes that the child gets, and the bounds of
/// the search.
fn hidden(
    spec: &RunSpec,
    inputs: &[Content],
    sources: &Sources,
    switch: &Switch,
) -> Result<(Cells, Vec<RunEvent>), Fault> {
    let mut cells = Cells::default();
    let mut noted = Vec::new();
    for (input, given) in spec.inputs.iter().zip(inputs) {
        let InputKind::Dataset {
            dataset, format, ..
        } = &input.kind
        else {
            continue;
        };
        if !spec.hides(input) {
            continue;
        }
        // The text of a cell may differ from the text of its value.
        let added = match format {
            DataFormat::Csv => table(&mut cells, &given.fd, b',', switch),
            DataFormat::Tsv => table(&mut cells, &given.fd, b'\t', switch),
            _ => Ok(()),
        };
        let added = added.map_err(|e| e.to_string());
        let bounds = added
            .and_then(|()| counted(&mut cells, input, &given.fd, sources, switch))
            .map_err(|why| {
                let dataset = dataset.clone();
                let because = why;
                Fault::new(Why::NotHidden { dataset, because }, format.as_str())
            })?;
        noted.extend(bounds.iter().map(|bound| bound.event(dataset)));
    }
    Ok((cells, noted))
}

fn table(cells: &mut Cells, fd: &OwnedFd, delimiter: u8, switch: &Switch) -> io::Result<()> {
    let mut file = File::from(fd.try_clone()?);
    cells.add_table(&mut file, delimiter, switch)?;
    // The child shares the file position.
    file.rewind()
}

/// The values as the child will read them, counted in a separate jail.
fn counted(
    cells: &mut Cells,
    input: &BoundInput,
    fd: &OwnedFd,
    sources: &Sources,
    switch: &Switch,
) -> Result<Arc<[Bound]>, String> {
    // The duplicate refers to the same bytes, and the child has to find its position at the start.
    let copy = fd.try_clone().map_err(|e| e.to_string())?;
    let counted = sources.converters.values(input, copy, switch);
    let counted = counted.map_err(|fault| {
        tracing::warn!(detail = %fault.detail, "{fault}");
        fault.to_string()
    })?;
    cells
        .add_values(&counted.lines[..], switch)
        .map_err(|e| e.to_string())?;
    File::from(fd.try_clone().map_err(|e| e.to_string())?)
        .rewind()
        .map_err(|e| e.to_string())?;
    Ok(counted.bounds)
}

/// Whether a data set is handed over as its converted table. Not for private ones, whose values are
/// counted from the file itself, nor under the contract `walled`, which has no library that reads
/// tables.
fn takes_frames(spec: &RunSpec, input: &BoundInput) -> bool {
    !spec.hides(input) && spec.policy.contract != Contract::Walled
}

/// Makes a sealed file for each input: an agent's input as it was shown, a data set as its file is
/// now, if that is still what was shown.
fn inputs(spec: &RunSpec, sources: &Sources, switch: &Switch) -> Result<Vec<Content>, Fault> {
    spec.inputs
        .iter()
        .map(|input| {
            let changed = || {
                let name = input.name.clone();
                Fault::new(Why::InputChanged { input: name }, input.sha256)
            };
            match &input.kind {
                InputKind::Json { text } | InputKind::Text { text, .. } => {
                    if Digest::of(text.as_bytes()) != input.sha256 {
                        return Err(changed());
                    }
                    memfd::of_bytes("input", text.as_bytes())
                        .map(Content::from)
                        .map_err(Fault::of(Why::Files))
                }
                InputKind::Artifact { artifact, .. } => {
                    let content = (sources.left)(&input.sha256).map_err(|e| {
                        let artifact = artifact.clone();
                        Fault::new(Why::ArtifactGone { artifact }, e)
                    })?;
                    if Digest::of(&content) != input.sha256 {
                        return Err(changed());
                    }
                    memfd::of_bytes("artifact", &content)
                        .map(Content::from)
                        .map_err(Fault::of(Why::Files))
                }
                InputKind::Dataset { dataset, .. } => {
                    let gone = |detail: String| {
                        let dataset = dataset.clone();
                        Fault::new(Why::DatasetGone { dataset }, detail)
                    };
                    let source = sources
                        .datasets
                        .get(dataset)
                        .ok_or_else(|| gone("not configured".to_owned()))?;
                    // Private values are counted from the file itself.
                    if takes_frames(spec, input)
                        && let Some((fd, mapped)) = datasets::frame_of(source, input.sha256)
                    {
                        return Ok(Content { fd, mapped });
                    }
                    let file = datasets::open(&source.path).map_err(|e| gone(e.to_string()))?;
                    let mut file = Until {
                        inner: file,
                        switch,
                    };
                    let (fd, digest, _) =
                        memfd::of_reader("dataset", &mut file, datasets::BYTES_MAX)
                            .map_err(|e| gone(e.to_string()))?;
                    if digest != input.sha256 {
                        let dataset = dataset.clone();
                        return Err(Fault::new(Why::DatasetChanged { dataset }, digest));
                    }
                    // The file was touched but has the same content.
                    if takes_frames(spec, input)
                        && let Some((fd, mapped)) = datasets::frame_with(source.format, digest)
                    {
                        return Ok(Content { fd, mapped });
                    }
                    Ok(fd.into())
                }
            }
        })
        .collect()
}
