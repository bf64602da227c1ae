//! The agents' socket on a real file system with real connections and a scripted core.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod client;
mod door;
mod elsewhere;
mod place;
mod talk;

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign::broker::{Event, Reply, Request, RpcError};
use countersign::ipc::{
    Bounds, Client, ClientError, Listener, Router, SocketConfig, SocketError, inbox, serve,
};
use countersign::model::{Peer, ProposalId, State};
use nix::unistd::{getegid, geteuid, getpid};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::task::JoinHandle;

use given::is_given_to_root;

use crate::common::given;

/// Long enough for the slowest machine; only failing tests wait that long.
const PATIENCE: Duration = Duration::from_secs(30);

fn private_folder() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    std::fs::create_dir(&folder).unwrap();
    set_mode(&folder, 0o700);
    (dir, folder)
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn at(path: &Path) -> SocketConfig {
    SocketConfig {
        path: path.to_owned(),
        ..SocketConfig::default()
    }
}

/// A served socket. The core answers `status` with `pending`, never answers `wait`, and answers
/// everything else with an error that names the request.
struct Server {
    _dir: TempDir,
    path: PathBuf,
    router: Router,
    heard: Arc<Mutex<Vec<Event>>>,
    changed: Arc<tokio::sync::Notify>,
    core: JoinHandle<()>,
    serving: JoinHandle<()>,
}

async fn serve_with(bounds: Bounds) -> Server {
    let (dir, folder) = private_folder();
    let path = folder.join("agent.sock");
    let listener = Listener::bind(&at(&path)).await.unwrap();
    let (events, mut inbox) = inbox();
    let router = Router::with_bounds(bounds);
    let serving = tokio::spawn(serve(listener, events, router.clone()));
    let heard: Arc<Mutex<Vec<Event>>> = Arc::default();
    let changed: Arc<tokio::sync::Notify> = Arc::default();
    let core = tokio::spawn({
        let (router, heard, changed) = (router.clone(), heard.clone(), changed.clone());
        async move {
            while let Some(event) = inbox.recv().await {
                if let Event::Request {
                    conn,
                    call,
                    request,
                } = &event
                {
                    match request {
                        Request::Status { id } => {
                            let state = State::Pending;
                            router.reply(*conn, *call, Ok(Reply::State { id: *id, state }));
                        }
                        Request::Wait { .. } => {}
                        other => router.reply(
                            *conn,
                            *call,
                            Err(RpcError::new(
                                1,
                                format!("{other:?}").chars().take(100).collect::<String>(),
                            )),
                        ),
                    }
                }
                heard.lock().unwrap().push(event);
                changed.notify_waiters();
            }
        }
    });
    Server {
        _dir: dir,
        path,
        router,
        heard,
        changed,
        core,
        serving,
    }
}

async fn start_server() -> Server {
    serve_with(Bounds::default()).await
}

impl Server {
    async fn connect(&self) -> Raw {
        let stream = UnixStream::connect(&self.path).await.unwrap();
        Raw {
            stream: BufReader::new(stream),
        }
    }

    /// Waits until the core's events satisfy the condition.
    async fn until(&self, what: impl Fn(&[Event]) -> bool) {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if what(&self.heard.lock().unwrap()) {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(PATIENCE, wait)
            .await
            .expect("the core hears the event in time");
    }

    fn disconnect_count(events: &[Event]) -> usize {
        events
            .iter()
            .filter(|e| matches!(e, Event::Disconnected { .. }))
            .count()
    }
}

/// An agent that sends raw bytes.
struct Raw {
    stream: BufReader<UnixStream>,
}

impl Raw {
    async fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).await.unwrap();
    }

    async fn call(&mut self, id: u64, method: &str, params: Value) {
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(format!("{line}\n").as_bytes()).await;
    }

    /// The next line; `None` at the end.
    async fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, self.stream.read_line(&mut line));
        match read.await.expect("the answer arrives in time") {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap()),
        }
    }

    async fn status(&mut self, id: u64) -> Value {
        self.call(id, "status", json!({"id": ProposalId::new().to_string()}))
            .await;
        self.read().await.unwrap()
    }
}
