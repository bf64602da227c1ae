//! What agents elsewhere ask: read from the engine, handed to the core by the way of the socket, and answered.
//!
//! A gateway may have asked several hosts one after another, and one of them at most is to do it. So a host that takes a request
//! says so at the engine first, and looks then whether the gateway gave up meanwhile; the gateway gives up first, and looks then
//! whether the host took it. One of both sees the other, however their clocks go.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};
use uuid::Uuid;

use crate::broker::RpcError;
use crate::ipc::{ClientError, Gate};
use crate::model::{Digest, ProposalId, visible};

use super::lines::Lines;
use super::taken::{Held, Key, Taken};
use crate::desk::Board;
use crate::desk::asking::{
    ASKING_MAX, Answer, AnswerFormat, AnswerSays, Asks, METHODS, Request, fitted, interrupted,
    withdrawal_of,
};
use crate::desk::engine::{Engine, EngineError, Login, Occasion, RequestRow, Seen, StatementRow};

/// How far away the time can be until which a request is taken.
const TAKE_MAX: SignedDuration = SignedDuration::from_mins(15);
/// How much later than its deadline the engine may say a request again.
const BESIDE: SignedDuration = SignedDuration::from_mins(5);
/// Requests that are remembered so as not to be looked at twice, and those that are at work.
const SEEN_MAX: usize = 100_000;
const WORKING_MAX: usize = 4096;
/// Requests of one login that are on their way to the core at once, so that none waits for another login's.
const AT_ONCE: usize = 4;
/// Logins of which that is remembered.
const LOGINS_MAX: usize = 1024;
/// Between two attempts to go on after the connection to the core was closed.
const AGAIN: Duration = Duration::from_millis(500);

/// The requests of one host.
pub struct Requests {
    shared: Arc<Shared>,
    since: Option<Seen>,
    /// Until when the engine may say each again.
    seen: BTreeMap<Key, Timestamp>,
    is_greeted: bool,
}

struct Shared {
    engine: Engine,
    host: String,
    host_key: String,
    board: Board,
    lines: Lines,
    taken: Mutex<Taken>,
    working: Mutex<BTreeMap<Key, Stage>>,
    outbox: Mutex<VecDeque<Out>>,
    changed: watch::Sender<u64>,
    places: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

/// How far a request is that is at work.
#[derive(Clone, Debug)]
enum Stage {
    Early,
    /// Its gateway gave it up before it was proposed.
    GivenUp,
    Proposed {
        session: String,
        id: ProposalId,
    },
}

/// An answer on its way.
struct Out {
    key: Key,
    row: StatementRow,
    is_end: bool,
}

impl Requests {
    /// # Errors
    /// The state folder does not keep what is taken.
    pub fn open(
        engine: Engine,
        (host, host_key): (String, String),
        board: Board,
        gate: Gate,
        state_dir: &Path,
    ) -> io::Result<Self> {
        let shared = Shared {
            engine,
            host,
            host_key,
            board,
            lines: Lines::new(gate),
            taken: Mutex::new(Taken::open(state_dir, Timestamp::now())?),
            working: Mutex::default(),
            outbox: Mutex::default(),
            changed: watch::Sender::new(0),
            places: Mutex::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            since: None,
            seen: BTreeMap::new(),
            is_greeted: false,
        })
    }

    /// Tells when there is something to send.
    pub(super) fn changed(&self) -> watch::Receiver<u64> {
        self.shared.changed.subscribe()
    }

    /// Another engine may answer now, with a clock of its own: what is open is read from its first on. What was taken is known.
    pub(super) const fn anew(&mut self) {
        self.since = None;
    }

    /// Sends the answers that wait, and begins with what is new. True if there is more.
    pub(super) async fn round(&mut self) -> Result<bool, EngineError> {
        if !self.is_greeted {
            self.shared.end_untold();
            self.is_greeted = true;
        }
        self.shared.flush().await?;
        let now = Timestamp::now();
        self.seen.retain(|_, until| *until > now);
        let page = self
            .shared
            .engine
            .requests(&self.shared.host, self.since)
            .await?;
        for row in page.rows {
            self.begin(row, now);
        }
        self.since = page.seen;
        self.shared.flush().await?;
        Ok(page.more)
    }

