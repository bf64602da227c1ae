//! A dashboard without a person: the real socket with a scripted core.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::*;

/// A file of which every part is empty, and never the last.
pub const ENDLESS: &str = "endless";

/// Makes the scripted core's answer to `wait`.
pub type Ending = Box<dyn Fn(ProposalId) -> Outcome + Send>;

/// Ends every proposal as the test says, or not at all.
pub struct Dashboard {
    pub drafts: Arc<Mutex<VecDeque<Draft>>>,
    pub withdrawn: Arc<Mutex<Vec<ProposalId>>>,
    pub waiting: Arc<Notify>,
}

pub async fn dashboard(home: &Home, ending: Option<Ending>) -> Dashboard {
    let config = SocketConfig {
        path: home.socket(),
        ..SocketConfig::default()
    };
    let listener = Listener::bind(&config).await.unwrap();
    let (events, mut inbox) = inbox();
    let router = Router::default();
    tokio::spawn(serve(listener, events, router.clone()));
    let drafts: Arc<Mutex<VecDeque<Draft>>> = Arc::default();
    let withdrawn: Arc<Mutex<Vec<ProposalId>>> = Arc::default();
    let waiting: Arc<Notify> = Arc::default();
    let dashboard = Dashboard {
        drafts: drafts.clone(),
        withdrawn: withdrawn.clone(),
        waiting: waiting.clone(),
    };
    tokio::spawn(async move {
        while let Some(event) = inbox.recv().await {
            let Event::Request {
                conn,
                call,
                request,
            } = event
            else {
                continue;
            };
            let answer = |reply| router.reply(conn, call, Ok(reply));
            match request {
                Request::Propose { id, draft } => {
                    drafts.lock().unwrap().push_back(*draft.clone());
                    propose(&router, conn, call, id, &draft);
                }
                Request::Wait { id, .. } => match &ending {
                    Some(ending) => answer(Reply::Outcome(Box::new(ending(id)))),
                    None => waiting.notify_one(),
                },
                Request::Withdraw { id } => {
                    withdrawn.lock().unwrap().push(id);
                    answer(Reply::State {
                        id,
                        state: State::Withdrawn,
                    });
                }
                Request::Artifact { name, offset, .. } => {
                    // Sends two bytes at a time, so that readers have to ask again.
                    let content = name.as_bytes();
                    let from = offset as usize;
                    let part = if name == ENDLESS { 0 } else { 2 };
                    let to = content.len().min(from + part);
                    answer(Reply::Artifact {
                        base64: STANDARD.encode(&content[from..to]),
                        next_offset: (to < content.len()).then_some(to as u64),
                    });
                }
                other => panic!("{other:?}"),
            }
        }
    });
    dashboard
}

pub fn propose(router: &Router, conn: ConnId, call: CallId, id: ProposalId, draft: &Draft) {
    if draft.profile.as_deref() == Some("nope") {
        let error = RpcError::new(RpcError::UNKNOWN_NAME, "unknown profile `nope`");
        return router.reply(conn, call, Err(error));
    }
    router.reply(
        conn,
        call,
        Ok(Reply::Proposed {
            id,
            digest: Digest::of(draft.code.as_bytes()),
            state: State::Pending,
            verdict: Arc::new(verdict()),
            expires_at: jiff::Timestamp::UNIX_EPOCH,
        }),
    );
}

pub fn verdict() -> Verdict {
    Verdict {
        verdict: VerdictKind::Clear,
        policy: PolicyRef {
            profile: "analysis".to_owned(),
            sha256: "0".repeat(64),
        },
        findings: Vec::new(),
        capabilities: Vec::new(),
        source: SourceStats::of(b""),
        elapsed_us: 1,
        facts: None,
        places: Vec::new(),
        flows: Default::default(),
    }
}

pub fn outcome(id: ProposalId, state: State, message: &str) -> Outcome {
    Outcome {
        id,
        digest: Digest::of(b""),
        state,
        message: message.to_owned(),
        retry: Retry::No,
        verdict: Some(verdict()),
        decision: None,
        run: None,
    }
}

pub fn run(stdout: &str, stderr: &str) -> Run {
    Run {
        exit: Exit::Code(0),
        limit: None,
        duration_ms: 1,
        timing_us: Timing::default(),
        stdout: stdout.to_owned(),
        stderr: stderr.to_owned(),
        stdout_bytes: stdout.len() as u64,
        stderr_bytes: stderr.len() as u64,
        stdout_truncated: false,
        stderr_truncated: false,
        isolation: Isolation {
            tier: Tier::Process,
            layers: Vec::new(),
        },
        error: None,
        result: Value::Null,
        artifacts: Vec::new(),
        artifacts_left_out: 0,
        artifacts_refused: Vec::new(),
        artifacts_unkept: Vec::new(),
        artifacts_renamed: Vec::new(),
        artifacts_withheld: 0,
        figures_unkept: 0,
        events: Vec::new(),
        accesses: BTreeMap::new(),
    }
}

/// A file whose content is its name, as the scripted core serves it.
pub fn file(name: &str) -> Artifact {
    Artifact {
        name: name.to_owned(),
        media_type: "text/plain".to_owned(),
        bytes: name.len() as u64,
        sha256: Digest::of(name.as_bytes()).hex(),
    }
}

/// Ends proposals with a run that left these files.
pub fn leaves(artifacts: Vec<Artifact>) -> Option<Ending> {
    Some(Box::new(move |id| Outcome {
        run: Some(Run {
            artifacts: artifacts.clone(),
            ..run("printed\n", "")
        }),
        ..outcome(id, State::Succeeded, "It ran.")
    }))
}

pub fn ends(state: State, message: &'static str) -> Option<Ending> {
    Some(Box::new(move |id| outcome(id, state, message)))
}

pub fn prints(stdout: &'static str, stderr: &'static str) -> Option<Ending> {
    Some(Box::new(move |id| Outcome {
        run: Some(run(stdout, stderr)),
        ..outcome(id, State::Succeeded, "It ran.")
    }))
}
