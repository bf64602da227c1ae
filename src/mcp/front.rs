//! Lines in front of `rmcp`: one that is no message gets an answer here, and the others go on.
//!
//! `rmcp` leaves unanswered what is no JSON, takes a call whose params have a wrong type for one of an unknown
//! method, and ends at a first message that is no request.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::arguments::{echo, got};
use super::older;

/// Bytes of one line.
const LINE_MAX: usize = 16 * 1024 * 1024;

const NO_JSON: i32 = -32700;
const NO_REQUEST: i32 = -32600;
const WRONG_PARAMS: i32 = -32602;
const NO_METHOD: i32 = -32601;

/// Fields of params, as the protocol's revisions agree on them: method, field, kind, whether it must be there.
/// Of other methods only `_meta` is looked at.
const FIELDS: [(&str, &str, Kind, bool); 12] = [
    ("initialize", "protocolVersion", Kind::Text, true),
    ("initialize", "capabilities", Kind::Object, true),
    ("initialize", "clientInfo", Kind::Object, true),
    ("tools/call", "name", Kind::Text, true),
    ("tools/call", "arguments", Kind::Object, false),
    ("tools/list", "cursor", Kind::Text, false),
    ("resources/list", "cursor", Kind::Text, false),
    ("resources/templates/list", "cursor", Kind::Text, false),
    ("resources/read", "uri", Kind::Text, true),
    ("tasks/get", "taskId", Kind::Text, true),
    ("tasks/cancel", "taskId", Kind::Text, true),
    ("tools/call", "task", Kind::Object, false),
];

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Object,
}

impl Kind {
    const fn words(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Object => "an object",
        }
    }

    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Object => value.is_object(),
        }
    }
}

pub struct Front<R, W> {
    reader: BufReader<R>,
    writer: Arc<Mutex<W>>,
    line: Vec<u8>,
    /// The rest of a line that is too long is being skipped.
    skipping: bool,
    /// A request came with which a session begins.
    begun: bool,
    /// The client spoke of the revision that has tasks of its own.
    older: bool,
    /// Requests that were not answered. A second one under the id of one of them would take its answer, and its
    /// cancellation.
    open: HashSet<RequestId>,
    /// An answer to a line that was no message. No further line is read before it is written.
    owed: Option<JoinHandle<io::Result<()>>>,
}

/// What becomes of a line.
enum Judged {
    Message(Box<ClientJsonRpcMessage>),
    Answer(Value),
    Nothing,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin + Send + 'static> Front<R, W> {
    pub fn new(reader: R, writer: W) -> Self {
        Self {
            reader: BufReader::new(reader),
            writer: Arc::new(Mutex::new(writer)),
            line: Vec::new(),
            skipping: false,
            begun: false,
            older: false,
            open: HashSet::new(),
            owed: None,
        }
    }

