//! What agents elsewhere ask of a host over the engine, and what the host answers.
//!
//! A request is nobody's word: its login is the engine's, and the host checks it as it checks what comes over its socket. An answer
//! is the host's, signed, and names the bytes that it answers.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::broker::RpcError;
use crate::model::{Digest, ProposalId};

/// The most bytes of either: those of a row of the engine.
pub const ASKING_MAX: usize = 1024 * 1024;

/// The methods of the socket that can be asked for from elsewhere. Waiting takes none: each end is sent.
pub const METHODS: [&str; 4] = ["propose", "check", "datasets", "artifact"];

/// What a gateway asks of one host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub format: RequestFormat,
    pub host: String,
    /// After this time, by the host's clock, the host does nothing of it.
    pub taken_by: Timestamp,
    /// Requests of one session share what runs left.
    pub session: String,
    pub asks: Asks,
}

/// The word that a request begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequestFormat {
    #[default]
    #[serde(rename = "countersign request 1")]
    V1,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Asks {
    /// A method of the socket with its params.
    Call { method: String, params: Value },
    /// Not to take an earlier request, or to withdraw what it proposed.
    Withdraw { request: Uuid },
}

impl Request {
    pub fn bytes(&self) -> Vec<u8> {
        // Strings and values: serialising cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// # Errors
    /// A description, when the bytes are no request.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        read(bytes)
    }
}

/// The name of the request that withdraws another one, so that its host finds it without a search.
pub fn withdrawal_of(request: Uuid) -> Uuid {
    named(&[b"withdraw", request.as_bytes()])
}

/// A name that follows from these parts.
pub fn named(parts: &[&[u8]]) -> Uuid {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend((part.len() as u64).to_be_bytes());
        bytes.extend(*part);
    }
    let digest = Digest::of(&bytes);
    let mut start = [0; 16];
    start.copy_from_slice(&digest.as_bytes()[..16]);
    uuid::Builder::from_custom_bytes(start).into_uuid()
}

/// What a host says to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub format: AnswerFormat,
    pub host: String,
    pub host_key: String,
    /// The login that asked.
    pub gateway: String,
    pub request: Uuid,
    /// SHA-256 of the request's bytes, as they came.
    pub asked: Digest,
    /// Grows with each answer and statement of the host.
    pub number: u64,
    pub at: Timestamp,
    pub says: AnswerSays,
}

/// The word that an answer begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnswerFormat {
    #[default]
    #[serde(rename = "countersign answer 1")]
    V1,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AnswerSays {
    /// The host proposes it, unless it says otherwise later.
    Taken,
    /// Nothing of it was proposed, and nothing will be.
    NotTaken { why: String },
    /// The same refusal as on the socket. Nothing was proposed.
    Refused(RpcError),
    /// What `propose` answers. Its end follows.
    Proposed(Value),
    /// How it ended: the outcome.
    Ended(Value),
    /// What any other method answers.
    Result(Value),
}

impl AnswerSays {
    /// Whether nothing follows on it.
    pub const fn is_last(&self) -> bool {
        !matches!(self, Self::Taken | Self::Proposed(_))
    }

    /// Whether the host has not got a data set that the request names.
    pub fn lacks_data(&self) -> bool {
        let Self::Refused(error) = self else {
            return false;
        };
        error.code == RpcError::UNKNOWN_NAME && error.data["param"] == "inputs"
    }

    /// Whether another host could do what this one refuses: it lacks a data set, or grants nothing at all because its log is doubted.
    pub fn is_for_another(&self) -> bool {
        let is_doubted = |error: &RpcError| error.data["doubted"] == true;
        self.lacks_data() || matches!(self, Self::Refused(error) if is_doubted(error))
    }
}

impl Answer {
    /// The bytes that the host signs.
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// # Errors
    /// A description, when the bytes are no answer.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        read(bytes)
    }
}

fn read<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T, String> {
    match bytes.len() <= ASKING_MAX {
        true => serde_json::from_slice(bytes).map_err(|e| e.to_string()),
        false => Err(format!(
            "it has {} bytes; at most {ASKING_MAX} are read",
            bytes.len()
        )),
    }
}

