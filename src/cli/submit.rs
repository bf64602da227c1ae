//! `countersign submit`: proposes a snippet, waits, and prints its output.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use crate::broker::RpcError;
use crate::config::{self, check_identifier};
use crate::error::Failure;
use crate::ipc::{Client, ClientError, FRAME_MAX};
use crate::model::{Artifact, Outcome, Run, State, TextFormat};

use super::Globals;
use super::dashboard;
use super::folder::{Folder, Kind, Others};
use super::out::{is_told, print_data, print_json, tell, tell_data};

mod files;

/// Exit code: no dashboard, a protocol error, or a run that could not be carried out.
const NO_OUTCOME: u8 = 7;
/// Exit code: interrupted while the proposal lives on; the shell convention for SIGINT.
const INTERRUPTED: u8 = 130;
/// How long to wait for a withdrawal after Ctrl-C.
const WITHDRAW_TIME: Duration = Duration::from_secs(2);

/// Exit codes: 0 ran and succeeded, 1 ran and failed, 2 usage, 3 denied, 4 expired,
/// 5 blocked or unanalyzable, 6 withdrawn or unattended, 7 no dashboard or no outcome.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 ran and succeeded, 1 ran and failed, 2 usage, 3 denied, \
    4 expired, 5 blocked or unanalyzable, 6 withdrawn or unattended, 7 no dashboard reachable, \
    a protocol error, or state `error`, 130 interrupted while the proposal lives on"
)]
pub struct Args {
    /// The snippet; `-` is standard input
    #[arg(value_name = "FILE|-")]
    pub file: Option<PathBuf>,
    /// An input: a configured data set, or a file (csv, tsv, json, jsonl) after `@`
    #[arg(long, value_name = "NAME=DATASET|NAME=@FILE", value_parser = parse_input)]
    pub input: Vec<Input>,
    /// What it is, for the person who decides
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Why it should run
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Who proposes it; shown as a claim
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// How long a decision is waited for
    #[arg(long, value_name = "SECONDS", value_parser = parse_ttl)]
    pub ttl: Option<u64>,
    /// Idempotency key: the same command again attaches to the same proposal
    #[arg(long, value_name = "KEY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub key: Option<String>,
    /// Write the files that the run left into this folder, which is made where it is missing
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// With --out, replace other files of the same names
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Print the whole outcome as JSON
    #[arg(long)]
    pub json: bool,
}

/// One `--input`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    name: String,
    source: Source,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    Dataset(String),
    File(PathBuf, TextFormat),
}

fn parse_input(text: &str) -> Result<Input, String> {
    let (name, source) = text
        .split_once('=')
        .ok_or("it must be NAME=DATASET or NAME=@FILE")?;
    check_identifier(name).map_err(|why| format!("`{name}` cannot be a Python name: {why}"))?;
    let source = match source.strip_prefix('@') {
        None if source.is_empty() => return Err("it names no data set".to_owned()),
        None => Source::Dataset(source.to_owned()),
        Some(path) => {
            let extension = Path::new(path).extension().and_then(|e| e.to_str());
            let format = extension.and_then(TextFormat::from_extension).ok_or(
                "the file's extension decides how it is read and must be .csv, .tsv, .json or \
                 .jsonl",
            )?;
            Source::File(path.into(), format)
        }
    };
    Ok(Input {
        name: name.to_owned(),
        source,
    })
}

/// The dashboard enforces the maximum.
fn parse_ttl(text: &str) -> Result<u64, String> {
    const RIGHT: &str = "it must be a whole number of seconds from 1 to what `ttl_max_s` of the dashboard's \
                         configuration allows";
    match text.parse() {
        Ok(0) | Err(_) => Err(RIGHT.to_owned()),
        Ok(seconds) => Ok(seconds),
    }
}

