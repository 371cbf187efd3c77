//! All machines of an app, and what can be asked of them.

use mainstay_base::{Moment, Timestamp};
use serde_json::{Value, json};

use super::lease;
use super::limits::{ACTIONS, Buckets, READS};
use super::machine::{Machine, State};
use super::server::FlyOptions;
use super::switches::Switches;
use crate::door::{Question, Reply};

/// The most machines.
const MAX_MACHINES: usize = 10_000;

/// All machines.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) options: FlyOptions,
    pub(crate) switches: Switches,
    pub(crate) machines: Vec<Machine>,
    pub(crate) asked: Vec<Question>,
    buckets: Buckets,
    made: u64,
    nonces: u64,
}

/// The moment of a question, by both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    pub(crate) wall: Timestamp,
    pub(crate) steady: Moment,
}

impl App {
    pub(crate) fn new(options: FlyOptions) -> Self {
        Self {
            options,
            switches: Switches::default(),
            machines: Vec::new(),
            asked: Vec::new(),
            buckets: Buckets::default(),
            made: 0,
            nonces: 0,
        }
    }

    /// Answers everything but `wait`.
    pub(crate) fn answer(&mut self, question: &Question, now: Now) -> Reply {
        let parts: Vec<&str> = question.path.iter().map(String::as_str).collect();
        let ["v1", "apps", app, "machines", rest @ ..] = parts.as_slice() else {
            return Reply::text(404, "404 page not found");
        };
        if *app != self.options.app || self.switches.no_app {
            return error(404, "app not found");
        }
        match (question.method.as_str(), rest) {
            ("GET", []) => self.list(question, now),
            ("POST", []) => self.create(question, now),
            (method, [id, action @ ..]) => {
                let action = action.first().copied().unwrap_or_default();
                self.on_machine(method, id, action, question, now)
            }
            _ => Reply::text(405, "method not allowed"),
        }
    }

    /// Whether somebody asks too often: plain text.
    pub(crate) fn throttled(&mut self, question: &Question, now: Now) -> Option<Reply> {
        if !self.options.is_limited {
            return None;
        }
        let is_read = question.method == "GET" && question.path.len() == 5;
        let limit = if is_read { READS } else { ACTIONS };
        let wait = self.buckets.take(question.line(), limit, now.steady).err()?;
        let reply = Reply::text(429, &format!("rate limit exceeded, wait {wait:?}"));
        Some(match self.switches.retry_after {
            Some(seconds) => reply.with("retry-after", seconds.to_string()),
            None => reply,
        })
    }

    pub(crate) fn is_unreachable(&self, id: &str) -> bool {
        self.switches.unreachable.iter().any(|one| one == id)
    }

    pub(crate) fn find(&mut self, id: &str) -> Option<&mut Machine> {
        self.machines.iter_mut().find(|machine| machine.id == id)
    }

    /// Reads a machine: what passes gets on, where its host can be reached.
    pub(crate) fn read(&mut self, id: &str, now: Now) -> Option<Machine> {
        let is_unreachable = self.is_unreachable(id);
        let machine = self.find(id)?;
        let seen = machine.clone();
        if !is_unreachable {
            machine.read(now.wall);
        }
        Some(seen)
    }

    fn list(&mut self, question: &Question, now: Now) -> Reply {
        if self.switches.lists_fail {
            return error(503, "unavailable: try again later");
        }
        if self.switches.empty_lists {
            return Reply::json(200, &json!([]));
        }
        let with_deleted = question.parameter("include_deleted") == Some("true");
        let omitted = self.switches.omitted.clone();
        let is_listed = |one: &&Machine| {
            is_asked_for(one, question)
                && omitted.as_ref() != Some(&one.id)
                && (with_deleted || one.state != State::Destroyed)
        };
        let ids: Vec<String> =
            self.machines.iter().filter(is_listed).map(|one| one.id.clone()).collect();
        let mut listed = Vec::new();
        for id in ids {
            let is_unreachable = self.is_unreachable(&id);
            listed.extend(self.read(&id, now).map(|seen| seen.json(is_unreachable)));
        }
        Reply::json(200, &Value::Array(listed))
    }

