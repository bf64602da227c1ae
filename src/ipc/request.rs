//! Methods and their params (protocol.md §2): what an envelope asks the core for.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::broker::{Request, RpcError};
use crate::config::check_identifier;
use crate::model::{AgentClaim, ArtifactRef, Draft, InputRequest, Limits, ProposalId, TextFormat};

use super::envelope::Envelope;
use super::params::{Fields, echo, invalid, wrong_type};

/// The protocol version spoken here.
const PROTOCOL: u64 = 1;

/// Every method. None of them decides on a proposal.
pub const METHODS: [&str; 8] = [
    "hello", "propose", "wait", "status", "withdraw", "check", "datasets", "artifact",
];

/// The params of each method. Others are ignored.
pub fn params_of(method: &str) -> &'static [&'static str] {
    match method {
        "hello" => &["protocol", "agent", "session"],
        "propose" => &[
            "code",
            "profile",
            "title",
            "reason",
            "agent",
            "inputs",
            "ttl_s",
            "stream",
            "idempotency_key",
            "traceparent",
        ],
        "wait" => &["id", "timeout_s"],
        "status" | "withdraw" => &["id"],
        "check" => &["code", "profile", "inputs"],
        "artifact" => &["id", "name", "offset"],
        _ => &[],
    }
}

/// What an agent says of itself.
pub const CLAIM: &[&str] = &["name", "version", "session", "model"];
/// The fields of an input.
pub const INPUT: &[&str] = &["dataset", "json", "text", "format", "artifact"];

/// Bytes of a title or a reason, which a person reads.
const PROSE_MAX: usize = 64 * 1024;
/// Bytes of a name, a key or a token.
const NAME_MAX: usize = 1024;
/// The longest wait; no proposal lives longer.
const WAIT_MAX: Duration = Duration::from_secs(366 * 24 * 3600);

/// The request, or the error that answers it.
pub(super) fn decode(envelope: Envelope) -> Result<Request, RpcError> {
    let Envelope { method, params } = envelope;
    let read = || Fields::new("", params_of(&method), params?);
    match method.as_str() {
        "hello" => hello(read()?),
        "propose" => propose(read()?),
        "wait" => wait(read()?),
        "status" => Ok(Request::Status {
            id: id(&mut read()?)?,
        }),
        "withdraw" => Ok(Request::Withdraw {
            id: id(&mut read()?)?,
        }),
        "check" => check(read()?),
        "datasets" => read().map(|_| Request::Datasets),
        "artifact" => artifact_part(read()?),
        other => Err(no_method(format!("there is no method `{}`", echo(other)))),
    }
}

fn no_method(message: String) -> RpcError {
    RpcError::new(RpcError::METHOD_NOT_FOUND, message).with_data(json!({"methods": METHODS}))
}

fn hello(mut fields: Fields) -> Result<Request, RpcError> {
    if let Some(protocol) = fields.take("protocol")
        && protocol.as_u64() != Some(PROTOCOL)
    {
        return Err(invalid(format!(
            "`protocol` must be {PROTOCOL}, not {}",
            kind(&protocol)
        ))
        .with_data(json!({"protocols": [PROTOCOL]})));
    }
    Ok(Request::Hello {
        agent: agent(&mut fields)?,
        resume: fields.short("session", NAME_MAX)?,
        fresh: token()?,
    })
}

/// 256 random bits as hex. Knowing the token resumes the session, so it must not be guessable.
fn token() -> Result<String, RpcError> {
    use std::fmt::Write as _;
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).map_err(|e| {
        RpcError::new(
            RpcError::INTERNAL,
            format!("no randomness for a session: {e}"),
        )
    })?;
    Ok(bytes.iter().fold(String::with_capacity(64), |mut s, b| {
        // Writing to a String cannot fail.
        let _ = write!(s, "{b:02x}");
        s
    }))
}

fn propose(mut fields: Fields) -> Result<Request, RpcError> {
    let code = code(&mut fields)?;
    let key = fields.short("idempotency_key", NAME_MAX)?;
    if key.as_deref() == Some("") {
        return Err(
            invalid("`idempotency_key` is empty; leave it out instead").with_data(
                json!({"param": "idempotency_key", "expected": "a key of 1 byte or more"}),
            ),
        );
    }
    let draft = Draft {
        code: code.into(),
        profile: fields.short("profile", NAME_MAX)?,
        title: fields.short("title", PROSE_MAX)?,
        reason: fields.short("reason", PROSE_MAX)?,
        agent: agent(&mut fields)?,
        inputs: inputs(&mut fields)?.unwrap_or_default(),
        ttl_s: fields.positive("ttl_s")?,
        stream: fields.boolean("stream")?.unwrap_or(false),
        idempotency_key: key,
        traceparent: fields.short("traceparent", NAME_MAX)?,
    };
    Ok(Request::Propose {
        id: ProposalId::new(),
        draft: Box::new(draft),
    })
}

fn artifact_part(mut fields: Fields) -> Result<Request, RpcError> {
    let id = id(&mut fields)?;
    let name = fields.short("name", NAME_MAX)?;
    Ok(Request::Artifact {
        id,
        name: fields.required("name", name)?,
        offset: fields.whole("offset")?.unwrap_or(0),
    })
}

fn check(mut fields: Fields) -> Result<Request, RpcError> {
    Ok(Request::Check {
        code: code(&mut fields)?.into(),
        profile: fields.short("profile", NAME_MAX)?,
        inputs: inputs(&mut fields)?,
    })
}

