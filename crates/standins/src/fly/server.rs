//! The API on a port of its own, and the machines behind it.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::BoxFuture;
use mainstay_base::Clock;
use serde_json::{Value, json};

use super::app::{App, Now, error, missing};
use super::machine::{Machine, State};
use super::shape::ErrorShape;
use super::switches::Switches;
use crate::agent::Agent;
use crate::door::{Answering, Coming, Door, Question, Reply};

/// The most questions that are remembered.
const MAX_REMEMBERED: usize = 10_000;
/// The longest that `wait` waits.
const MAX_WAIT: u64 = 60;
/// How often `wait` looks.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How the stand-in is.
#[derive(Debug, Clone)]
pub struct FlyOptions {
    /// The token that it knows.
    pub token: String,
    /// Its one app.
    pub app: String,
    /// How often a machine is read before it has started.
    pub start_reads: u32,
    /// How often a machine is read before it has stopped, or is gone.
    pub stop_reads: u32,
    /// How many starts after a stop are refused although the machine says that it is stopped.
    pub lingering_starts: u32,
    /// Whether it counts how often it is asked.
    pub is_limited: bool,
    /// How it says that a machine can't do that from where it is.
    pub shape: ErrorShape,
    /// The port of agents on their machines; without one no agent runs.
    pub agent_port: Option<u16>,
}

/// The stand-in. It ends, with its machines, when this is dropped.
#[derive(Debug)]
pub struct FlyServer {
    door: Door,
    state: Arc<Shared>,
}

struct Shared {
    clock: Arc<dyn Clock>,
    app: Mutex<App>,
    running: Mutex<HashMap<String, Running>>,
}

/// A machine that runs.
#[derive(Debug)]
struct Running {
    boots: u64,
    agent: Arc<Agent>,
    _door: Door,
}

impl Default for FlyOptions {
    fn default() -> Self {
        Self {
            token: "fly-standin-token".to_owned(),
            app: "standin".to_owned(),
            start_reads: 1,
            stop_reads: 1,
            lingering_starts: 2,
            is_limited: true,
            shape: ErrorShape::Error,
            agent_port: None,
        }
    }
}

impl FlyServer {
    /// Takes a free port on loopback.
    ///
    /// # Errors
    /// When there is none.
    pub async fn start(options: FlyOptions, clock: Arc<dyn Clock>) -> io::Result<Self> {
        let app = Mutex::new(App::new(options));
        let state = Arc::new(Shared { clock, app, running: Mutex::default() });
        let who = Arc::clone(&state) as Arc<dyn Answering>;
        let door = Door::open(IpAddr::V4(Ipv4Addr::LOCALHOST), 0, who).await?;
        Ok(Self { door, state })
    }

    /// Where the API is.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.door.address())
    }

    /// Changes what goes wrong.
    pub fn switch(&self, change: impl FnOnce(&mut Switches)) {
        change(&mut self.state.app().switches);
    }

    /// The questions so far, as method and path.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.state.app().asked.iter().map(Question::line).collect()
    }

    /// The questions so far.
    #[must_use]
    pub fn questions(&self) -> Vec<Question> {
        self.state.app().asked.clone()
    }

    /// All machines, those that are no more included.
    #[must_use]
    pub fn machines(&self) -> Vec<Machine> {
        self.state.app().machines.clone()
    }

    /// The agent on a machine that runs.
    #[must_use]
    pub fn agent(&self, id: &str) -> Option<Arc<Agent>> {
        lock(&self.state.running).get(id).map(|running| Arc::clone(&running.agent))
    }

    /// The program of a machine ends by itself. One that is to be started again is.
    pub async fn crash(&self, id: &str, oom_killed: bool) {
        self.state.crash(id, oom_killed);
        self.state.settle().await;
    }

    /// A machine is taken away.
    pub async fn reap(&self, id: &str) {
        let now = self.state.clock.now();
        if let Some(machine) = self.state.app().find(id) {
            machine.become_(State::Destroyed, 0, now);
        }
        self.state.settle().await;
    }

    /// Somebody else takes a machine for so many seconds.
    pub fn lease_away(&self, id: &str, seconds: u64) {
        let question = Question {
            method: "POST".to_owned(),
            path: Vec::new(),
            query: vec![("ttl".to_owned(), seconds.to_string())],
            headers: Vec::new(),
            body: bytes::Bytes::new(),
        };
        let now = self.state.clock.now();
        if let Some(machine) = self.state.app().find(id) {
            super::lease::take(machine, &question, "somebody-else".to_owned(), now);
        }
    }
}