    fn begin(&mut self, row: RequestRow, now: Timestamp) {
        // The engine's word; what could not have been made a member of the desk is nobody.
        if row.host != self.shared.host || row.login.parse::<Login>().is_err() {
            return;
        }
        let key = (row.login, row.id);
        if self.seen.contains_key(&key) {
            return;
        }
        if self.seen.len() >= SEEN_MAX {
            return tracing::warn!("too many requests: one of {} was left out", key.0);
        }
        // Rows come again until their deadline, and those of the last minute.
        let until = row.deadline.max(now).checked_add(BESIDE);
        self.seen
            .insert(key.clone(), until.unwrap_or(Timestamp::MAX));
        let asked = Digest::of(&row.body);
        let request = Request::read(&row.body);
        drop(row.body);
        let shared = self.shared.clone();
        let refuse = |why: String| {
            let error = RpcError::new(RpcError::INVALID_REQUEST, why);
            shared.answer(&key, asked, AnswerSays::Refused(error));
        };
        let request = match request {
            Ok(request) if request.host == shared.host => request,
            Ok(_) => return refuse("it is for another host".to_owned()),
            Err(why) => return refuse(format!("it is no request: {why}")),
        };
        if request.taken_by > now + TAKE_MAX {
            return refuse(format!(
                "`taken_by` is more than {} minutes away",
                TAKE_MAX.as_mins()
            ));
        }
        if shared.taken().has(&key) {
            // Of an earlier start, which has ended it or whose end is told by now.
            return;
        }
        let full = {
            let mut working = shared.working();
            let full = working.len() >= WORKING_MAX;
            if !full && matches!(&request.asks, Asks::Call { method, .. } if method == "propose") {
                working.entry(key.clone()).or_insert(Stage::Early);
            }
            full
        };
        if full {
            let why = format!("{WORKING_MAX} requests are at work");
            return shared.answer(&key, asked, AnswerSays::NotTaken { why });
        }
        tokio::spawn(async move { shared.serve(key, asked, request).await });
    }
}

impl Shared {
    async fn serve(self: Arc<Self>, key: Key, asked: Digest, request: Request) {
        let says = match request.asks {
            Asks::Withdraw { request: target } => self.withdraw(&key.0, target).await,
            Asks::Call { method, params } if method == "propose" => {
                let about = About {
                    key: &key,
                    asked,
                    session: request.session,
                    taken_by: request.taken_by,
                };
                let says = self.propose(about, params).await;
                self.working().remove(&key);
                match says {
                    Some(says) => says,
                    // The host closes: the next start tells.
                    None => return,
                }
            }
            Asks::Call { method, params } => {
                self.plain(&key.0, (method, params), &request.session, request.taken_by)
                    .await
            }
        };
        self.answer(&key, asked, says);
    }

    /// A method that proposes nothing.
    async fn plain(
        &self,
        login: &str,
        (method, params): (String, Value),
        session: &str,
        taken_by: Timestamp,
    ) -> AnswerSays {
        let Some(method) = METHODS.into_iter().find(|known| *known == method) else {
            let why = format!("there is no method `{}` for gateways", visible(&method));
            let error = RpcError::new(RpcError::METHOD_NOT_FOUND, why);
            return AnswerSays::Refused(error.with_data(json!({"expected": METHODS})));
        };
        let places = self.places_of(login);
        let Ok(_place) = places.acquire().await else {
            return AnswerSays::NotTaken { why: closing() };
        };
        if Timestamp::now() > taken_by {
            return AnswerSays::NotTaken { why: late() };
        }
        let called = match self.lines.of(login, session) {
            Ok(line) => line.call(method, params).await,
            Err(error) => Err(ClientError::Refused(error)),
        };
        match called {
            Ok(result) => AnswerSays::Result(result),
            Err(e) => AnswerSays::Refused(refusal(e)),
        }
    }

    /// Takes an earlier request back.
    async fn withdraw(&self, login: &str, target: Uuid) -> AnswerSays {
        let key = (login.to_owned(), target);
        let stage = {
            let mut working = self.working();
            match working.get_mut(&key) {
                Some(stage @ Stage::Early) => {
                    *stage = Stage::GivenUp;
                    Some(Stage::GivenUp)
                }
                stage => stage.cloned(),
            }
        };
        match stage {
            Some(Stage::Proposed { session, id }) => {
                let called = match self.lines.of(login, &session) {
                    Ok(line) => line.call("withdraw", json!({"id": id})).await,
                    Err(error) => Err(ClientError::Refused(error)),
                };
                match called {
                    Ok(result) => AnswerSays::Result(result),
                    Err(e) => AnswerSays::Refused(refusal(e)),
                }
            }
            Some(Stage::Early | Stage::GivenUp) | None => AnswerSays::NotTaken {
                why: "nothing of it is at work here".to_owned(),
            },
        }
    }

