//! Who signs the log's checkpoints, as the configuration says.

use std::fs::File;
use std::io::Read as _;

use crate::audit::{Anchoring, KeyCommand, Store, Trust, VerifierKey, Witness};
use crate::config::{Config, ConfigError, PublicKey};

/// Longest file of a key that is read.
const FILE_MAX: u64 = 4096;

/// What is to be done with checkpoints.
///
/// # Errors
/// What of it cannot be, with the place where it was set.
pub fn anchoring(config: &Config) -> Result<Anchoring, ConfigError> {
    let witnesses = witnesses(config)?;
    Ok(Anchoring {
        checkpoints: config.audit.checkpoints.clone(),
        command: config.audit.anchor_command.clone(),
        signer: signer(config)?,
        trust: trust(config, &witnesses)?,
        witnesses,
    })
}

/// Those that are to sign each checkpoint as well.
fn witnesses(config: &Config) -> Result<Vec<Witness>, ConfigError> {
    let all = config.audit.witnesses.iter().map(|text| text.parse());
    let all: Result<_, String> = all.collect();
    all.map_err(|why| {
        let key = "audit.witnesses".to_owned();
        config.fault(&[key], format!("`audit.witnesses`: {why}"))
    })
}

/// Who vouches for the witnesses that are reached by HTTPS.
fn trust(config: &Config, witnesses: &[Witness]) -> Result<Trust, ConfigError> {
    let file = config.audit.witness_ca.as_deref();
    if file.is_none() && !witnesses.iter().any(Witness::has_tls) {
        return Ok(Trust::default());
    }
    Trust::here(file).map_err(|why| {
        let keys = ["audit.witness_ca", "audit.witnesses"].map(str::to_owned);
        config.fault(&keys, format!("`audit.witness_ca`: {why}"))
    })
}

/// The command that signs, if not a key in the folder of checkpoints does.
fn signer(config: &Config) -> Result<Option<KeyCommand>, ConfigError> {
    let fault = |key: &str, why: String| {
        let name = format!("audit.{key}");
        Err(config.fault(&[name], format!("`audit.{key}`{why}")))
    };
    let audit = &config.audit;
    let public = match (&audit.key_command[..], &audit.key_public) {
        ([], None) => return Ok(None),
        ([], Some(_)) => {
            let why = " does nothing without `audit.key_command`, the command that signs";
            return fault("key_public", why.to_owned());
        }
        (_, None) => {
            let why = " needs `audit.key_public`, the verifier key that checks what the command signed \
                       (`name+hash+base64`, or the file that has it)";
            return fault("key_command", why.to_owned());
        }
        (_, Some(public)) => public,
    };
    let key: VerifierKey = match read(public).map(|text| text.trim().parse()) {
        Err(e) => return fault("key_public", format!(": {public} cannot be read: {e}")),
        Ok(Err(e)) => return fault("key_public", format!(": {e}")),
        Ok(Ok(key)) => key,
    };
    let store = audit.checkpoints.as_deref();
    let store = store.map_or_else(|| Store::beside(&config.paths.state_dir), Store::at);
    let command = match KeyCommand::new(&audit.key_command, key) {
        Ok(command) => command,
        Err(why) => return fault("key_public", format!(": {why}")),
    };
    match store.is_for(&command) {
        Ok(()) => Ok(Some(command)),
        Err(e) => fault("key_command", format!(": {e}")),
    }
}

fn read(key: &PublicKey) -> std::io::Result<String> {
    match key {
        PublicKey::Text(text) => Ok(text.clone()),
        PublicKey::File(path) => {
            let mut text = String::new();
            let file = File::open(path)?.take(FILE_MAX);
            { file }.read_to_string(&mut text)?;
            Ok(text)
        }
    }
}