/// Runs the command and returns the exit code.
pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    let params = params(args, globals)?;
    let out = args.out.as_deref().map(Folder::open).transpose()?;
    let wants = Wants {
        out: out.as_ref(),
        others: Others::of(args.force),
        whole_stdout: !args.json,
    };
    let paths = config::paths(&globals.options()).map_err(|e| Failure::usage(e.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::with_code(NO_OUTCOME, format!("cannot start: {e}")))?;
    let ended = runtime.block_on(propose(&paths.socket, params, args.key.is_some(), &wants));
    let (outcome, left) = match ended.map_err(|e| match e {
        ClientError::Unreachable { .. } => beside_demos(failure(&e), args),
        _ => failure(&e),
    })? {
        Ended::Outcome(outcome, left) => (outcome, left),
        Ended::Interrupted { code, message } => return Err(Failure::with_code(code, message)),
    };
    let mut parsed = Outcome::deserialize(&outcome).map_err(|e| {
        Failure::with_code(
            NO_OUTCOME,
            format!("the dashboard's answer is no outcome: {e}"),
        )
    })?;
    if args.json {
        print_json(&outcome.to_string()).map_err(unprinted)?;
    } else {
        if let (Some(stdout), Some(run)) = (left.stdout, &mut parsed.run) {
            run.stdout = stdout;
            run.stdout_truncated = run.stdout_bytes > run.stdout.len() as u64;
        }
        report(&parsed)?;
        for line in &left.written {
            tell(line);
        }
        for note in parsed.run.iter().flat_map(Run::notes_on_files) {
            tell(&format!("note: {note}"));
        }
    }
    for why in &left.unwritten {
        tell(&format!("not written: {why}"));
    }
    match left.failure {
        None => Ok(exit_code(parsed.state)),
        Some(failure) => Err(failure),
    }
}

/// How the waiting ended.
enum Ended {
    Outcome(Value, Left),
    Interrupted { code: u8, message: String },
}

/// Which of the files that a run left are wanted.
struct Wants<'a> {
    out: Option<&'a Folder>,
    others: Others,
    /// Also the part of stdout that does not fit into a frame.
    whole_stdout: bool,
}

/// What was done with the files that a run left.
#[derive(Default)]
struct Left {
    stdout: Option<String>,
    /// A message for each file that was written.
    written: Vec<String>,
    /// Why each of the others was not.
    unwritten: Vec<String>,
    /// Why not all files could be fetched and written; the outcome is reported anyway.
    failure: Option<Failure>,
}

async fn propose(
    socket: &Path,
    params: Value,
    keyed: bool,
    wants: &Wants<'_>,
) -> Result<Ended, ClientError> {
    let mut client = Client::connect(socket).await?;
    let proposed = client.call("propose", params).await?;
    let id = proposed["id"]
        .as_str()
        .ok_or_else(|| ClientError::Protocol("an answer to `propose` without an id".to_owned()))?
        .to_owned();
    if is_told() && proposed["state"] == "pending" {
        let expires = proposed["expires_at"].as_str().unwrap_or("unknown");
        tell(&format!(
            "waiting for a decision (id {id}, expires {expires})"
        ));
    }
    let call = client.send("wait", json!({"id": id})).await?;
    tokio::select! {
        answer = client.answer(call) => {
            let outcome = answer?;
            let left = fetch(&mut client, &id, &outcome, wants).await;
            return Ok(Ended::Outcome(outcome, left));
        }
        interrupted = tokio::signal::ctrl_c() => interrupted?,
    }
    if keyed {
        return Ok(Ended::Interrupted {
            code: INTERRUPTED,
            message: format!(
                "interrupted; proposal {id} stays, and the same command with the same --key \
                 attaches to it again"
            ),
        });
    }
    withdraw(&mut client, &id).await
}

async fn fetch(client: &mut Client, id: &str, outcome: &Value, wants: &Wants<'_>) -> Left {
    let mut left = Left::default();
    let Ok(Some(run)) = Outcome::deserialize(outcome).map(|outcome| outcome.run) else {
        return left;
    };
    for file in &run.artifacts {
        let printed = wants.whole_stdout && run.stdout_truncated && file.name == Artifact::STDOUT;
        if wants.out.is_none() && !printed {
            continue;
        }
        let content = match files::fetch(client, id, file).await {
            Ok(content) => content,
            Err(files::NotFetched::Refused(why)) => {
                left.unwritten.push(why);
                continue;
            }
            Err(files::NotFetched::Gone(failure)) => {
                left.failure = Some(failure);
                return left;
            }
        };
        if let Some(folder) = wants.out {
            let shown = folder.shown(&file.name);
            match folder.write(&file.name, &content, Kind::Shared, wants.others) {
                Ok(written) => left.written.push(format!(
                    "{} {shown} ({}, {} bytes)",
                    written.verb(),
                    file.media_type,
                    file.bytes
                )),
                // The others are written nevertheless.
                Err(e) => {
                    left.unwritten.push(format!("{shown}: {e}"));
                }
            }
        }
        if printed {
            left.stdout = Some(String::from_utf8_lossy(&content).into_owned());
        }
    }
    if !left.unwritten.is_empty() {
        let (unwritten, all) = (left.unwritten.len(), run.artifacts.len());
        let message = format!("{unwritten} of {all} files not written");
        left.failure = Some(Failure::with_code(NO_OUTCOME, message));
    }
    left
}