    /// Notes the request. What to answer if its id is another's.
    fn begin(&mut self, message: &ClientJsonRpcMessage) -> Option<Value> {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let fresh = self.open.insert(request.id.clone());
                (!fresh).then(|| {
                    let id = echo(&request.id.to_string());
                    let why = format!(
                        "the id {id} is that of a request that was not answered yet; each request needs one of its own"
                    );
                    error(&Value::Null, NO_REQUEST, &why)
                })
            }
            ClientJsonRpcMessage::Notification(note) => {
                // A cancelled one is not answered.
                if let ClientNotification::CancelledNotification(cancelled) = &note.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open.remove(id);
                }
                None
            }
            _ => None,
        }
    }

    /// The next line, `None` at the end. What was read stays if the future is dropped.
    async fn next_line(&mut self) -> Option<Judged> {
        loop {
            let here = self.reader.fill_buf().await.ok()?;
            if here.is_empty() {
                return None;
            }
            let end = here.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(here.len(), |at| at + 1);
            let fits = !self.skipping && self.line.len() + taken <= LINE_MAX;
            if fits {
                self.line.extend_from_slice(&here[..taken]);
            }
            self.reader.consume(taken);
            let grew = !fits && !self.skipping;
            self.skipping = !fits && end.is_none();
            if grew {
                self.line.clear();
                let why = format!("a line has at most {LINE_MAX} bytes; this one is skipped");
                return Some(Judged::Answer(error(&Value::Null, NO_REQUEST, &why)));
            }
            if end.is_some() && !self.line.is_empty() {
                let line = std::mem::take(&mut self.line);
                return Some(self.judge(&line));
            }
        }
    }

    fn judge(&mut self, line: &[u8]) -> Judged {
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return Judged::Nothing;
        }
        match judge(line, self.older) {
            Ok(None) => Judged::Nothing,
            Ok(Some(message)) => match (self.may_pass(&message), self.begin(&message)) {
                (_, Some(answer)) => Judged::Answer(answer),
                (true, None) => Judged::Message(Box::new(message)),
                (false, None) => Judged::Nothing,
            },
            Err(answer) => Judged::Answer(answer),
        }
    }

    /// Before a session nothing but a request means anything.
    fn may_pass(&mut self, message: &ClientJsonRpcMessage) -> bool {
        if let ClientJsonRpcMessage::Request(request) = message {
            self.begun |= match &request.request {
                ClientRequest::InitializeRequest(asked) => {
                    let asked = &asked.params;
                    // The extension's tasks are another shape.
                    self.older = asked.protocol_version.as_str() == older::REVISION
                        && !asked.capabilities.supports_tasks();
                    true
                }
                ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
                other => {
                    use rmcp::model::GetMeta as _;
                    other.get_meta().protocol_version().is_some()
                }
            };
            return true;
        }
        self.begun
    }
}

impl<R, W> Transport<RoleServer> for Front<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (writer, older) = (self.writer.clone(), self.older);
        match &message {
            TxJsonRpcMessage::<RoleServer>::Response(answer) => {
                self.open.remove(&answer.id);
            }
            TxJsonRpcMessage::<RoleServer>::Error(answer) => {
                answer.id.as_ref().map(|id| self.open.remove(id));
            }
            _ => {}
        }
        async move {
            let mut message = serde_json::to_value(message)?;
            if older {
                older::describe(&mut message);
            }
            write(&writer, &message).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(owed) = &mut self.owed {
                let written = owed.await;
                self.owed = None;
                written.ok()?.ok()?;
            }
            match self.next_line().await? {
                Judged::Message(message) => return Some(*message),
                Judged::Answer(answer) => {
                    let writer = self.writer.clone();
                    // A task of its own: half of an answer must not stay behind if this future is dropped.
                    self.owed = Some(tokio::spawn(async move { write(&writer, &answer).await }));
                }
                Judged::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.flush().await
    }
}

async fn write<W: AsyncWrite + Unpin>(writer: &Mutex<W>, message: &Value) -> io::Result<()> {
    let mut line = message.to_string();
    line.push('\n');
    let mut writer = writer.lock().await;
    writer.write_all(line.as_bytes()).await?;
    writer.flush().await
}

fn error(id: &Value, code: i32, why: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}})
}

