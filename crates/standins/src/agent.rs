//! A stand-in for the agent on a machine: it keeps nets, and does as it is told.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::Id;
use serde_json::{Value, json};

use crate::door::{Answering, Coming, Question, Reply};

/// The most nets.
const MAX_NETS: usize = 1_000;
/// The most results of a net that nobody has fetched; the oldest go first.
const MAX_RESULTS: usize = 1_000;
/// Five megabytes.
const HUGE: usize = 5 * 1024 * 1024;

/// Every run of every agent has another.
static BOOTS: AtomicU64 = AtomicU64::new(1);

/// How an agent behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Manner {
    /// As it should.
    #[default]
    Well,
    /// As it should, after this time.
    Slow(Duration),
    /// It never answers.
    Silent,
    /// What stands in front of it says that it is not there.
    BadGateway,
    /// It answers with something else than JSON.
    Garbage,
    /// It answers with five megabytes.
    Huge,
    /// It hangs up in the middle of an answer.
    HangsUp,
    /// It says that it is of this generation.
    Lying(i64),
    /// It is somebody else's health endpoint.
    Stranger,
}

/// An agent, without its port.
#[derive(Debug)]
pub struct Agent(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    worker: String,
    generation: i64,
    token: String,
    boot: u64,
    manner: Manner,
    nets: BTreeMap<String, Net>,
    asked: u64,
}

#[derive(Debug, Default)]
struct Net {
    generation: i64,
    /// The number of the next result.
    next: u64,
    results: BTreeMap<u64, Value>,
}