/// Withdraws the proposal. If it runs already, it continues with nobody to report to.
async fn withdraw(client: &mut Client, id: &str) -> Result<Ended, ClientError> {
    let asked = tokio::time::timeout(WITHDRAW_TIME, client.call("withdraw", json!({"id": id})));
    let state = tokio::select! {
        answer = asked => answer.ok().and_then(Result::ok).map(|a| a["state"].clone()),
        _ = tokio::signal::ctrl_c() => None,
    };
    Ok(match state.as_ref().and_then(Value::as_str) {
        Some("withdrawn") => Ended::Interrupted {
            code: exit_code(State::Withdrawn),
            message: format!("interrupted; proposal {id} is withdrawn"),
        },
        Some(state) => Ended::Interrupted {
            code: INTERRUPTED,
            message: format!("interrupted; proposal {id} is {state} and was not withdrawn"),
        },
        // Closing the connection withdraws a proposal that is still pending.
        None => Ended::Interrupted {
            code: INTERRUPTED,
            message: format!("interrupted; proposal {id} is withdrawn unless it runs already"),
        },
    })
}

fn params(args: &Args, globals: &Globals) -> Result<Value, Failure> {
    let mut params = Map::new();
    params.insert("code".to_owned(), code(args.file.as_deref())?.into());
    let texts = [
        ("profile", &globals.profile),
        ("title", &args.title),
        ("reason", &args.reason),
        ("idempotency_key", &args.key),
    ];
    for (name, value) in texts {
        if let Some(value) = value {
            params.insert(name.to_owned(), value.as_str().into());
        }
    }
    if let Some(agent) = &args.agent {
        params.insert("agent".to_owned(), json!({"name": agent}));
    }
    if let Some(ttl) = args.ttl {
        params.insert("ttl_s".to_owned(), ttl.into());
    }
    let mut inputs = Map::new();
    for input in &args.input {
        let value = match &input.source {
            Source::Dataset(dataset) => json!({"dataset": dataset}),
            // As text, so that exactly the file's bytes arrive.
            Source::File(path, format) => json!({"text": read(path)?, "format": format}),
        };
        if inputs.insert(input.name.clone(), value).is_some() {
            return Err(Failure::usage(format!(
                "--input names `{}` twice",
                input.name
            )));
        }
    }
    if !inputs.is_empty() {
        params.insert("inputs".to_owned(), inputs.into());
    }
    Ok(params.into())
}

