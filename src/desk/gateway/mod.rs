//! Asks hosts elsewhere for agents of this machine, over the engine.
//!
//! It has the methods of the agents' socket. Hosts are asked one after another. The next one is asked only if a host signed that it
//! does nothing of it, or if it was withdrawn before the host said that it took it: one host at most runs what one call asks.
//! What an answer says counts if the host signed it, for these very bytes.

mod asked;
mod propose;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use uuid::Uuid;

use crate::broker::RpcError;
use crate::model::{nearest, visible};

use super::Hosts;
use super::asking::{AnswerSays, Asks, named};
use super::engine::{Duty, Engine, EngineError, Listener};
use asked::{Asked, Said};

/// How long a host may take to say that it takes a request, and how long after that it is waited for.
const TAKE: SignedDuration = SignedDuration::from_secs(20);
const BESIDE: SignedDuration = SignedDuration::from_secs(2);
/// How long a host may take from there to its answer.
const ANSWER: Duration = Duration::from_secs(60);
/// The same for the withdrawal of what waits.
const WITHDRAWAL: Duration = Duration::from_secs(20);
/// Between two looks without a notification.
const LOOK: Duration = Duration::from_secs(5);
/// Proposals that are known here.
const KNOWN_MAX: usize = 10_000;
/// The longest name of a session.
const SESSION_MAX: usize = 64;

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The engine or the hosts. It says what became of the request.
    #[error("{0}")]
    Away(String),
    /// By a host, or by this program before any was asked.
    #[error("{} ({})", .0.message, .0.code)]
    Refused(RpcError),
    #[error("{0}")]
    TooLarge(String),
}

impl From<EngineError> for GatewayError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::TooLarge(why) => Self::TooLarge(why),
            other => Self::Away(other.to_string()),
        }
    }
}

/// Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct Gateway(Arc<Inner>);

struct Inner {
    engine: Engine,
    hosts: Hosts,
    only: Option<String>,
    state: Mutex<State>,
    /// Counts what may be new at the engine.
    news: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    session: String,
    is_checked: bool,
    listens: bool,
    known: BTreeMap<String, Known>,
    /// The ids of `known`, the oldest first.
    order: std::collections::VecDeque<String>,
}

/// A proposal at a host.
#[derive(Clone)]
struct Known {
    asked: Asked,
    proposed: Value,
    ended: Option<Value>,
    /// Whether somebody may come back for it under its key.
    is_kept: bool,
}

impl Gateway {
    /// `only`: the one host that is asked.
    ///
    /// # Errors
    /// There is no host, or none of that name.
    pub fn new(engine: Engine, hosts: Hosts, only: Option<String>) -> Result<Self, String> {
        let names: Vec<&str> = hosts.names().collect();
        match &only {
            Some(name) if hosts.key(name).is_none() => {
                let near = nearest(name, names.iter().copied());
                let near =
                    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                return Err(format!(
                    "`{}` is not in the file of hosts{near}; it has {}",
                    visible(name),
                    names.join(", ")
                ));
            }
            None if names.is_empty() => {
                return Err("the file of hosts names none".to_owned());
            }
            _ => {}
        }
        let state = State {
            session: Uuid::new_v4().to_string(),
            ..State::default()
        };
        Ok(Self(Arc::new(Inner {
            engine,
            hosts,
            only,
            state: Mutex::new(state),
            news: watch::Sender::new(0),
        })))
    }

    /// A method of the agents' socket.
    ///
    /// # Errors
    /// What prevented an answer, or the refusal of a host.
    pub async fn call(&self, method: &str, mut params: Value) -> Result<Value, GatewayError> {
        if method == "hello" {
            return Ok(self.hello(&params));
        }
        self.check().await?;
        self.listen();
        let id = params["id"].as_str().unwrap_or_default().to_owned();
        match method {
            "propose" => self.propose(params).await,
            "check" => self.check_in_turn(params).await,
            "datasets" => self.datasets().await,
            "wait" => {
                let timeout = params["timeout_s"].as_f64();
                let timeout = timeout.and_then(|s| Duration::try_from_secs_f64(s).ok());
                self.wait(&id, timeout).await
            }
            "status" => self.status(&id),
            "withdraw" => self.withdraw(&id).await,
            "artifact" => {
                let known = self.known(&id)?;
                params["id"] = id.into();
                let host = known.asked.host;
                match self.plain(&host, "artifact", params).await? {
                    Some(says) => answered(says),
                    None => Err(silent(&host)),
                }
            }
            other => Err(GatewayError::Refused(RpcError::new(
                RpcError::METHOD_NOT_FOUND,
                format!("there is no method `{}`", visible(other)),
            ))),
        }
    }