    fn create(&mut self, question: &Question, now: Now) -> Reply {
        let body = question.json();
        let config = body.get("config").cloned().unwrap_or_default();
        if config.get("image").and_then(Value::as_str).is_none_or(str::is_empty) {
            return error(422, "invalid config.image: image is required");
        }
        if self.switches.no_capacity || self.machines.len() >= MAX_MACHINES {
            let message = "insufficient_capacity: no host in the region has room";
            return Reply::json(
                412,
                &json!({ "error": message, "status": "insufficient_capacity" }),
            );
        }
        if let Some(left) = self.switches.creates_dropped.checked_sub(1) {
            self.switches.creates_dropped = left;
            return error(408, "deadline_exceeded: context deadline exceeded");
        }
        let name = body.get("name").and_then(Value::as_str).map(ToOwned::to_owned);
        let is_taken =
            |one: &&Machine| Some(&one.name) == name.as_ref() && one.state != State::Destroyed;
        if let Some(other) = self.machines.iter().find(is_taken) {
            let (id, name) = (&other.id, &other.name);
            let message = format!(
                "already_exists: unique machine name violation, machine ID {id} already exists with name \"{name}\""
            );
            return Reply::json(409, &json!({ "error": message, "status": "name_taken" }));
        }
        let machine = self.make(name, &body, config, now);
        let reply = Reply::json(200, &machine.json(false));
        self.machines.push(machine);
        match self.switches.creates_lost.checked_sub(1) {
            Some(left) => {
                self.switches.creates_lost = left;
                error(408, "deadline_exceeded: context deadline exceeded")
            }
            None => reply,
        }
    }

    fn make(&mut self, name: Option<String>, body: &Value, config: Value, now: Now) -> Machine {
        self.made = self.made.saturating_add(1);
        let number = self.made;
        let region = body.get("region").and_then(Value::as_str).unwrap_or("fra").to_owned();
        let [_, _, high, low] = u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes();
        let mut machine = Machine {
            id: format!("d89{number:011x}"),
            name: name.unwrap_or_else(|| format!("quiet-sea-{number}")),
            region,
            instance_id: format!("01STANDIN{number:017X}"),
            version: 1,
            private_ip: format!("127.31.{high}.{low}"),
            config,
            state: State::Created,
            reads_left: self.options.start_reads,
            lingering: 0,
            restarts: 0,
            lease: None,
            created_at: now.wall,
            updated_at: now.wall,
            events: Vec::new(),
            boots: 0,
        };
        machine.tell("launch", "created", &Value::Null, now.wall);
        machine
    }

    fn on_machine(
        &mut self,
        method: &str,
        id: &str,
        action: &str,
        question: &Question,
        now: Now,
    ) -> Reply {
        let is_unreachable = self.is_unreachable(id);
        if method == "GET" && action.is_empty() {
            let seen = self.read(id, now);
            return seen.map_or_else(missing, |seen| Reply::json(200, &seen.json(is_unreachable)));
        }
        self.nonces = self.nonces.saturating_add(1);
        let nonce = format!("{:012x}", self.nonces);
        let options = self.options.clone();
        let times_out = self.switches.leases_time_out;
        let Some(machine) = self.find(id).filter(|one| one.state != State::Destroyed) else {
            return missing();
        };
        if times_out && method == "POST" && action == "lease" {
            return error(408, "deadline_exceeded: the host did not answer in time");
        }
        if method == "GET" && action == "lease" {
            return lease::shown(machine, 200, now.wall);
        }
        if let Some(held) = lease::held_by_other(machine, question, now.wall) {
            return held;
        }
        // It is marked, and carried out when the host is back.
        if is_unreachable && method == "DELETE" && action.is_empty() {
            machine.become_(State::Destroying, options.stop_reads, now.wall);
            return ok();
        }
        if is_unreachable {
            return error(503, "host unreachable: the machine's host does not answer");
        }
        match (method, action) {
            ("POST", "lease") => {
                let taken = lease::take(machine, question, nonce, now.wall);
                let lost = self.switches.leases_lost.checked_sub(1);
                lost.map_or(taken, |left| {
                    self.switches.leases_lost = left;
                    error(408, "deadline_exceeded: context deadline exceeded")
                })
            }
            ("DELETE", "lease") => {
                machine.lease = None;
                ok()
            }
            ("POST", "start") => start(machine, &options, now),
            ("POST", "stop") => stop(machine, &options, now),
            ("POST", "") => update(machine, question, &options, now),
            ("DELETE", "") => destroy(machine, question, &options, now),
            _ => Reply::text(404, "404 page not found"),
        }
    }
}