impl Agent {
    /// An agent of a worker that knows us by this token.
    #[must_use]
    pub fn new(worker: &str, generation: i64, token: &str) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Inner {
            worker: worker.to_owned(),
            generation,
            token: token.to_owned(),
            boot: BOOTS.fetch_add(1, Ordering::Relaxed),
            manner: Manner::Well,
            nets: BTreeMap::new(),
            asked: 0,
        })))
    }

    /// Behaves like this from now on.
    pub fn behave(&self, manner: Manner) {
        self.lock().manner = manner;
    }

    /// Begins anew: everything in memory is gone.
    pub fn reboot(&self) {
        let mut inner = self.lock();
        inner.boot = BOOTS.fetch_add(1, Ordering::Relaxed);
        inner.nets.clear();
    }

    /// How often it was asked.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.lock().asked
    }

    /// The nets that are loaded.
    #[must_use]
    pub fn loaded(&self) -> Vec<String> {
        self.lock().nets.keys().cloned().collect()
    }

    /// Forgets a net, as one does that lost it.
    pub fn lose(&self, net: &str) {
        self.lock().nets.remove(net);
    }

    /// A net finds something.
    pub fn find(&self, net: &str, result: Value) {
        if let Some(net) = self.lock().nets.get_mut(net) {
            net.next = net.next.saturating_add(1);
            net.results.insert(net.next, result);
            if net.results.len() > MAX_RESULTS {
                net.results.pop_first();
            }
        }
    }

    /// Answers a question.
    #[must_use]
    pub fn reply(&self, question: &Question) -> Reply {
        let mut inner = self.lock();
        inner.asked = inner.asked.saturating_add(1);
        match inner.manner {
            Manner::BadGateway => Reply::text(502, "Bad Gateway"),
            Manner::Garbage => Reply::text(200, "<html>\u{fffd} hello"),
            Manner::Huge => Reply::json(200, &json!({ "status": "x".repeat(HUGE) })),
            Manner::Stranger => Reply::json(200, &json!({ "status": "UP" })),
            manner => inner.route(question).coming(match manner {
                Manner::Slow(time) => Coming::After(time),
                Manner::Silent => Coming::Never,
                Manner::HangsUp => Coming::Half,
                _ => Coming::AtOnce,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answering for Agent {
    fn answer(self: Arc<Self>, question: Question) -> BoxFuture<'static, Reply> {
        Box::pin(async move { self.reply(&question) })
    }
}

impl Inner {
    fn route(&mut self, question: &Question) -> Reply {
        if question.bearer() != Some(self.token.as_str()) {
            return error(401, "unauthorized", "The token is missing or wrong");
        }
        let parts: Vec<&str> = question.path.iter().map(String::as_str).collect();
        match (question.method.as_str(), parts.as_slice()) {
            ("GET", ["health"]) => self.health(),
            ("PUT", ["nets", id]) => self.load(id, &question.json()),
            ("DELETE", ["nets", id]) => self.unload(id, question.parameter("generation")),
            ("GET", ["nets", id, "results"]) => self.results(id, question.parameter("after")),
            _ => error(404, "not_found", "There is nothing here"),
        }
    }

    fn boot_id(&self) -> String {
        format!("00000000-0000-7000-8000-{:012x}", self.boot)
    }

    fn health(&self) -> Reply {
        let generation = match self.manner {
            Manner::Lying(generation) => generation,
            _ => self.generation,
        };
        let loaded =
            self.nets.iter().map(|(id, net)| json!({ "id": id, "generation": net.generation }));
        Reply::json(
            200,
            &json!({
                "agent": "mainstay-agent",
                "status": "ok",
                "worker_id": self.worker,
                "boot_id": self.boot_id(),
                "generation": generation,
                "loaded_nets": loaded.collect::<Vec<_>>(),
                "checks_run": self.asked,
                "uptime_s": self.asked,
            }),
        )
    }

    fn load(&mut self, id: &str, body: &Value) -> Reply {
        let generation = body.get("generation").and_then(Value::as_i64);
        let (Some(generation), true) = (generation, id.parse::<Id>().is_ok()) else {
            return error(400, "invalid_request", "A net has an id and a generation");
        };
        if body.get("definition").is_none_or(|definition| !definition.is_object()) {
            return error(422, "invalid_net", "The definition is no object");
        }
        if self.nets.len() >= MAX_NETS && !self.nets.contains_key(id) {
            return error(422, "too_many_nets", "There are too many nets");
        }
        if let Some(newer) = self.newer_than(id, generation) {
            return newer;
        }
        let net = self.nets.entry(id.to_owned()).or_default();
        net.generation = generation;
        Reply::json(200, &json!({ "id": id, "generation": generation }))
    }

    fn unload(&mut self, id: &str, generation: Option<&str>) -> Reply {
        let Some(generation) = generation.and_then(|text| text.parse().ok()) else {
            return error(400, "invalid_request", "The generation is missing");
        };
        if let Some(newer) = self.newer_than(id, generation) {
            return newer;
        }
        self.nets.remove(id);
        Reply { headers: Vec::new(), ..Reply::text(204, "") }
    }

    fn results(&mut self, id: &str, after: Option<&str>) -> Reply {
        let after = after.and_then(|text| text.parse().ok()).unwrap_or(0);
        let boot_id = self.boot_id();
        let Some(net) = self.nets.get_mut(id) else {
            return error(404, "no_such_net", "The net is not loaded");
        };
        net.results.retain(|seq, _| *seq > after);
        let generation = net.generation;
        let results = net
            .results
            .iter()
            .map(|(seq, result)| json!({ "seq": seq, "generation": generation, "result": result }));
        let results: Vec<Value> = results.collect();
        let body =
            json!({ "boot_id": boot_id, "results": results, "has_more": false, "dropped": 0 });
        Reply::json(200, &body)
    }

    fn newer_than(&self, id: &str, generation: i64) -> Option<Reply> {
        let current = self.nets.get(id)?.generation;
        let body = json!({ "error": "Stale generation", "code": "stale", "generation": current });
        (current > generation).then(|| Reply::json(409, &body))
    }
}

fn error(status: u16, code: &str, message: &str) -> Reply {
    Reply::json(status, &json!({ "error": message, "code": code }))
}