    /// Withdraws what nobody waits for once this program ends, as the socket does when a connection closes.
    pub async fn leave(&self) {
        let open: Vec<Asked> = {
            let state = self.state();
            let open = state.known.values();
            let open = open.filter(|known| known.ended.is_none() && !known.is_kept);
            open.map(|known| known.asked.clone()).collect()
        };
        for asked in open {
            if self.put_withdrawal(&asked).await.is_err() {
                return;
            }
        }
    }

    pub fn session(&self) -> String {
        self.state().session.clone()
    }

    /// A session of an earlier gateway is known by what it asked.
    fn hello(&self, params: &Value) -> Value {
        let session = params["session"].as_str();
        let session = session.filter(|name| name.len() <= SESSION_MAX && name.is_ascii());
        let mut state = self.state();
        if let Some(session) = session {
            session.clone_into(&mut state.session);
        }
        json!({"protocol": 1, "session": state.session})
    }

    /// Whether the login is one of a gateway; looked at once.
    async fn check(&self) -> Result<(), GatewayError> {
        if self.state().is_checked {
            return Ok(());
        }
        let fix = "`countersign desk member add LOGIN --gateway` makes one";
        match self.0.engine.me().await? {
            Some(Duty::Gateway) => {}
            Some(other) => {
                return Err(GatewayError::Away(format!(
                    "the login of `desk.url` is one of {}, and agents elsewhere need one of a gateway: {fix}",
                    other.whose()
                )));
            }
            None => {
                return Err(GatewayError::Away(format!(
                    "the login of `desk.url` is no member of the desk: {fix}"
                )));
            }
        }
        self.state().is_checked = true;
        Ok(())
    }

