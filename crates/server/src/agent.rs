//! What an agent runs: the services of a net, polled as the monitor polls them.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::{Clock, Secret};
use mainstay_fleet::agent::{BadNet, Check, Checker};
use mainstay_monitor::observe::web::{MAX_ANSWER_BYTES, MAX_REDIRECTS};
use mainstay_monitor::{Format, Report};
use mainstay_outbound::{Web, WebRequest};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

/// How often a service is polled that says nothing else.
const EVERY: u64 = 30;
/// How often at most and at least, in seconds.
const EVERY_BOUNDS: std::ops::RangeInclusive<u64> = 5..=86_400;
/// How long a service has that says nothing else.
const TIMEOUT: u64 = 10;
/// How long at least and at most, in seconds.
const TIMEOUT_BOUNDS: std::ops::RangeInclusive<u64> = 1..=30;
/// The longest name of a service.
const MAX_NAME: usize = 200;
/// What these polls are called in the metrics of the outbound room.
const PURPOSE: &str = "poll";

/// Makes checks of the services of a net.
#[derive(Clone)]
pub(crate) struct Polls {
    pub(crate) web: Web,
    pub(crate) clock: Arc<dyn Clock>,
}

/// What a net holds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Definition {
    #[serde(default)]
    services: Vec<Service>,
    #[serde(default)]
    journeys: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Service {
    name: String,
    url: String,
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    schema: Option<Value>,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    interval_s: Option<u64>,
    #[serde(default)]
    timeout_s: Option<u64>,
}

/// One service that is polled.
struct Poll {
    name: String,
    format: Format,
    request: WebRequest,
    every: Duration,
    web: Web,
    clock: Arc<dyn Clock>,
}

impl Checker for Polls {
    fn checks(&self, definition: &Value) -> Result<Vec<Arc<dyn Check>>, BadNet> {
        let read = Definition::deserialize(definition);
        let read = read.map_err(|error| BadNet(format!("the net can't be read: {error}")))?;
        if !read.journeys.is_empty() {
            let text = "this agent runs no journeys; load them on a worker of a newer version";
            return Err(BadNet(text.to_owned()));
        }
        let polls = read.services.into_iter().map(|service| self.poll(service));
        polls.map(|poll| poll.map(|poll| Arc::new(poll) as Arc<dyn Check>)).collect()
    }
}

impl Polls {
    fn poll(&self, service: Service) -> Result<Poll, BadNet> {
        let name: String = service.name.trim().chars().take(MAX_NAME).collect();
        let bad = |why: String| BadNet(format!("the service {name} can't be polled: {why}"));
        let url = Url::parse(&service.url).map_err(|error| bad(error.to_string()))?;
        let schema = service.schema.as_ref().map(Value::to_string);
        let format = service.format.as_deref().unwrap_or(Format::default().name());
        let format =
            Format::parse(format, schema.as_deref()).map_err(|error| bad(error.to_string()))?;
        let within = |given: Option<u64>, otherwise, bounds: std::ops::RangeInclusive<u64>| {
            Duration::from_secs(given.unwrap_or(otherwise).clamp(*bounds.start(), *bounds.end()))
        };
        let timeout = within(service.timeout_s, TIMEOUT, TIMEOUT_BOUNDS);
        let every = within(service.interval_s, EVERY, EVERY_BOUNDS);
        let mut request = WebRequest::get(PURPOSE, &url)
            .timeout(timeout)
            .max_body(MAX_ANSWER_BYTES)
            .max_redirects(MAX_REDIRECTS);
        for (name, value) in service.headers {
            request = request.header(name, Secret::new(value));
        }
        let request = request.build().map_err(|error| bad(error.to_string()))?;
        let (web, clock) = (self.web.clone(), Arc::clone(&self.clock));
        Ok(Poll { name, format, request, every, web, clock })
    }
}

impl Check for Poll {
    fn every(&self) -> Duration {
        self.every
    }

    fn run(&self) -> BoxFuture<'_, Value> {
        Box::pin(async move {
            let (at, began) = (self.clock.now(), self.clock.moment());
            let read = self.ask().await;
            let latency = self.clock.moment().since(began);
            let (is_ok, dependencies, error) = match read {
                Ok(report) => (true, dependencies(&report), Value::Null),
                Err((kind, message)) => {
                    (false, Vec::new(), json!({ "kind": kind, "message": message }))
                }
            };
            json!({
                "service": self.name,
                "at": at,
                "ok": is_ok,
                "latency_ms": u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
                "dependencies": dependencies,
                "error": error,
            })
        })
    }
}

impl Poll {
    async fn ask(&self) -> Result<Report, (&'static str, String)> {
        let fetched = self.web.fetch(&self.request).await;
        let answer = fetched.map_err(|error| (error.kind().name(), error.message().to_owned()))?;
        if !answer.is_success() {
            let text = format!("the endpoint answered with status {}", answer.status);
            return Err(("http_status", text));
        }
        let read = self.format.read(&answer.body, self.clock.now());
        read.map_err(|error| ("bad_body", error.to_string()))
    }
}

fn dependencies(report: &Report) -> Vec<Value> {
    let one = |dependency: &mainstay_monitor::Reported| {
        json!({
            "name": dependency.name,
            "status": dependency.status(),
            "latency_ms": u64::try_from(dependency.latency.as_millis()).unwrap_or(u64::MAX),
            "error_message": dependency.error_message,
        })
    };
    report.dependencies.iter().map(one).collect()
}