/// An outcome that fits into a row beside what stands around it. What is cut is said in its message.
pub fn fitted(mut outcome: Value) -> Value {
    const AROUND: usize = 4 * 1024;
    const CUT: &str =
        " What it left is larger than the engine takes, so the end of its output is missing here.";
    let is_long = |outcome: &Value| outcome.to_string().len() > ASKING_MAX - AROUND;
    if !is_long(&outcome) {
        return outcome;
    }
    let message = outcome["message"].as_str().unwrap_or_default();
    outcome["message"] = format!("{message}{CUT}").into();
    for (text, flag) in [
        ("stdout", "stdout_truncated"),
        ("stderr", "stderr_truncated"),
    ] {
        while is_long(&outcome) {
            let all = outcome["run"][text].as_str().unwrap_or_default();
            if all.is_empty() {
                break;
            }
            let half: String = all.chars().take(all.chars().count() / 2).collect();
            outcome["run"][text] = half.into();
            outcome["run"][flag] = true.into();
        }
    }
    // What was not printed is not cut in two, since half of it would be something else.
    if is_long(&outcome) {
        outcome["run"]["result"] = Value::Null;
    }
    if is_long(&outcome) {
        outcome["verdict"] = Value::Null;
        outcome["decision"] = Value::Null;
    }
    outcome
}

/// The outcome of what a host had taken when it was killed.
pub fn interrupted(id: ProposalId, digest: Digest) -> Value {
    serde_json::json!({
        "id": id, "digest": digest, "state": "error", "retry": "no",
        "message": "The host ended before it told how this went, and has started anew. It does not run, or run again; the log \
                    of the host says what had been decided and run before.",
        "verdict": null, "decision": null, "run": null,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Outcome;

    #[test]
    fn an_outcome_that_is_too_long_is_cut_and_says_so() {
        let of = |stdout: usize, stderr: usize, result: usize| {
            json!({"message": "It ran.", "run": {
                "stdout": "é\"".repeat(stdout), "stderr": "x".repeat(stderr), "result": "y".repeat(result),
                "stdout_truncated": false, "stderr_truncated": false,
            }})
        };
        let short = of(1000, 10, 10);
        assert_eq!(fitted(short.clone()), short);
        for (stdout, stderr, result) in [
            (600_000, 10, 10),
            (400_000, 900_000, 10),
            (10, 10, ASKING_MAX),
            (500_000, 700_000, ASKING_MAX),
        ] {
            let cut = fitted(of(stdout, stderr, result));
            assert!(cut.to_string().len() <= ASKING_MAX - 4096);
            let message = cut["message"].as_str().unwrap();
            assert!(message.contains("is missing here"), "{message}");
            let is_cut = cut["run"]["stdout_truncated"] == true || cut["run"]["result"].is_null();
            assert!(is_cut, "{message}");
        }
    }

    #[test]
    fn what_a_killed_host_says_is_an_outcome() {
        let id = ProposalId::new();
        let said = interrupted(id, Digest::of(b"x"));
        let outcome: Outcome = serde_json::from_value(said).unwrap();
        assert_eq!((outcome.id, outcome.run), (id, None));
    }

    #[test]
    fn only_what_names_a_data_set_or_comes_of_a_doubted_log_is_for_another_host() {
        let refused = |code, param: &str| {
            let error = RpcError::new(code, "x").with_data(json!({"param": param}));
            AnswerSays::Refused(error).is_for_another()
        };
        let doubted = RpcError::new(RpcError::INTERNAL, "x").with_data(json!({"doubted": true}));
        assert!(AnswerSays::Refused(doubted).is_for_another());
        assert!(refused(RpcError::UNKNOWN_NAME, "inputs"));
        assert!(!refused(RpcError::UNKNOWN_NAME, "profile"));
        assert!(!refused(RpcError::INVALID_PARAMS, "inputs"));
        let late = AnswerSays::NotTaken { why: String::new() };
        assert!(!late.is_for_another() && late.is_last());
    }

    #[test]
    fn names_follow_from_all_parts() {
        let one = named(&[b"a", b"bc"]);
        assert_eq!(one, named(&[b"a", b"bc"]));
        assert_ne!(one, named(&[b"ab", b"c"]));
        assert_ne!(withdrawal_of(one), one);
    }
}