    /// Proposes what is asked, and waits for its end. `None` if the host closes before that.
    async fn propose(&self, about: About<'_>, params: Value) -> Option<AnswerSays> {
        let (key, asked) = (about.key, about.asked);
        let places = self.places_of(&key.0);
        let place = places.acquire().await.ok()?;
        let not_taken = |why: String| Some(AnswerSays::NotTaken { why });
        if let Some(why) = self.is_over(&about) {
            return not_taken(why);
        }
        // An older state folder does not know what was answered beside it.
        match self.engine.has_answered(&self.host, &key.0, key.1).await {
            Ok(false) => {}
            Ok(true) => return not_taken("this host has answered it before".to_owned()),
            Err(_) => {
                return not_taken("this host could not see whether it has answered it".to_owned());
            }
        }
        let code = params["code"].as_str().unwrap_or_default();
        let held = Held {
            asked,
            code: Digest::of(code.as_bytes()),
            taken_by: about.taken_by,
            proposal: None,
            is_told: false,
        };
        let is_full = self.taken().is_full();
        if is_full {
            return not_taken("this host took too many requests of late".to_owned());
        }
        let kept = self.taken().take(key.clone(), held);
        if let Err(e) = kept {
            tracing::warn!("the request {} of {} was not kept: {e}", key.1, key.0);
            return not_taken("this host could not keep it".to_owned());
        }
        // First this word, then the look: see above.
        let said = match self.signed(key, asked, AnswerSays::Taken) {
            Ok(out) => self.engine.publish_statement(&out.row).await,
            Err(why) => return not_taken(why),
        };
        if said.is_err() {
            return not_taken("this host could not say that it takes it".to_owned());
        }
        let given_up = self
            .engine
            .request_by(&self.host, Some(&key.0), withdrawal_of(key.1))
            .await;
        match given_up {
            Ok(None) => {}
            Ok(Some(_)) => return not_taken(gave_up()),
            Err(_) => {
                return not_taken("this host could not see whether it still is to".to_owned());
            }
        }
        if let Some(why) = self.is_over(&about) {
            return not_taken(why);
        }
        let params = self.own(key, params);
        let proposed = self.ask(&about, "propose", &params).await?;
        drop(place);
        let proposed = match proposed {
            Ok(proposed) => proposed,
            Err(error) => return Some(AnswerSays::Refused(error)),
        };
        let id = proposed["id"].as_str().and_then(|id| id.parse().ok());
        let Some(id) = id else {
            let error = RpcError::new(RpcError::INTERNAL, "a proposal without an id");
            return Some(AnswerSays::Refused(error));
        };
        if let Err(e) = self.taken().proposed(key, id) {
            tracing::warn!("that {} asked for {id} was not kept: {e}", key.0);
        }
        let session = about.session.clone();
        let before = self
            .working()
            .insert(key.clone(), Stage::Proposed { session, id });
        self.answer(key, asked, AnswerSays::Proposed(proposed));
        if matches!(before, Some(Stage::GivenUp)) {
            self.withdraw(&key.0, key.1).await;
        }
        loop {
            match self.ask(&about, "wait", &json!({"id": id})).await? {
                Ok(outcome) => return Some(AnswerSays::Ended(fitted(outcome))),
                // Another connection has to own it first.
                Err(error) if error.code == RpcError::UNKNOWN_ID => {
                    let again = self.ask(&about, "propose", &params).await?;
                    let same = again.is_ok_and(|again| again["id"] == json!(id));
                    if !same {
                        return Some(AnswerSays::Refused(error));
                    }
                }
                Err(error) => return Some(AnswerSays::Refused(error)),
            }
        }
    }

    /// Whether it is too late for it, or it was given up.
    fn is_over(&self, about: &About<'_>) -> Option<String> {
        if Timestamp::now() > about.taken_by {
            return Some(late());
        }
        let working = self.working();
        let given_up = matches!(working.get(about.key), Some(Stage::GivenUp));
        given_up.then(gave_up)
    }

    /// The params as this host hands them in: under a key of its own, which no other login's can be.
    fn own(&self, key: &Key, mut params: Value) -> Value {
        if let Some(params) = params.as_object_mut() {
            let name = format!("{}/{}", key.0, key.1);
            params.insert("idempotency_key".to_owned(), name.into());
            params.remove("stream");
        }
        params
    }

    /// A call, also over another connection where the first is closed. `None` once the host closes.
    async fn ask(
        &self,
        about: &About<'_>,
        method: &'static str,
        params: &Value,
    ) -> Option<Result<Value, RpcError>> {
        loop {
            let line = match self.lines.of(&about.key.0, &about.session) {
                Ok(line) => line,
                Err(error) => return Some(Err(error)),
            };
            match line.call(method, params.clone()).await {
                Ok(result) => return Some(Ok(result)),
                Err(ClientError::Closed) if self.lines.is_open() => {
                    tokio::time::sleep(AGAIN).await;
                }
                Err(ClientError::Closed) => return None,
                Err(e) => return Some(Err(refusal(e))),
            }
        }
    }