fn code(file: Option<&Path>) -> Result<String, Failure> {
    match file {
        Some(path) if path != Path::new("-") => read(path),
        None if io::stdin().is_terminal() => Err(Failure::usage(
            "name the file to propose, or give `-` to type it here",
        )),
        _ => text(io::stdin().lock(), "standard input"),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let name = path.display().to_string();
    let file = std::fs::File::open(path)
        .map_err(|e| Failure::usage(format!("cannot read {name}: {e}")))?;
    text(file, &name)
}

/// Text of at most one frame: more could not be sent.
fn text(source: impl io::Read, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    source
        .take(FRAME_MAX as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Failure::usage(format!("cannot read {name}: {e}")))?;
    if bytes.len() > FRAME_MAX {
        return Err(Failure::usage(format!(
            "{name} is larger than {FRAME_MAX} bytes, the most a proposal can carry"
        )));
    }
    String::from_utf8(bytes).map_err(|e| {
        Failure::usage(format!(
            "{name} is not UTF-8: the first bad byte is at offset {}",
            e.utf8_error().valid_up_to()
        ))
    })
}

fn failure(error: &ClientError) -> Failure {
    let failure = match error {
        ClientError::Refused(refused) if blames_the_command(refused) => {
            Failure::usage(error.to_string())
        }
        _ => Failure::with_code(NO_OUTCOME, error.to_string()),
    };
    match error {
        ClientError::Refused(RpcError { data, .. }) if !data.is_null() => {
            failure.and(data.to_string())
        }
        _ => failure,
    }
}

/// No dashboard answers. A demo may be running, but it has its own socket.
fn beside_demos(failure: Failure, args: &Args) -> Failure {
    let file = quoted(args.file.as_deref().unwrap_or(Path::new("-")));
    dashboard::demos().iter().fold(failure, |failure, socket| {
        let socket = quoted(socket);
        failure.and(format!(
            "a demo is open and listens on its own socket: countersign submit --socket {socket} {file}"
        ))
    })
}

/// A path quoted for a shell.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if path.chars().all(plain) {
        return path;
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

/// Whether the dashboard refused an argument: an unknown profile or data set, an input that does
/// not fit, a time out of range, too much code.
const fn blames_the_command(refused: &RpcError) -> bool {
    matches!(
        refused.code,
        RpcError::INVALID_PARAMS | RpcError::UNKNOWN_NAME | RpcError::TOO_LARGE
    )
}

const fn exit_code(state: State) -> u8 {
    match state {
        State::Succeeded => 0,
        State::Failed => 1,
        State::Denied => 3,
        State::Expired => 4,
        State::Blocked => 5,
        State::Withdrawn | State::Unattended => 6,
        State::Pending | State::Granted | State::Running | State::Error | State::Drilled => {
            NO_OUTCOME
        }
    }
}

/// Prints the run's output to the matching streams, and what became of it to standard error.
fn report(outcome: &Outcome) -> Result<(), Failure> {
    if let Some(decision) = outcome.decision.as_ref().filter(|d| d.edited) {
        tell("note: a person edited the code; what was granted differs from what was proposed:");
        for line in decision.diff.iter().flat_map(|diff| diff.lines()) {
            tell(&format!("  {line}"));
        }
    }
    if let Some(run) = &outcome.run {
        print_data(run.stdout.as_bytes()).map_err(unprinted)?;
        if !run.stderr.is_empty() {
            tell_data(&run.stderr);
        }
        for (stream, cut, bytes) in [
            ("stdout", run.stdout_truncated, run.stdout_bytes),
            ("stderr", run.stderr_truncated, run.stderr_bytes),
        ] {
            if cut {
                tell(&format!(
                    "note: {stream} is cut; the run wrote {bytes} bytes"
                ));
            }
        }
    }
    if outcome.state == State::Succeeded {
        return Ok(());
    }
    let error = outcome.run.as_ref().and_then(|run| run.error.as_ref());
    let error = error.map(|error| {
        let line = error
            .line
            .map_or_else(String::new, |n| format!(" (line {n})"));
        // The exception's name says more than the fact that the snippet raised one.
        let exception = error.exception.as_deref();
        let exception = exception.map_or_else(String::new, |name| format!("{name}: "));
        let kind = error.kind.as_str();
        let said = format!("{kind}: {exception}{}{line}", error.message);
        (&error.message, said)
    });
    match &error {
        Some((words, said)) if outcome.message.contains(words.as_str()) => {
            tell(&format!("{}: {said}", outcome.state));
        }
        Some((_, said)) => {
            tell(&format!("{}: {}", outcome.state, outcome.message));
            tell(said);
        }
        None => tell(&format!("{}: {}", outcome.state, outcome.message)),
    }
    let reason = outcome.decision.as_ref().and_then(|d| d.reason.as_deref());
    if let Some(reason) = reason.filter(|r| !outcome.message.contains(r)) {
        tell(&format!("reason: {reason}"));
    }
    if let Some(verdict) = outcome
        .verdict
        .as_ref()
        .filter(|_| outcome.state == State::Blocked)
    {
        for finding in &verdict.findings {
            let hint = match finding.hint.as_str() {
                "" => String::new(),
                hint => format!("; {hint}"),
            };
            tell(&format!(
                "  {}:{} {} {}: {}{hint}",
                finding.line,
                finding.column,
                finding.rule,
                finding.action.as_str(),
                finding.message
            ));
        }
    }
    Ok(())
}

/// The outcome is known but could not be printed.
fn unprinted(failure: Failure) -> Failure {
    Failure::with_code(NO_OUTCOME, failure.message)
}