/// The message, or what to answer. `Ok(None)` for what nobody waits for.
fn judge(line: &[u8], older: bool) -> Result<Option<ClientJsonRpcMessage>, Value> {
    let message: Value = serde_json::from_slice(line).map_err(|e| {
        let why = format!("this line is no JSON: {e}; a line is one JSON-RPC message");
        error(&Value::Null, NO_JSON, &why)
    })?;
    let Value::Object(mut fields) = message else {
        let why = format!(
            "a message must be one JSON object, not {}; batches are no part of the protocol",
            got(&message)
        );
        return Err(error(&Value::Null, NO_REQUEST, &why));
    };
    let id = fields.get("id").cloned();
    let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
    let known = id.clone().filter(is_id).unwrap_or_default();
    let wrong = |code: i32, why: String| Err(error(&known, code, &why));
    if fields.get("jsonrpc") != Some(&json!("2.0")) {
        return wrong(NO_REQUEST, "`jsonrpc` must be \"2.0\"".to_owned());
    }
    let method = match fields.get("method") {
        Some(Value::String(method)) => method.clone(),
        Some(other) => {
            let why = format!("`method` must be a string, not {}", got(other));
            return wrong(NO_REQUEST, why);
        }
        None if fields.contains_key("result") || fields.contains_key("error") => {
            // An answer, which nothing here asked for.
            return Ok(serde_json::from_value(fields.into()).ok());
        }
        None => return wrong(NO_REQUEST, "`method` is missing".to_owned()),
    };
    let Some(id) = id else {
        return Ok(serde_json::from_value(fields.into()).ok());
    };
    if !is_id(&id) {
        let why = format!("`id` must be a string or a whole number, not {}", got(&id));
        return wrong(NO_REQUEST, why);
    }
    if fields.get("params").is_some_and(Value::is_null) {
        fields.remove("params");
    }
    let none = Map::new();
    let params = match fields.get("params") {
        None => &none,
        Some(Value::Object(params)) => params,
        Some(other) => {
            let why = format!("`params` must be an object, not {}", got(other));
            return wrong(WRONG_PARAMS, why);
        }
    };
    if let Some(why) = fault(&method, params) {
        return wrong(WRONG_PARAMS, why);
    }
    if method.starts_with(older::PREFIX) {
        let why = format!("there is no method `{}` here", echo(&method));
        return wrong(NO_METHOD, why);
    }
    let renamed = older.then(|| older::renamed(&method, params)).flatten();
    let is_renamed = renamed.is_some();
    if let Some(name) = renamed {
        fields.insert("method".to_owned(), name.into());
    }
    let parsed = serde_json::from_value(fields.into());
    let served = |method: &str| FIELDS.iter().any(|(of, ..)| *of == method);
    let misread = |message: &ClientJsonRpcMessage| {
        let ClientJsonRpcMessage::Request(request) = message else {
            return false;
        };
        matches!(&request.request, ClientRequest::CustomRequest(_))
            && served(&method)
            && !is_renamed
    };
    match parsed {
        Ok(message) if !misread(&message) => Ok(Some(message)),
        Ok(_) => {
            let why = format!("the params of `{method}` are not as the protocol has them");
            wrong(WRONG_PARAMS, why)
        }
        Err(e) => {
            let why = format!("the params of `{}`: {e}", echo(&method));
            wrong(WRONG_PARAMS, why)
        }
    }
}

/// The first field that is missing or of a wrong type.
fn fault(method: &str, params: &Map<String, Value>) -> Option<String> {
    let fields = FIELDS.iter().filter(|(of, ..)| *of == method);
    let all = fields.map(|(_, name, kind, needed)| (*name, *kind, *needed));
    all.chain([("_meta", Kind::Object, false)])
        .find_map(|(name, kind, needed)| {
            let right = kind.words();
            match params.get(name) {
                None if needed => Some(format!("`{name}` is missing; it must be {right}")),
                Some(value) if !kind.fits(value) => {
                    Some(format!("`{name}` must be {right}, not {}", got(value)))
                }
                _ => None,
            }
        })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rmcp::model::{EmptyResult, JsonRpcMessage, ServerResult};
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn an_id_is_of_one_request_until_it_is_answered_or_cancelled() {
        let (mut client, here) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(here);
        let mut front = Front::new(reader, writer);
        let ping = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n";
        let other = ping.replace('7', "8");
        client
            .write_all(format!("{ping}{ping}{other}").as_bytes())
            .await
            .unwrap();
        let asked = |message: Option<ClientJsonRpcMessage>| match message.unwrap() {
            ClientJsonRpcMessage::Request(request) => request.id.to_string(),
            message => panic!("{message:?}"),
        };
        assert_eq!(asked(front.receive().await), "7");
        assert_eq!(asked(front.receive().await), "8");
        let mut said = vec![0; 4096];
        let length = client.read(&mut said).await.unwrap();
        let said: Value = serde_json::from_slice(&said[..length]).unwrap();
        assert_eq!(
            (&said["id"], &said["error"]["code"]),
            (&Value::Null, &json!(NO_REQUEST))
        );
        let answer = ServerResult::EmptyResult(EmptyResult {});
        let id = RequestId::Number(7);
        front
            .send(JsonRpcMessage::response(answer, id))
            .await
            .unwrap();
        let cancel = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":8}}\n";
        client
            .write_all(format!("{ping}{cancel}{other}").as_bytes())
            .await
            .unwrap();
        assert_eq!(asked(front.receive().await), "7");
        assert_eq!(asked(front.receive().await), "8");
    }
}