impl Shared {
    fn app(&self) -> MutexGuard<'_, App> {
        lock(&self.app)
    }

    fn now(&self) -> Now {
        Now { wall: self.clock.now(), steady: self.clock.moment() }
    }

    fn crash(&self, id: &str, oom_killed: bool) {
        let now = self.clock.now();
        let mut app = self.app();
        let reads = app.options.start_reads;
        let Some(machine) = app.find(id) else { return };
        machine.exit(if oom_killed { 137 } else { 1 }, oom_killed, false, now);
        machine.become_(State::Stopped, 0, now);
        let restart = machine.config.get("restart");
        let policy = restart.and_then(|restart| restart.get("policy")).and_then(Value::as_str);
        let most = restart.and_then(|restart| restart.get("max_retries")).and_then(Value::as_u64);
        if policy != Some("no") && machine.restarts < most.unwrap_or(10) {
            machine.restarts = machine.restarts.saturating_add(1);
            machine.become_(State::Starting, reads, now);
        } else if machine.config.get("auto_destroy") == Some(&Value::Bool(true)) {
            machine.become_(State::Destroyed, 0, now);
        }
    }

    async fn respond(&self, question: Question) -> Reply {
        let reply = match self.refuse(&question) {
            Some(reply) => reply,
            None if is_wait(&question) => self.wait(&question).await,
            None => self.app().answer(&question, self.now()),
        };
        self.settle().await;
        let app = self.app();
        let coming = match (app.switches.silent, app.switches.cut, app.switches.slow) {
            (true, _, _) => Coming::Never,
            (_, true, _) => Coming::Half,
            (_, _, Some(time)) => Coming::After(time),
            _ => Coming::AtOnce,
        };
        let number = app.asked.len();
        reply.coming(coming).with("fly-request-id", format!("01STANDIN-{number}-fra"))
    }

    fn refuse(&self, question: &Question) -> Option<Reply> {
        let now = self.now();
        let mut app = self.app();
        if app.asked.len() < MAX_REMEMBERED {
            app.asked.push(question.clone());
        }
        if let Some((status, body)) = &app.switches.everything {
            return Some(Reply::text(*status, body));
        }
        if question.bearer() != Some(app.options.token.as_str()) {
            return Some(error(401, "Authenticate: token validation error"));
        }
        let is_of_machine = question.path.len() > 4;
        if let Some(left) = app.switches.not_found.checked_sub(1).filter(|_| is_of_machine) {
            app.switches.not_found = left;
            return Some(missing());
        }
        app.throttled(question, now)
    }

    async fn wait(&self, question: &Question) -> Reply {
        let wanted = question.parameter("state").unwrap_or("started").to_owned();
        let instance = question.parameter("instance_id").map(ToOwned::to_owned);
        if wanted == "stopped" && instance.is_none() {
            return error(400, "invalid_argument: instance_id is required to wait for stopped");
        }
        if !["started", "stopped", "suspended", "destroyed"].contains(&wanted.as_str()) {
            return error(400, "invalid_argument: unknown state");
        }
        let seconds = question.parameter("timeout").and_then(|text| text.parse().ok());
        let limit = Duration::from_secs(seconds.unwrap_or(MAX_WAIT).min(MAX_WAIT));
        let id = question.path.get(4).cloned().unwrap_or_default();
        let looking = async {
            loop {
                let Some(seen) = self.app().read(&id, self.now()) else { return missing() };
                if instance.as_ref().is_some_and(|instance| *instance != seen.instance_id) {
                    return error(404, "machine not found: no such instance");
                }
                if seen.state.name() == wanted {
                    return Reply::json(200, &json!({ "ok": true }));
                }
                self.settle().await;
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        let waited = tokio::time::timeout(limit, looking).await;
        waited
            .unwrap_or_else(|_| error(408, "deadline_exceeded: timeout reached waiting for state"))
    }

    /// Starts and ends the agents of machines that run, or do not any more.
    async fn settle(&self) {
        let port = self.app().options.agent_port;
        let Some(port) = port else { return };
        let due: Vec<Machine> = {
            let app = self.app();
            let mut running = lock(&self.running);
            // What is being ended on a host that can't be reached runs on.
            let runs = |machine: &Machine| {
                machine.state == State::Started
                    || machine.state == State::Destroying && app.is_unreachable(&machine.id)
            };
            let now = |id: &str| app.machines.iter().find(|one| one.id == id);
            running.retain(|id, one| {
                now(id).is_some_and(|machine| runs(machine) && machine.boots == one.boots)
            });
            let is_due = |machine: &&Machine| {
                machine.state == State::Started && !running.contains_key(&machine.id)
            };
            app.machines.iter().filter(is_due).cloned().collect()
        };
        for machine in due {
            self.boot(&machine, port).await;
        }
    }

    async fn boot(&self, machine: &Machine, port: u16) {
        let worker = machine.metadata("mainstay_worker").unwrap_or_default();
        let generation = machine.metadata("mainstay_generation").and_then(|text| text.parse().ok());
        let agent = Agent::new(worker, generation.unwrap_or(0), &token(&machine.config));
        let Ok(ip) = machine.private_ip.parse() else { return };
        let who = Arc::clone(&agent) as Arc<dyn Answering>;
        // Somebody who asks at the same time may have been quicker.
        if let Ok(door) = Door::open(ip, port, who).await {
            let one = Running { boots: machine.boots, agent, _door: door };
            lock(&self.running).insert(machine.id.clone(), one);
        }
    }
}

impl Answering for Shared {
    fn answer(self: Arc<Self>, question: Question) -> BoxFuture<'static, Reply> {
        Box::pin(async move { self.respond(question).await })
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").field("app", &self.app).finish_non_exhaustive()
    }
}

/// The token that the machine's first file holds.
fn token(config: &Value) -> String {
    let raw = config.pointer("/files/0/raw_value").and_then(Value::as_str).unwrap_or_default();
    let bytes = STANDARD.decode(raw).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

fn is_wait(question: &Question) -> bool {
    question.method == "GET" && question.path.get(5).is_some_and(|part| part == "wait")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
