//! Runs kept code again for the user, unconfined and in the user's own Python. Therefore only code
//! that a person granted and that succeeded is run, after another check by the policy.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::analysis::Analyser;
use crate::audit::{self, Log, Store, TlogError, Vouched, kept};
use crate::config::{Config, Dataset};
use crate::error::Failure;
use crate::model::{
    BoundInput, Digest, GrantedLog, InputKind, LogEvent, ProposalId, State, Verdict, VerdictKind,
};
use crate::policy::{Contract, Policy};

use super::reviewer;

/// The script that the user's Python is started with.
const DRIVER: &str = include_str!("../../assets/replicate.py");

/// A kept run that was checked.
#[derive(Debug)]
pub struct Replica {
    pub id: ProposalId,
    pub digest: Digest,
    pub code: Arc<str>,
    pub profile: String,
    /// The verdict of the policy as it is now.
    pub verdict: Verdict,
    /// One line for each input: where its content comes from.
    pub given: Vec<String>,
    /// What differs from when the run was granted.
    pub changed: Vec<String>,
    file: PathBuf,
    contract: Contract,
    inputs: Vec<Input>,
    state_dir: PathBuf,
}

#[derive(Debug)]
struct Input {
    name: String,
    format: &'static str,
    /// Whether the contract `scoped` passes it in `private`.
    private: bool,
    content: Content,
}

#[derive(Debug)]
enum Content {
    File(PathBuf),
    Bytes(Vec<u8>),
}

/// Checks that the log is undamaged, that a person granted this code and it succeeded, and that the
/// policy of its profile still allows it.
///
/// # Errors
/// The first of these checks that fails.
pub fn check(config: &Config, policies: &[Arc<Policy>], file: &Path) -> Result<Replica, Failure> {
    let refuse = |why: String| Failure::general(format!("{}: {why}", file.display()));
    let found = kept::read(file).map_err(|e| Failure::general(e.to_string()))?;
    let digest = Digest::of(&found.code);
    let state_dir = &config.paths.state_dir;
    let log = Log::open(state_dir).map_err(|e| Failure::general(e.to_string()))?;
    whole(config, &log).map_err(&refuse)?;
    let (grant, replaced) = granted(&log, found.id, digest).map_err(&refuse)?;
    let code: Arc<str> = String::from_utf8(found.code)
        .map_err(|_| refuse("its code is not UTF-8".to_owned()))?
        .into();
    let Some(policy) = policies.iter().find(|p| p.name == grant.profile) else {
        return Err(refuse(format!(
            "there is no profile `{}` any more to check it against",
            grant.profile
        )));
    };
    let verdict = Analyser::new(PathBuf::from("/proc/self/exe"), policies.to_vec())
        .verdict(code.as_bytes(), &grant.profile);
    if verdict.verdict >= VerdictKind::Blocked {
        let why = verdict.findings.first();
        return Err(refuse(format!(
            "profile `{}` does not let it pass any more: {}{}",
            grant.profile,
            verdict.verdict,
            why.map_or(String::new(), |f| format!(
                ", line {}: {} {}",
                f.line, f.rule, f.message
            ))
        )));
    }
    let mut replica = Replica {
        id: found.id,
        digest,
        code,
        profile: grant.profile.clone(),
        given: Vec::new(),
        changed: Vec::new(),
        file: file.to_owned(),
        contract: policy.contract,
        inputs: Vec::new(),
        state_dir: state_dir.clone(),
        verdict,
    };
    if policy.sha256.hex() != grant.policy_sha256 {
        replica
            .changed
            .push(format!("the policy `{}` is another one", grant.profile));
    }
    if replaced && grant.inputs.iter().any(BoundInput::is_kept) {
        let lacks = "the log keeps no secrets: what the agent brought may lack some of its own";
        replica.changed.push(lacks.to_owned());
    }
    for input in &grant.inputs {
        replica
            .find(input, &log, &config.datasets)
            .map_err(&refuse)?;
    }
    Ok(replica)
}

/// Whether the log is whole, and the one that its newest checkpoint signs: who can write its folder can make another sound
/// chain.
fn whole(config: &Config, log: &Log) -> Result<(), String> {
    let believed = |why: &dyn std::fmt::Display| {
        format!(
            "{why}, and nothing that the log says is believed; `countersign audit verify` tells more"
        )
    };
    let configured = config.audit.checkpoints.as_deref();
    let store = configured.map_or_else(|| Store::beside(&config.paths.state_dir), Store::at);
    let signed = match Vouched::of(&store).map_err(|e| believed(&e))? {
        Vouched::By(by) => vec![by.1.clone()],
        Vouched::Nothing => Vec::new(),
        Vouched::Fault(why) => return Err(believed(&why)),
    };
    let verified = log.verify_signed(Some(&store), &signed);
    let (report, compared) = verified.map_err(|e| e.to_string())?;
    match compared {
        _ if !report.consistent => Err(believed(&"the log is damaged")),
        // Retention removed what was signed; the records that are left cannot contradict it.
        Ok(()) | Err(TlogError::NoBeginning(_)) => Ok(()),
        Err(e) => Err(believed(&e)),
    }
}

