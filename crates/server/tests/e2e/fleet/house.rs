//! A server with a fleet, and who asks it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use mainstay_fleet::agents::AgentCard;
use mainstay_fleet::agents::card::ProcessId;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::follower::Follower;
use crate::client::{Answer, request, send};
use crate::people::{EMAIL, PASSWORD, post, set_up, sign_in, signed};
use crate::process::{PATIENCE, Server, mainstay, send_signal};

/// A sweep that never comes while a test runs, but for the first.
pub(crate) const NEVER: &str = "300000";
/// One that comes at once.
pub(crate) const OFTEN: &str = "300";
const LOOK: Duration = Duration::from_millis(50);

/// A server with a fleet. Its agents end with it.
pub(crate) struct House {
    pub(crate) folder: TempDir,
    pub(crate) server: Server,
    pub(crate) token: String,
    variables: Vec<(String, String)>,
}

impl House {
    /// A server that looks at its workers every so many milliseconds.
    pub(crate) fn new(sweep_ms: &str) -> Self {
        Self::with(sweep_ms, &[])
    }

    /// The same with more variables.
    pub(crate) fn with(sweep_ms: &str, variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let mut variables: Vec<_> = variables.iter().map(own).collect();
        variables.push(own(&("MAINSTAY_FLEET_SWEEP_MS", sweep_ms)));
        // What a runner that was killed held is soon another's, unless a test wants it otherwise.
        let ttl = "MAINSTAY_JOB_LOCK_TTL_SECONDS";
        if !variables.iter().any(|(name, _)| name == ttl) {
            variables.push(own(&(ttl, "2")));
        }
        let server = start(&folder, &variables);
        let session = signed(&server.address, &set_up(&server));
        let token = new_token(&server.address, &session);
        Self { folder, server, token, variables }
    }

    /// What the next server is told beside.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// Signs in again, after every session and token has ended.
    pub(crate) fn sign_in(&mut self) {
        let address = &self.server.address;
        let session = signed(address, &sign_in(address, EMAIL, PASSWORD));
        self.token = new_token(address, &session);
    }

    /// Ends the server by this signal, and starts another on the same data.
    pub(crate) fn restart(&mut self, signal: &str) {
        self.server.signal(signal);
        self.server.wait();
        self.server = start(&self.folder, &self.variables);
    }

    /// Starts another server after one that has ended.
    pub(crate) fn restart_dead(&mut self) {
        self.server = start(&self.folder, &self.variables);
    }

    pub(crate) fn follow(&self) -> Follower {
        Follower::new(&self.server.address, &self.token)
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let headers = format!("authorization: Bearer {}\r\n", self.token);
        let answer = request(&self.server.address, "GET", path, &headers);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let headers = format!("authorization: Bearer {}\r\n", self.token);
        post(&self.server.address, path, &headers, body)
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        let address = &self.server.address;
        let head = format!("DELETE {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
        let text = format!("{head}authorization: Bearer {}\r\n\r\n", self.token);
        send(address, text.as_bytes()).unwrap()
    }

    /// A worker without a machine.
    pub(crate) fn worker(&self, provider: &str) -> String {
        self.worker_called("w", provider)
    }

    pub(crate) fn worker_called(&self, name: &str, provider: &str) -> String {
        let body = json!({"name": name, "provider": provider, "category": "persistent"});
        let made = self.post("/api/workers", &body);
        assert_eq!(made.status, 201, "{}", made.text());
        made.json()["id"].as_str().unwrap().to_owned()
    }

    /// A worker that is ready.
    pub(crate) fn ready(&self, provider: &str) -> String {
        let id = self.worker(provider);
        self.operate(&id, "provision", "ready");
        id
    }

    /// Does something to a worker, which stands there afterwards.
    pub(crate) fn operate(&self, worker: &str, what: &str, status: &str) -> Value {
        let done = self.post(&format!("/api/workers/{worker}/{what}"), &json!({}));
        let told = (done.status, done.json()["status"].as_str().map(ToOwned::to_owned));
        assert_eq!(told, (200, Some(status.to_owned())), "{what}: {}", done.text());
        done.json()
    }

    /// A net on a worker, not loaded.
    pub(crate) fn net(&self, name: &str, worker: &str) -> String {
        let body = json!({"name": name, "definition": {"services": []}, "worker_id": worker});
        let made = self.post("/api/nets", &body);
        assert_eq!(made.status, 201, "{}", made.text());
        made.json()["id"].as_str().unwrap().to_owned()
    }

    /// A net that is loaded.
    pub(crate) fn loaded(&self, name: &str, worker: &str) -> String {
        let id = self.net(name, worker);
        let done = self.post(&format!("/api/nets/{id}/load"), &json!({}));
        assert_eq!((done.status, &done.json()["load_state"]), (200, &json!("loaded")));
        id
    }

    pub(crate) fn status(&self, worker: &str) -> String {
        let shown = self.get(&format!("/api/workers/{worker}"));
        shown["status"].as_str().unwrap().to_owned()
    }

    pub(crate) fn load_state(&self, net: &str) -> String {
        let shown = self.get(&format!("/api/nets/{net}"));
        shown["load_state"].as_str().unwrap().to_owned()
    }

    /// Waits until a worker stands there.
    pub(crate) fn until_status(&self, worker: &str, status: &str) {
        let began = Instant::now();
        while self.status(worker) != status {
            assert!(began.elapsed() < PATIENCE, "it is {}", self.status(worker));
            std::thread::sleep(LOOK);
        }
    }

    /// The process of the one agent that lives on this host.
    pub(crate) fn agent(&self) -> ProcessId {
        let mut living = self.agents();
        assert_eq!(living.len(), 1, "{living:?}");
        living.remove(0)
    }

    /// The agents that live on this host.
    pub(crate) fn agents(&self) -> Vec<ProcessId> {
        let homes = std::fs::read_dir(self.homes()).into_iter().flatten().flatten();
        let cards = homes.filter_map(|home| AgentCard::read(&home.path()));
        cards.map(|card| card.process).filter(ProcessId::is_alive).collect()
    }

    /// Kills an agent with -9.
    pub(crate) fn kill(&self, agent: &ProcessId) {
        send_signal(u32::try_from(agent.pid).unwrap(), "KILL");
        let began = Instant::now();
        while agent.is_alive() {
            assert!(began.elapsed() < PATIENCE, "it lives on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// How many folders agents have left on this host.
    pub(crate) fn homes_left(&self) -> usize {
        std::fs::read_dir(self.homes()).map_or(0, Iterator::count)
    }

    fn homes(&self) -> PathBuf {
        self.folder.path().join("mainstay-data").join("agents")
    }
}

impl Drop for House {
    fn drop(&mut self) {
        // An agent outlives its server, and should not outlive its test.
        self.server.end();
        for agent in self.agents() {
            send_signal(u32::try_from(agent.pid).unwrap_or_default(), "KILL");
        }
    }
}

fn new_token(address: &str, session: &str) -> String {
    let ask = json!({"name": "fleet", "scope": "write"});
    let made = post(address, "/api/account/tokens", session, &ask);
    made.json()["token"].as_str().unwrap().to_owned()
}

fn start(folder: &TempDir, variables: &[(String, String)]) -> Server {
    let mut command = mainstay(folder.path());
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    Server::spawn(command)
}