    /// Hears of answers from now on.
    fn listen(&self) {
        let mut state = self.state();
        if std::mem::replace(&mut state.listens, true) {
            return;
        }
        let mut listener = Listener::for_gateway(&self.0.engine);
        let inner = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            loop {
                listener.next().await;
                match inner.upgrade() {
                    Some(inner) => inner.news.send_modify(|n| *n += 1),
                    None => return,
                }
            }
        });
    }

    async fn wait(&self, id: &str, timeout: Option<Duration>) -> Result<Value, GatewayError> {
        let known = self.known(id)?;
        let until = timeout.map(|timeout| Instant::now() + timeout);
        loop {
            if let Some(outcome) = self.known(id)?.ended {
                return Ok(outcome);
            }
            let mut news = self.0.news.subscribe();
            match self.said(&known.asked).await? {
                Said::Ended(_, outcome) => self.end(id, outcome),
                Said::Refused(error) => return Err(GatewayError::Refused(error)),
                Said::NotTaken(why) => return Err(GatewayError::Away(why)),
                Said::Nothing | Said::Taken | Said::Proposed(_) | Said::Result(_) => {
                    if !until_news(&mut news, until).await {
                        let state = &known.proposed["state"];
                        return Ok(json!({"id": id, "state": state}));
                    }
                }
            }
        }
    }

    fn status(&self, id: &str) -> Result<Value, GatewayError> {
        let known = self.known(id)?;
        let state = known.ended.as_ref().unwrap_or(&known.proposed)["state"].clone();
        Ok(json!({"id": id, "state": state, "expires_at": known.proposed["expires_at"]}))
    }

    async fn withdraw(&self, id: &str) -> Result<Value, GatewayError> {
        let known = self.known(id)?;
        let request = &known.asked;
        let asked = self.put_withdrawal(request).await?;
        let until = Some(Instant::now() + WITHDRAWAL);
        loop {
            let mut news = self.0.news.subscribe();
            if let Said::Result(result) = self.said(&asked).await? {
                return Ok(result);
            }
            if let Said::Ended(_, outcome) = self.said(request).await? {
                let state = outcome["state"].clone();
                self.end(id, outcome);
                return Ok(json!({"id": id, "state": state}));
            }
            if !until_news(&mut news, until).await {
                return Err(GatewayError::Away(format!(
                    "`{}` was asked to withdraw it and says nothing",
                    request.host
                )));
            }
        }
    }

    /// The first host that has the data says what its rules make of the code.
    async fn check_in_turn(&self, params: Value) -> Result<Value, GatewayError> {
        let mut last = None;
        for host in self.in_turn(&params)? {
            match self.plain(&host, "check", params.clone()).await? {
                Some(says) if says.lacks_data() => last = Some(answered(says)),
                Some(says) => return answered(says),
                None => last = last.or_else(|| Some(Err(silent(&host)))),
            }
        }
        last.unwrap_or_else(|| Err(GatewayError::Away("no host was asked".to_owned())))
    }

    /// What any of the hosts has. Of one name the first host's.
    async fn datasets(&self) -> Result<Value, GatewayError> {
        let mut all = JoinSet::new();
        for (at, host) in self.names().into_iter().enumerate() {
            let gateway = self.clone();
            all.spawn(async move {
                let said = gateway.plain(&host, "datasets", json!({})).await;
                (at, host, said)
            });
        }
        let mut said = all.join_all().await;
        said.sort_by_key(|(at, ..)| *at);
        let (mut found, mut answers, mut why) = (BTreeMap::new(), 0, None);
        for (_, host, said) in said {
            match said.and_then(|says| says.map_or_else(|| Err(silent(&host)), answered)) {
                Ok(list) => {
                    for one in list.as_array().into_iter().flatten() {
                        let name = one["name"].as_str().unwrap_or_default().to_owned();
                        let mut one = one.clone();
                        one["host"] = host.as_str().into();
                        found.entry(name).or_insert(one);
                    }
                    answers += 1;
                }
                Err(e) => why = why.or(Some(e)),
            }
        }
        match why {
            Some(e) if answers == 0 => Err(e),
            _ => Ok(found.into_values().collect()),
        }
    }

    /// Asks one host for what proposes nothing; `None` if it says nothing in time.
    async fn plain(
        &self,
        host: &str,
        method: &str,
        params: Value,
    ) -> Result<Option<AnswerSays>, GatewayError> {
        let asks = Asks::Call {
            method: method.to_owned(),
            params,
        };
        let asked = self.put(host, Uuid::new_v4(), asks).await?;
        let until = Instant::now() + TAKE.unsigned_abs() + BESIDE.unsigned_abs();
        loop {
            let mut news = self.0.news.subscribe();
            match self.said(&asked).await? {
                Said::Result(value) => return Ok(Some(AnswerSays::Result(value))),
                Said::Refused(error) => return Ok(Some(AnswerSays::Refused(error))),
                Said::NotTaken(_) => return Ok(None),
                _ if !until_news(&mut news, Some(until)).await => return Ok(None),
                _ => {}
            }
        }
    }

    fn names(&self) -> Vec<String> {
        match &self.0.only {
            Some(only) => vec![only.clone()],
            None => self.0.hosts.names().map(str::to_owned).collect(),
        }
    }

    /// Whom to ask: the host that has what an earlier run left, if that is an input, else all.
    fn in_turn(&self, params: &Value) -> Result<Vec<String>, GatewayError> {
        let inputs = params["inputs"].as_object();
        let left = inputs
            .into_iter()
            .flatten()
            .filter_map(|(_, input)| input["artifact"]["id"].as_str());
        let mut hosts = self.names();
        for id in left {
            let host = self.known(id)?.asked.host;
            hosts.retain(|one| *one == host);
        }
        match hosts.is_empty() {
            false => Ok(hosts),
            true => Err(GatewayError::Refused(
                RpcError::new(
                    RpcError::INVALID_PARAMS,
                    "the inputs are files of runs on different hosts",
                )
                .with_data(json!({"param": "inputs"})),
            )),
        }
    }

    fn known(&self, id: &str) -> Result<Known, GatewayError> {
        let known = self.state().known.get(id).cloned();
        known.ok_or_else(|| {
            GatewayError::Refused(RpcError::new(
                RpcError::UNKNOWN_ID,
                "no proposal of this session has this id",
            ))
        })
    }

    fn remember(&self, id: &str, known: Known) {
        let mut state = self.state();
        if state.known.insert(id.to_owned(), known).is_none() {
            state.order.push_back(id.to_owned());
        }
        if state.order.len() > KNOWN_MAX
            && let Some(oldest) = state.order.pop_front()
        {
            state.known.remove(&oldest);
        }
    }

    fn end(&self, id: &str, outcome: Value) {
        if let Some(known) = self.state().known.get_mut(id) {
            known.ended = Some(outcome);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of what one key asks of one host.
    fn name(&self, key: &str, host: &str) -> Uuid {
        let session = self.session();
        named(&[
            b"propose",
            session.as_bytes(),
            key.as_bytes(),
            host.as_bytes(),
        ])
    }
}

/// What a method that proposes nothing answers.
fn answered(says: AnswerSays) -> Result<Value, GatewayError> {
    match says {
        AnswerSays::Result(value) => Ok(value),
        AnswerSays::Refused(error) => Err(GatewayError::Refused(error)),
        other => Err(GatewayError::Away(format!(
            "the host answers what was not asked: {other:?}"
        ))),
    }
}

fn silent(host: &str) -> GatewayError {
    GatewayError::Away(format!(
        "`{host}` did not answer: it is away, or its login at the engine is not that of this name; nothing was proposed, and \
         nobody refused"
    ))
}

/// Waits until something may be new; false once the time is over.
async fn until_news(news: &mut watch::Receiver<u64>, until: Option<Instant>) -> bool {
    let look = Instant::now() + LOOK;
    let next = until.map_or(look, |until| until.min(look));
    if until.is_some_and(|until| Instant::now() >= until) {
        return false;
    }
    // Its sender is ours.
    let _ = tokio::time::timeout_at(next, news.changed()).await;
    true
}

fn soon() -> Timestamp {
    Timestamp::now() + TAKE
}
