//! Asks agents by HTTP: bounded, in time, and only who proves to be the one.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mainstay_base::{Clock, Id, Secret};
use mainstay_outbound::web::WebRequestBuilder;
use mainstay_outbound::{
    FetchError, FetchErrorKind, Policy, Web, WebAnswer, WebError, WebOptions, WebRequest,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use url::Url;

use super::answer::{AGENT, AgentHealth, MAX_NETS, MAX_PAGE, NetResults};
use super::door::AgentDoor;
use super::error::AgentError;
use super::{Agents, Asked, NetOrder, measure};
use crate::providers::error::told;

/// How long a call may take, unless somebody says otherwise.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// The longest answer.
pub const MAX_ANSWER: usize = 2 * 1024 * 1024;

/// A NUL as JSON writes it, and what stands in its place.
const NUL: &str = "\\u0000";
const REPLACEMENT: &str = "\\ufffd";

/// What an agent says that has unloaded a net.
const NO_CONTENT: u16 = 204;

/// What these calls are called in the metrics of the outbound room.
const PURPOSE: &str = "agent";

/// Asks agents by HTTP.
#[derive(Debug, Clone)]
pub struct WebAgents {
    web: Web,
    timeout: Duration,
}

/// What an agent says with a no.
#[derive(Debug, Default, Deserialize)]
struct No {
    #[serde(default)]
    code: String,
    #[serde(default)]
    error: String,
    #[serde(default)]
    generation: Option<i64>,
}

impl WebAgents {
    /// Prepares to ask. Call it inside of the runtime.
    ///
    /// # Errors
    /// [`WebError`] when calling can't be started.
    pub fn new(clock: Arc<dyn Clock>) -> Result<Self, WebError> {
        // A provider that the operator named says where an agent is: on this host or a private network.
        let policy = Policy { private: true, ..Policy::default() };
        Ok(Self { web: Web::new(&WebOptions::new(policy, clock)?)?, timeout: TIMEOUT })
    }

    /// With so much time for each call.
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    async fn ask_health(&self, door: &AgentDoor) -> Result<AgentHealth, AgentError> {
        let answer = self.ask(WebRequest::get(PURPOSE, &at(door, &["health"])), door).await?;
        let health: AgentHealth = read(&answer)?;
        if health.agent != AGENT || health.worker_id != door.worker {
            return Err(AgentError::Foreign("it is of another worker".to_owned()));
        }
        if health.loaded_nets.len() > MAX_NETS {
            return Err(AgentError::Foreign(format!("it names more than {MAX_NETS} nets")));
        }
        Ok(health)
    }

    async fn ask_load(&self, door: &AgentDoor, net: &NetOrder) -> Result<(), AgentError> {
        let body = json!({ "generation": net.generation, "definition": net.definition });
        let url = at(door, &["nets", &net.id.to_string()]);
        let json = Secret::new("application/json".to_owned());
        let request = WebRequest::put(PURPOSE, &url, body.to_string().into_bytes());
        let answer = self.ask(request.header("Content-Type", json), door).await?;
        // Somebody else may say yes to everything.
        let loaded: super::answer::LoadedNet = read(&answer)?;
        let is_that = loaded.id == net.id && loaded.generation == net.generation;
        let foreign = || AgentError::Foreign("it loaded something else".to_owned());
        if is_that { Ok(()) } else { Err(foreign()) }
    }

    async fn ask_unload(
        &self,
        door: &AgentDoor,
        net: Id,
        generation: i64,
    ) -> Result<(), AgentError> {
        let mut url = at(door, &["nets", &net.to_string()]);
        url.query_pairs_mut().append_pair("generation", &generation.to_string());
        match self.ask(WebRequest::delete(PURPOSE, &url), door).await {
            // Somebody else may say yes to everything, and has more to say than nothing.
            Ok(answer) if answer.status != NO_CONTENT => {
                Err(AgentError::Foreign("it unloaded nothing".to_owned()))
            }
            Ok(_) | Err(AgentError::NoSuchNet) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn ask_results(
        &self,
        door: &AgentDoor,
        net: Id,
        after: u64,
    ) -> Result<NetResults, AgentError> {
        let mut url = at(door, &["nets", &net.to_string(), "results"]);
        url.query_pairs_mut().append_pair("after", &after.to_string());
        let answer = self.ask(WebRequest::get(PURPOSE, &url), door).await?;
        let found: NetResults = read(&answer)?;
        let is_in_order = found.results.is_sorted_by(|one, next| one.seq < next.seq);
        let begins_after = found.results.first().is_none_or(|first| first.seq > after);
        let fits = found.results.last().is_none_or(|last| i64::try_from(last.seq).is_ok());
        if found.results.len() > MAX_PAGE || !is_in_order || !begins_after || !fits {
            return Err(AgentError::Foreign("its results are in no order".to_owned()));
        }
        Ok(found)
    }

    async fn ask(
        &self,
        request: WebRequestBuilder,
        door: &AgentDoor,
    ) -> Result<WebAnswer, AgentError> {
        let bearer = Secret::new(format!("Bearer {}", door.token.expose()));
        let request = request
            .header("Authorization", bearer)
            .timeout(self.timeout)
            .max_body(MAX_ANSWER)
            .max_redirects(0)
            .build()
            .map_err(|error| AgentError::Unreachable(error.to_string()))?;
        let answer = self.web.fetch(&request).await.map_err(|error| failed(&error))?;
        if answer.is_success() { Ok(answer) } else { Err(refused(&answer)) }
    }
}

impl Agents for WebAgents {
    fn health<'a>(&'a self, door: &'a AgentDoor) -> Asked<'a, AgentHealth> {
        Box::pin(async move { measure::asked("health", self.ask_health(door).await) })
    }

    fn load<'a>(&'a self, door: &'a AgentDoor, net: &'a NetOrder) -> Asked<'a, ()> {
        Box::pin(async move { measure::asked("load", self.ask_load(door, net).await) })
    }

    fn unload<'a>(&'a self, door: &'a AgentDoor, net: Id, generation: i64) -> Asked<'a, ()> {
        Box::pin(
            async move { measure::asked("unload", self.ask_unload(door, net, generation).await) },
        )
    }

    fn results<'a>(&'a self, door: &'a AgentDoor, net: Id, after: u64) -> Asked<'a, NetResults> {
        Box::pin(async move { measure::asked("results", self.ask_results(door, net, after).await) })
    }
}

fn at(door: &AgentDoor, path: &[&str]) -> Url {
    let mut url = door.address.clone();
    if let Ok(mut parts) = url.path_segments_mut() {
        parts.pop_if_empty().extend(path);
    }
    url
}

fn read<T: DeserializeOwned>(answer: &WebAnswer) -> Result<T, AgentError> {
    // What reaches the store must hold no NUL, and in JSON it can only stand escaped.
    let text = std::str::from_utf8(&answer.body).ok().map(|text| text.replace(NUL, REPLACEMENT));
    let read = text.and_then(|text| serde_json::from_str(&text).ok());
    read.ok_or_else(|| AgentError::Foreign("its answer is none of an agent".to_owned()))
}

fn failed(error: &FetchError) -> AgentError {
    // What follows is advice for whoever watches a service.
    let message = told(error.message().split(';').next().unwrap_or_default());
    match error.kind() {
        // It answers, and with what no agent would send.
        FetchErrorKind::TooLarge | FetchErrorKind::RedirectBlocked => AgentError::Foreign(message),
        _ => AgentError::Unreachable(message),
    }
}

/// What a no means: only what an agent says itself is more than that nobody is there.
fn refused(answer: &WebAnswer) -> AgentError {
    let no = said(&answer.body);
    match (answer.status, no.code.as_str()) {
        (401, _) => AgentError::Denied,
        (409, "stale") => AgentError::Stale { current: no.generation },
        (404, "no_such_net") => AgentError::NoSuchNet,
        (400 | 413 | 422, code) if !code.is_empty() => AgentError::Refused(told(&no.error)),
        (status @ 500..=599, _) => {
            AgentError::Unreachable(format!("the answer has the status {status}"))
        }
        (status, _) => AgentError::Foreign(format!("the answer has the status {status}")),
    }
}

fn said(body: &Bytes) -> No {
    serde_json::from_slice(body).unwrap_or_default()
}