    /// What an earlier start had taken ends now.
    fn end_untold(&self) {
        let untold = self.taken().untold();
        for (key, held) in untold {
            let id = held.proposal.unwrap_or(ProposalId::from_uuid(key.1));
            let says = AnswerSays::Ended(interrupted(id, held.code));
            self.answer(&key, held.asked, says);
        }
    }

    /// Signs an answer and puts it to those that are sent next.
    fn answer(&self, key: &Key, asked: Digest, says: AnswerSays) {
        match self.signed(key, asked, says) {
            Ok(out) => {
                self.outbox().push_back(out);
                self.changed.send_modify(|n| *n += 1);
            }
            Err(why) => tracing::warn!("an answer to {} was not signed: {why}", key.0),
        }
    }

    fn signed(&self, key: &Key, asked: Digest, says: AnswerSays) -> Result<Out, String> {
        let is_end = says.is_last();
        let occasion = match says {
            AnswerSays::Taken | AnswerSays::NotTaken { .. } => Occasion::Ack,
            AnswerSays::Refused(_) | AnswerSays::Proposed(_) => Occasion::Decision,
            AnswerSays::Ended(_) | AnswerSays::Result(_) => Occasion::Outcome,
        };
        let at = Timestamp::now();
        let mut answer = Answer {
            format: AnswerFormat::V1,
            host: self.host.clone(),
            host_key: self.host_key.clone(),
            gateway: key.0.clone(),
            request: key.1,
            asked,
            number: u64::MAX,
            at,
            says,
        };
        if answer.bytes().len() > ASKING_MAX {
            let error = RpcError::new(
                RpcError::TOO_LARGE,
                "the answer is larger than the engine takes",
            );
            answer.says = AnswerSays::Refused(error);
        }
        let (number, signed) = self.board.numbered(at, |number| {
            answer.number = number;
            answer.bytes()
        })?;
        Ok(Out {
            key: key.clone(),
            row: StatementRow {
                host: self.host.clone(),
                proposal: ProposalId::from_uuid(key.1),
                seq: number,
                to: None,
                gateway: Some(key.0.clone()),
                occasion,
                body: signed.body.into_bytes(),
                signature: signed.signature,
            },
            is_end,
        })
    }

    /// Sends the answers that wait, the oldest first. Where the engine is away they wait on.
    async fn flush(&self) -> Result<(), EngineError> {
        loop {
            let Some(out) = self.outbox().pop_front() else {
                return Ok(());
            };
            match self.engine.publish_statement(&out.row).await {
                Ok(()) => {}
                Err(e @ (EngineError::Refused(_) | EngineError::TooLarge(_))) => {
                    tracing::warn!("an answer to {} was not sent: {e}", out.key.0);
                }
                Err(e) => {
                    self.outbox().push_front(out);
                    return Err(e);
                }
            }
            if out.is_end
                && let Err(e) = self.taken().told(&out.key)
            {
                tracing::warn!("that {} was answered was not kept: {e}", out.key.0);
            }
        }
    }

    fn places_of(&self, login: &str) -> Arc<Semaphore> {
        let mut all = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= LOGINS_MAX {
            all.retain(|_, places| Arc::strong_count(places) > 1);
        }
        let places = all.entry(login.to_owned());
        places
            .or_insert_with(|| Arc::new(Semaphore::new(AT_ONCE)))
            .clone()
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn working(&self) -> MutexGuard<'_, BTreeMap<Key, Stage>> {
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outbox(&self) -> MutexGuard<'_, VecDeque<Out>> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request to propose.
struct About<'a> {
    key: &'a Key,
    asked: Digest,
    session: String,
    taken_by: Timestamp,
}

fn late() -> String {
    "it came too late, by the clock of this host".to_owned()
}

fn gave_up() -> String {
    "it was withdrawn before this host took it".to_owned()
}

fn closing() -> String {
    "this host closes".to_owned()
}

fn refusal(error: ClientError) -> RpcError {
    match error {
        ClientError::Refused(error) => error,
        ClientError::TooLarge(bytes) => RpcError::new(
            RpcError::TOO_LARGE,
            format!("the request has {bytes} bytes, more than a line of the socket"),
        ),
        other => RpcError::new(RpcError::INTERNAL, other.to_string()),
    }
}