fn code(fields: &mut Fields) -> Result<String, RpcError> {
    let code = fields.string("code")?;
    let code = fields.required("code", code)?;
    let max = Limits::CODE_BYTES_MAX;
    if code.len() as u64 > max {
        return Err(RpcError::new(
            RpcError::TOO_LARGE,
            format!("`code` has {} bytes; at most {max} are taken", code.len()),
        )
        .with_data(json!({"limit_bytes": max, "bytes": code.len()})));
    }
    Ok(code)
}

fn wait(mut fields: Fields) -> Result<Request, RpcError> {
    let id = id(&mut fields)?;
    let timeout = fields
        .seconds("timeout_s")?
        .map(|s| Duration::try_from_secs_f64(s).map_or(WAIT_MAX, |d| d.min(WAIT_MAX)));
    Ok(Request::Wait { id, timeout })
}

/// A string that is not a UUID gets the same answer as another agent's id.
fn id(fields: &mut Fields) -> Result<ProposalId, RpcError> {
    let text = fields.string("id")?;
    let text = fields.required("id", text)?;
    text.parse().map_err(|_| unknown_id(&text))
}

fn unknown_id(text: &str) -> RpcError {
    RpcError::new(
        RpcError::UNKNOWN_ID,
        format!("no proposal of this connection has the id `{}`", echo(text)),
    )
    .with_data(json!({"expected": "an id that `propose` answered on this connection"}))
}

fn agent(fields: &mut Fields) -> Result<Option<AgentClaim>, RpcError> {
    let Some(value) = fields.take("agent") else {
        return Ok(None);
    };
    let mut claim = Fields::of_value("agent", CLAIM, value)?;
    let name = claim.short("name", NAME_MAX)?;
    Ok(Some(AgentClaim {
        name: claim.required("name", name)?,
        version: claim.short("version", NAME_MAX)?,
        session: claim.short("session", NAME_MAX)?,
        model: claim.short("model", NAME_MAX)?,
    }))
}

fn inputs(fields: &mut Fields) -> Result<Option<BTreeMap<String, InputRequest>>, RpcError> {
    let map = match fields.take("inputs") {
        None => return Ok(None),
        Some(Value::Object(map)) => map,
        Some(other) => {
            return Err(wrong_type("inputs", "an object of name → input", &other));
        }
    };
    let most = Limits::INPUTS_READ_MAX;
    if map.len() > most {
        let message = format!("{} inputs; at most {most} are taken", map.len());
        return Err(invalid(message).with_data(json!({"limit_inputs": most})));
    }
    let inputs = map
        .into_iter()
        .map(|(name, value)| {
            check_identifier(&name).map_err(|why| {
                invalid(format!("`{}` cannot name an input: {why}", echo(&name)))
                    .with_data(json!({"expected": "a Python name in ASCII"}))
            })?;
            let input = input(&name, value)?;
            Ok((name, input))
        })
        .collect::<Result<_, RpcError>>()?;
    Ok(Some(inputs))
}

/// The shapes an input can have.
const SHAPES: &str = "{dataset}, {json}, {text, format} or {artifact: {id, name}}";

fn input(name: &str, value: Value) -> Result<InputRequest, RpcError> {
    let at = format!("inputs.{name}");
    let mut fields = Fields::of_value(&at, INPUT, value)?.exactly()?;
    let kinds = ["dataset", "json", "text", "artifact"];
    let given: Vec<&str> = kinds.into_iter().filter(|k| fields.has(k)).collect();
    let shapes = |message: String| invalid(message).with_data(json!({"expected": SHAPES}));
    let [kind] = given[..] else {
        return Err(shapes(format!("`{at}` must be one of {SHAPES}")));
    };
    if fields.has("format") && kind != "text" {
        return Err(shapes(format!("`{at}.format` goes with `text` only")));
    }
    match kind {
        "dataset" => {
            let dataset = fields.short("dataset", NAME_MAX)?;
            let dataset = fields.required("dataset", dataset)?;
            Ok(InputRequest::Dataset { dataset })
        }
        "json" => Ok(InputRequest::Json {
            json: fields.take_any("json").unwrap_or(Value::Null),
        }),
        "text" => {
            let text = fields.string("text")?;
            let text = fields.required("text", text)?;
            let format = fields.string("format")?;
            let format = fields.required("format", format)?;
            let known = TextFormat::ALL.map(TextFormat::as_str);
            let Some(format) = TextFormat::ALL.into_iter().find(|f| f.as_str() == format) else {
                return Err(invalid(format!(
                    "`{at}.format` must be one of {}, not `{}`",
                    known.join(", "),
                    echo(&format)
                ))
                .with_data(json!({"expected": known})));
            };
            Ok(InputRequest::Text { text, format })
        }
        _ => artifact(&at, &mut fields),
    }
}

fn artifact(at: &str, fields: &mut Fields) -> Result<InputRequest, RpcError> {
    let value = fields.take("artifact").unwrap_or(Value::Object(Map::new()));
    let mut fields =
        Fields::of_value(format!("{at}.artifact"), &["id", "name"], value)?.exactly()?;
    let id = fields.string("id")?;
    let id = fields.required("id", id)?;
    let name = fields.short("name", NAME_MAX)?;
    let name = fields.required("name", name)?;
    Ok(InputRequest::Artifact {
        artifact: ArtifactRef {
            id: id.parse().map_err(|_| unknown_id(&id))?,
            name,
        },
    })
}

fn kind(value: &Value) -> String {
    match value {
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        plain => plain.to_string(),
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
