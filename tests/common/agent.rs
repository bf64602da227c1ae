//! An agent: JSON-RPC lines over the Unix socket, nothing else. In tests every line is checked against the schema.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub struct Agent {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
    next: u64,
    answers: HashMap<u64, Value>,
    /// Requests that are not answered yet.
    asked: HashMap<u64, Value>,
    pub notes: Vec<Value>,
}

impl Agent {
    pub fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).expect("the socket takes connections");
        let lines = BufReader::new(stream.try_clone().unwrap());
        Self {
            stream,
            lines,
            next: 0,
            answers: HashMap::new(),
            asked: HashMap::new(),
            notes: Vec::new(),
        }
    }

    pub fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let frame = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.raw(format!("{frame}\n").as_bytes());
        self.asked.insert(self.next, frame);
        self.next
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The answer to a request, whatever else arrives before it.
    pub fn answer(&mut self, id: u64, patience: Duration) -> Value {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            let remaining = deadline.saturating_duration_since(Instant::now());
            assert!(!remaining.is_zero(), "no answer to request {id}");
            self.stream.set_read_timeout(Some(remaining)).unwrap();
            let mut line = String::new();
            match self.lines.read_line(&mut line) {
                Ok(0) => panic!("the connection closed before request {id} was answered"),
                Ok(_) => self.take(serde_json::from_str(&line).expect("an answer is JSON")),
                Err(e) => panic!("no answer to request {id}: {e}"),
            }
        }
    }

    /// Reads until a notification says that this proposal is in this state, for at most `patience`.
    pub fn wait_state(&mut self, id: &Value, state: &str, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let matches =
            |note: &Value| note["params"]["id"] == *id && note["params"]["state"] == state;
        while !self.notes.iter().any(matches) {
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return false;
            }
            self.stream.set_read_timeout(Some(remaining)).unwrap();
            let mut line = String::new();
            match self.lines.read_line(&mut line) {
                // What was killed may have written a part of a line.
                Ok(_) if line.ends_with('\n') => {
                    self.take(serde_json::from_str(&line).expect("a notification is JSON"));
                }
                _ => return false,
            }
        }
        true
    }

    fn take(&mut self, message: Value) {
        let asked = message["id"].as_u64().and_then(|id| self.asked.remove(&id));
        #[cfg(test)]
        super::schema::check(asked.as_ref(), &message);
        #[cfg(not(test))]
        drop(asked);
        match message["id"].as_u64() {
            Some(id) => drop(self.answers.insert(id, message)),
            None => self.notes.push(message),
        }
    }

    pub fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id, Duration::from_secs(300))
    }

    /// Proposes and returns the result.
    pub fn propose(&mut self, params: Value) -> Value {
        let answer = self.call("propose", params);
        assert!(
            answer.get("error").is_none(),
            "propose was refused: {answer}"
        );
        answer["result"].clone()
    }

    pub fn code(&mut self, code: &str) -> Value {
        self.propose(json!({"code": code}))
    }

    pub fn state(&mut self, id: &Value) -> String {
        let answer = self.call("status", json!({"id": id}));
        answer["result"]["state"]
            .as_str()
            .expect("the answer has a state")
            .to_owned()
    }

    /// The outcome, once final.
    pub fn outcome(&mut self, id: &Value) -> Value {
        let answer = self.call("wait", json!({"id": id}));
        answer["result"].clone()
    }

    pub fn close(self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}