/// The grant of this run, if the run used this code and succeeded, and whether secrets were replaced in what was proposed.
fn granted(log: &Log, id: ProposalId, digest: Digest) -> Result<(Box<GrantedLog>, bool), String> {
    let history = log.records(id).map_err(|e| e.to_string())?;
    let mut grant = None;
    let (mut succeeded, mut replaced, mut secret) = (false, false, Vec::new());
    for record in history.records {
        replaced |= matches!(record.event, LogEvent::Proposed(_)) && !record.redacted.is_empty();
        match record.event {
            LogEvent::Proposed(p) if p.kept.is_some() => secret.push(p.digest),
            LogEvent::Edited(e) if e.kept.is_some() => secret.push(e.digest),
            LogEvent::Granted(g) => grant = Some(g),
            LogEvent::Finished(f) => succeeded = f.state == State::Succeeded,
            _ => {}
        }
    }
    let grant = grant.ok_or_else(|| format!("the log knows no granted run {id}"))?;
    if secret.contains(&grant.digest) {
        return Err(
            "its code held secrets, which are not kept: it cannot be run again; propose it anew"
                .to_owned(),
        );
    }
    if grant.digest != digest {
        return Err(format!(
            "its code is not what was granted: {digest} is not {}; restore the file, or propose \
             the changed code",
            grant.digest
        ));
    }
    if !succeeded {
        return Err(format!("run {id} did not succeed"));
    }
    Ok((grant, replaced))
}

impl Replica {
    fn find(
        &mut self,
        input: &BoundInput,
        log: &Log,
        datasets: &BTreeMap<String, Dataset>,
    ) -> Result<(), String> {
        let name = &input.name;
        let (format, content, what) = match &input.kind {
            InputKind::Dataset {
                dataset, format, ..
            } => {
                let source = datasets.get(dataset).ok_or_else(|| {
                    format!("its input {name} is the data set {dataset}, which is not configured")
                })?;
                let now = digest_of(&source.path)
                    .map_err(|e| format!("the data set {dataset} cannot be read: {e}"))?;
                if now != input.sha256 {
                    self.changed
                        .push(format!("the data set {dataset} has another content"));
                }
                let what = format!("data set {dataset}, {}", source.path.display());
                (format.as_str(), Content::File(source.path.clone()), what)
            }
            InputKind::Artifact { id, artifact, .. } => (
                input.format().as_str(),
                Content::Bytes(log.blob(&input.sha256)?),
                format!("{artifact} of the run {id}, as it was"),
            ),
            InputKind::Json { .. } | InputKind::Text { .. } => (
                input.format().as_str(),
                Content::Bytes(log.blob(&input.sha256)?),
                format!("{} bytes from its agent, as the log has them", input.bytes),
            ),
        };
        self.given.push(format!("{name}: {what}"));
        self.inputs.push(Input {
            name: name.clone(),
            format,
            private: input.is_private(),
            content,
        });
        Ok(())
    }

    /// Records that a person runs this now. Nothing may run before this returns.
    ///
    /// # Errors
    /// When a dashboard has the log open, or the log cannot be written.
    pub fn record(&self) -> Result<(), Failure> {
        let event = LogEvent::Replicated {
            id: self.id,
            digest: self.digest,
            by: reviewer::here(),
        };
        audit::append(&self.state_dir, event).map_err(|e| {
            Failure::general(format!(
                "nothing was run, since it could not be recorded: {e}"
            ))
        })
    }

    /// The command for the user's Python. The folder holds its input files and is deleted on drop.
    pub fn command(&self, python: &Path) -> io::Result<(Command, TempDir)> {
        let folder = tempfile::Builder::new()
            .prefix("countersign-replicate-")
            .tempdir()?;
        let mut inputs = Vec::new();
        for (n, input) in self.inputs.iter().enumerate() {
            let path = match &input.content {
                Content::File(path) => path.clone(),
                Content::Bytes(bytes) => {
                    let path = folder.path().join(n.to_string());
                    std::fs::write(&path, bytes)?;
                    path
                }
            };
            inputs.push(json!({
                "name": input.name,
                "format": input.format,
                "private": input.private,
                "path": path,
            }));
        }
        let job: Value = json!({
            "file": self.file,
            "code": &*self.code,
            "contract": self.contract.as_str(),
            "profile": self.profile,
            "inputs": inputs,
        });
        let job_file = folder.path().join("job.json");
        std::fs::write(&job_file, job.to_string())?;
        let mut command = Command::new(python);
        command.arg("-c").arg(DRIVER).arg(&job_file);
        Ok((command, folder))
    }
}

fn digest_of(path: &Path) -> io::Result<Digest> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Digest::from_bytes(hash.finalize().into())),
            n => hash.update(&buffer[..n]),
        }
    }
}

/// Removes kept code that is older than `days`; 0 keeps everything.
pub fn forget(state_dir: &Path, days: u64) {
    if days == 0 {
        return;
    }
    match kept::outdated(state_dir, days, Timestamp::now()) {
        Ok(old) => {
            for path in old {
                if let Err(e) = std::fs::remove_file(&path) {
                    tracing::warn!("{} could not be removed: {e}", path.display());
                }
            }
        }
        Err(e) => tracing::warn!("kept code could not be listed: {e}"),
    }
}
