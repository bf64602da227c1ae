//! An MCP client that is nothing but lines of JSON.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::dash::{Dash, PATIENCE};

pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    next: u64,
    answers: HashMap<u64, Value>,
    pub notes: Vec<Value>,
    /// Errors without an id.
    pub strays: Vec<Value>,
    /// `_meta` of every request, of revisions without `initialize`.
    meta: Option<Value>,
}

impl Client {
    /// Starts the adapter beside a dashboard, without a handshake.
    pub fn spawn(dash: &Dash) -> Self {
        Self::over(dash.spawn(&["mcp"]))
    }

    /// An adapter that runs.
    pub fn over(mut child: Child) -> Self {
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).expect("each line is a JSON object");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            stdin,
            lines,
            next: 0,
            answers: HashMap::new(),
            notes: Vec::new(),
            strays: Vec::new(),
            meta: None,
        }
    }

    /// An agent of revision 2025-11-25.
    pub fn start(dash: &Dash) -> Self {
        Self::with(dash, &json!({}))
    }

    pub fn with(dash: &Dash, capabilities: &Value) -> Self {
        let mut client = Self::spawn(dash);
        let answer = client.initialize("2025-11-25", capabilities);
        assert_eq!(
            answer["result"]["protocolVersion"], "2025-11-25",
            "{answer}"
        );
        client
    }

    pub fn initialize(&mut self, revision: &str, capabilities: &Value) -> Value {
        let params = json!({
            "protocolVersion": revision, "capabilities": capabilities,
            "clientInfo": {"name": "raw-agent", "version": "1"},
        });
        let answer = self.ask("initialize", params);
        self.line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        answer
    }

    /// An agent of revision 2026-07-28, which has no handshake.
    pub fn modern(dash: &Dash, capabilities: &Value) -> Self {
        let mut client = Self::spawn(dash);
        client.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "modern-agent", "version": "2"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
        client
    }

    pub fn line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("standard input is open");
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    pub fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        if let Some(meta) = &self.meta {
            let mut meta = meta.clone();
            for (name, value) in params["_meta"].as_object().into_iter().flatten() {
                meta[name] = value.clone();
            }
            params["_meta"] = meta;
        }
        let message =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.line(&message.to_string());
        self.next
    }

    /// Takes in what arrives until it holds, for at most `most`.
    pub fn until(&mut self, most: Duration, holds: impl Fn(&Self) -> bool) -> bool {
        let deadline = Instant::now() + most;
        while !holds(self) {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(message) = self.lines.recv_timeout(left) else {
                return holds(self);
            };
            match (message["id"].as_u64(), message.get("method")) {
                (Some(id), None) => drop(self.answers.insert(id, message)),
                (None, None) => self.strays.push(message),
                (_, Some(_)) => self.notes.push(message),
            }
        }
        true
    }

    pub fn answer(&mut self, id: u64) -> Value {
        let came = self.until(PATIENCE, |c| c.answers.contains_key(&id));
        assert!(came, "no answer to request {id}");
        self.answers.remove(&id).unwrap()
    }

    pub fn is_answered(&mut self, id: u64, most: Duration) -> bool {
        self.until(most, |c| c.answers.contains_key(&id))
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    pub fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The result of a tool.
    pub fn tool(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin(tool, arguments);
        self.result(id)
    }

    pub fn result(&mut self, id: u64) -> Value {
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "a protocol error: {answer}");
        answer["result"].clone()
    }

    pub fn cancel(&mut self, id: u64) {
        let params = json!({"requestId": id, "reason": "the user stopped it"});
        let note = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        self.line(&note.to_string());
    }

    /// Closes standard input and waits for the end: the exit code, how long it took, and standard error.
    pub fn end(mut self) -> (Option<i32>, Duration, String) {
        drop(self.stdin.take());
        let begun = Instant::now();
        let status = self.child.wait().unwrap();
        let took = begun.elapsed();
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        std::io::Read::read_to_string(&mut stderr, &mut said).unwrap();
        (status.code(), took, said)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text that a model reads.
pub fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().expect("a result has content");
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// What the run wrote, between the two lines that the answer's first block names.
pub fn part(result: &Value, what: &str) -> String {
    let all = text(result);
    let (_, mark) = all.split_once("with the mark ").expect("a mark");
    let mark = mark.split_whitespace().next().unwrap();
    let (begin, end) = (
        format!("{what}, mark {mark}:\n"),
        format!("end of {what}, mark {mark}"),
    );
    let blocks = result["content"].as_array().unwrap().iter();
    let mut texts = blocks.filter_map(|block| block["text"].as_str());
    let block = texts.find(|text| text.starts_with(&begin)).expect(what);
    let rest = &block[begin.len()..];
    rest[..rest.rfind(&end).unwrap()].to_owned()
}