fn start(machine: &mut Machine, options: &FlyOptions, now: Now) -> Reply {
    let previous = machine.state.name();
    match machine.state {
        State::Started | State::Starting => {}
        State::Stopped | State::Failed => match machine.lingering.checked_sub(1) {
            Some(left) => {
                machine.lingering = left;
                return precondition(options, "machine still active, refusing to start");
            }
            None => machine.become_(State::Starting, options.start_reads, now.wall),
        },
        _ => {
            let message = format!("unable to start machine from current state: '{previous}'");
            return precondition(options, &message);
        }
    }
    Reply::json(200, &json!({ "previous_state": previous }))
}

/// It is answered at once, and done later.
fn stop(machine: &mut Machine, options: &FlyOptions, now: Now) -> Reply {
    match machine.state {
        State::Started | State::Starting => {
            machine.become_(State::Stopping, options.stop_reads, now.wall);
            machine.lingering = options.lingering_starts;
            machine.exit(0, false, true, now.wall);
            ok()
        }
        State::Stopping | State::Stopped | State::Failed => ok(),
        other => {
            let state = other.name();
            precondition(options, &format!("unable to stop machine from current state: '{state}'"))
        }
    }
}

fn update(machine: &mut Machine, question: &Question, options: &FlyOptions, now: Now) -> Reply {
    let body = question.json();
    let current = body.get("current_version").and_then(Value::as_str);
    if current.is_some_and(|current| current != machine.instance_id) {
        return error(409, "aborted: current_version does not match the machine's version");
    }
    if let Some(config) = body.get("config") {
        machine.config = config.clone();
    }
    machine.version = machine.version.saturating_add(1);
    machine.instance_id = format!("{}V{}", machine.instance_id, machine.version);
    machine.become_(State::Starting, options.start_reads, now.wall);
    Reply::json(200, &machine.json(false))
}

fn destroy(machine: &mut Machine, question: &Question, options: &FlyOptions, now: Now) -> Reply {
    let is_forced = question.parameter("force") == Some("true");
    if !is_forced && machine.state != State::Stopped {
        return precondition(options, "unable to destroy machine, not currently stopped");
    }
    machine.become_(State::Destroying, options.stop_reads, now.wall);
    ok()
}

fn is_asked_for(machine: &Machine, question: &Question) -> bool {
    question.query.iter().all(|(key, value)| match key.as_str() {
        "state" => machine.state.name() == value,
        "region" => machine.region == *value,
        key => match key.strip_prefix("metadata.") {
            Some(key) => machine.metadata(key) == Some(value),
            None => true,
        },
    })
}

fn ok() -> Reply {
    Reply::json(200, &json!({ "ok": true }))
}

pub(crate) fn missing() -> Reply {
    error(404, "machine not found")
}

fn precondition(options: &FlyOptions, message: &str) -> Reply {
    options.shape.reply(412, "failed_precondition", message)
}

pub(crate) fn error(status: u16, message: &str) -> Reply {
    Reply::json(status, &json!({ "error": message }))
}
