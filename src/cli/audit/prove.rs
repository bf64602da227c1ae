//! `countersign audit prove`.

use std::path::{Path, PathBuf};

use crate::audit::{Log, ProofError, Prover, Record, Signed, Store, VerifierKey, Vouched, bundle};
use crate::error::Failure;
use crate::model::{LogEvent, visible};

use super::super::Globals;
use super::super::folder::{Folder, Kind, Others};
use super::super::out::{print, tell};
use super::{anchors, answers, failed, show, whole};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The proposal's id, or its beginning or end (at least four digits)
    id: String,
    /// Which of its records, by kind or sequence number; else the decision, or the last one
    #[arg(long, value_name = "KIND|SEQ", conflicts_with = "out")]
    record: Option<String>,
    /// Write the proof of each of its records into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// With --out, replace files of the same names
    #[arg(long, requires = "out")]
    force: bool,
    #[command(flatten)]
    anchors: anchors::Place,
}

pub fn run(args: &Args, log: &Log, globals: &Globals, state_dir: &Path) -> Result<u8, Failure> {
    let folder = args.out.as_deref().map(Folder::open).transpose()?;
    let store = args.anchors.store(globals, state_dir);
    let (key, signed) = latest(&store)?;
    // Checkpoints from elsewhere say how long the log must be, too.
    let log = &log.clone().vouched(Vouched::by(&store, &signed));
    let mut answers = answers(log, "prove")?;
    let id = show::resolve(&args.id, &mut answers)?;
    let history = answers.records(id).map_err(|e| failed(&e))?;
    // What is not as it was written proves nothing. The index has no part in it.
    whole(&history.faults.of_log())?;
    let prover = log.prover(&store, &signed);
    let prove = |record: &Record| prove(&prover, &signed, record);
    match folder {
        None => {
            let record = chosen(args.record.as_deref(), &history.records)?;
            let proof = prove(record)?;
            print(|out| out.write_all(proof.as_bytes()))?;
        }
        Some(folder) => {
            let proofs = history
                .records
                .iter()
                .map(|record| Ok((record, prove(record)?)));
            // All of them, or none is written.
            for (record, proof) in proofs.collect::<Result<Vec<_>, Failure>>()? {
                let name = format!("{id}-{}-{}.tlog-proof", record.seq, record.event.kind());
                let shown = folder.shown(&name);
                folder
                    .write(
                        &name,
                        proof.as_bytes(),
                        Kind::Private,
                        Others::of(args.force),
                    )
                    .map_err(|e| Failure::general(format!("not written: {shown}: {e}")))?;
                tell(&shown);
            }
        }
    }
    tell(&format!(
        "the key that checks it: {}",
        visible(&key.to_string())
    ));
    whole(&history.faults)
}

/// The newest checkpoint, and the key that signed it.
pub(super) fn latest(store: &Store) -> Result<(VerifierKey, Signed), Failure> {
    let unusable = |e: &dyn std::fmt::Display| Failure::general(format!("nothing is proved: {e}"));
    let key = store.key().map_err(|e| unusable(&e))?;
    let signed = match &key {
        Some(key) => store.latest(key).map_err(|e| unusable(&e))?,
        None => None,
    };
    key.zip(signed).ok_or_else(|| {
        let dir = store.dir().display().to_string();
        Failure::general(format!(
            "there is no checkpoint in {}: a dashboard makes one every 64 records, each minute in which it \
             recorded something, and when it closes; --checkpoints names another folder",
            visible(&dir)
        ))
    })
}

/// The record that was asked for.
fn chosen<'a>(wanted: Option<&str>, records: &'a [Record]) -> Result<&'a Record, Failure> {
    let decides = |record: &&Record| {
        matches!(
            record.event,
            LogEvent::Granted(_) | LogEvent::Denied { .. } | LogEvent::Drilled(_)
        )
    };
    let found = match wanted {
        None => records.iter().find(decides).or(records.last()),
        Some(wanted) => {
            let is = |record: &&Record| {
                record.event.kind() == wanted || record.seq.to_string() == wanted
            };
            records.iter().find(is)
        }
    };
    found.ok_or_else(|| {
        let all = records
            .iter()
            .map(|r| format!("{} (seq {})", r.event.kind(), r.seq));
        Failure::usage(format!(
            "the proposal has no such record; it has {}",
            all.collect::<Vec<_>>().join(", ")
        ))
    })
}

fn prove(prover: &Prover, signed: &Signed, record: &Record) -> Result<String, Failure> {
    let size = signed.checkpoint.size;
    if record.seq > size {
        return Err(Failure::general(bundle::newer(record.seq, size)));
    }
    let proof = prover.proof(signed, record.seq, record.line.as_bytes());
    proof.map_err(|e| match e {
        ProofError::Log(e) => failed(&e),
        ProofError::Tree(e) => Failure::general(format!("nothing is proved: {e}")),
    })
}
