//! A way to an engine that can be cut, held in one direction, and led to another engine.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};

use tempfile::TempDir;

use super::cluster::Cluster;

/// Which direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// What the engine is asked.
    There,
    /// What it answers.
    Back,
}

/// Everybody on this machine can take it.
pub struct Way {
    folder: TempDir,
    state: Arc<(Mutex<State>, Condvar)>,
}

struct State {
    to: PathBuf,
    /// `None`: it is cut.
    streams: Option<Vec<UnixStream>>,
    held: Option<Half>,
}

impl Way {
    pub fn to(cluster: &Cluster) -> Self {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let socket = folder.path().join(".s.PGSQL.5432");
        let listener = UnixListener::bind(&socket).unwrap();
        for (path, mode) in [(folder.path(), 0o711), (&*socket, 0o777)] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let state = State {
            to: cluster.socket(),
            streams: Some(Vec::new()),
            held: None,
        };
        let state = Arc::new((Mutex::new(state), Condvar::new()));
        let shared = state.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                pass(client, &shared);
            }
        });
        Self { folder, state }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Ends all connections, and each new one.
    pub fn cut(&self) {
        let streams = self.state.0.lock().unwrap().streams.take();
        for stream in streams.into_iter().flatten() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub fn join(&self) {
        self.state.0.lock().unwrap().streams = Some(Vec::new());
    }

    /// Joins it to another engine.
    pub fn lead_to(&self, cluster: &Cluster) {
        self.state.0.lock().unwrap().to = cluster.socket();
        self.join();
    }

    /// Nothing arrives any more in one direction, and nobody hears of that.
    pub fn hold(&self, half: Half) {
        self.state.0.lock().unwrap().held = Some(half);
    }

    pub fn let_go(&self) {
        self.state.0.lock().unwrap().held = None;
        self.state.1.notify_all();
    }
}

fn pass(client: UnixStream, shared: &Arc<(Mutex<State>, Condvar)>) {
    let mut state = shared.0.lock().unwrap();
    let to = state.to.clone();
    let Some(streams) = state.streams.as_mut() else {
        return;
    };
    let Ok(server) = UnixStream::connect(&to) else {
        return;
    };
    streams.extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
    let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
    for (half, (mut from, mut into)) in [(Half::There, (client, server)), (Half::Back, back)] {
        let shared = shared.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 8192];
            while let Ok(n @ 1..) = from.read(&mut bytes) {
                let state = shared.0.lock().unwrap();
                let is_held = |state: &mut State| state.held == Some(half);
                drop(shared.1.wait_while(state, is_held).unwrap());
                if into.write_all(&bytes[..n]).is_err() {
                    break;
                }
            }
            let _ = into.shutdown(Shutdown::Both);
        });
    }
}
