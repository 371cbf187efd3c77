//! What a net holds, read once for the server that keeps it and for the agent that runs it.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use mainstay_base::{Id, Secret};
use mainstay_fleet::agent::BadNet;
use mainstay_fleet::model::location::{MAX_CHECK_NAME, compared};
use mainstay_fleet::{CheckKind, Neighbours, PlannedCheck, Planner, Registry};
use mainstay_journeys::Journey;
use mainstay_monitor::services::{AddressError, Invalid};
use mainstay_monitor::{Definition, Draft, Services};
use mainstay_store::{StoreError, Tx};
use serde::Deserialize;
use serde_json::Value;

/// The most checks of one net.
const MAX_CHECKS: usize = mainstay_fleet::agent::checks::MAX_CHECKS;
/// The most mistakes of a journey that are told.
const MAX_TOLD: usize = 3;

/// What is said of a password in an address: a net has no place for one, its headers neither.
const OPEN: &str = "with a name or a password in it, which everyone who reads the net would see; take it out, \
    and keep it out of headers too: a net is stored and shown as it is written. What needs a password the \
    server can watch by itself, as a service: there headers are kept sealed";

/// A net whose definition holds.
#[derive(Debug)]
pub(crate) struct NetPlan {
    pub(crate) services: Vec<Definition>,
    pub(crate) journeys: Vec<Journey>,
}

/// What the fleet asks of the monitor and of journeys.
pub(crate) fn neighbours() -> Neighbours {
    Neighbours { planner: Arc::new(Rooms), registry: Arc::new(Rooms) }
}

/// A definition as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    services: Vec<WrittenService>,
    #[serde(default)]
    journeys: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenService {
    name: String,
    url: String,
    format: Option<String>,
    schema: Option<Value>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    interval_s: Option<i64>,
    timeout_s: Option<i64>,
}

impl NetPlan {
    /// Reads a definition.
    ///
    /// # Errors
    /// [`BadNet`] names the key and what is expected there.
    pub(crate) fn read(definition: &Value) -> Result<Self, BadNet> {
        let written: Written = serde_path_to_error::deserialize(definition)
            .map_err(|error| wrong(&error.path().to_string(), error.inner()))?;
        let count = written.services.len().saturating_add(written.journeys.len());
        if count > MAX_CHECKS {
            let text =
                format!("it has {count} checks, and {MAX_CHECKS} is the most; make several nets");
            return Err(BadNet(text));
        }
        let services: Vec<Definition> =
            written.services.into_iter().enumerate().map(service).collect::<Result<_, _>>()?;
        let journeys: Vec<Journey> =
            written.journeys.iter().enumerate().map(journey).collect::<Result<_, _>>()?;
        let plan = Self { services, journeys };
        plan.refuse_twins()?;
        Ok(plan)
    }

    /// The checks, as the fleet knows them.
    pub(crate) fn checks(&self) -> Vec<PlannedCheck> {
        let service = |one: &Definition| PlannedCheck {
            kind: CheckKind::Service,
            name: one.name().to_owned(),
            url: Some(one.url().to_owned()),
            about: vec![compared(one.name())],
            every: one.interval(),
        };
        let journey = |one: &Journey| PlannedCheck {
            kind: CheckKind::Journey,
            name: one.name.clone(),
            url: None,
            about: one.touches.iter().map(|name| compared(name)).collect(),
            every: one.every.unwrap_or_default(),
        };
        self.services.iter().map(service).chain(self.journeys.iter().map(journey)).collect()
    }

    /// What was found is told by name: no two of a kind may share one.
    fn refuse_twins(&self) -> Result<(), BadNet> {
        let names = |list: &str, names: &mut dyn Iterator<Item = &str>| {
            let mut seen = BTreeMap::new();
            for (at, name) in names.enumerate() {
                if let Some(first) = seen.insert(compared(name), name) {
                    let text = match first == name {
                        true => format!("another one is called {name} too; give it another name"),
                        false => format!(
                            "another one is called {first}, which is the same name; give it another"
                        ),
                    };
                    return Err(wrong(&format!("{list}[{at}].name"), &text));
                }
            }
            Ok(())
        };
        names("services", &mut self.services.iter().map(Definition::name))?;
        names("journeys", &mut self.journeys.iter().map(|one| one.name.as_str()))
    }
}

fn service((at, written): (usize, WrittenService)) -> Result<Definition, BadNet> {
    let way = |key: &str| format!("services[{at}].{key}");
    if written.name.chars().nth(MAX_CHECK_NAME).is_some() {
        let text = format!("longer than {MAX_CHECK_NAME} characters; shorten it");
        return Err(wrong(&way("name"), &text));
    }
    let millis = |seconds: Option<i64>| seconds.map(|given| given.saturating_mul(1_000));
    let headers = written.headers.into_iter().map(|(name, value)| (name, Secret::new(value)));
    let draft = Draft {
        name: written.name,
        health_endpoint: written.url,
        format: written.format,
        schema_config: written.schema,
        poll_interval_ms: millis(written.interval_s),
        timeout_ms: millis(written.timeout_s),
        headers: headers.collect(),
        ..Draft::default()
    };
    Definition::check(draft).map_err(|invalid| match invalid {
        Invalid::Name(error) => wrong(&way("name"), &error),
        Invalid::HealthEndpoint(AddressError::Credentials) => wrong(&way("url"), &OPEN),
        Invalid::HealthEndpoint(error) => wrong(&way("url"), &error),
        // A net calls it otherwise than a service.
        Invalid::Format(error) => wrong(&way("format"), &in_a_net(&error)),
        Invalid::SchemaConfig(error) => wrong(&way("schema"), &in_a_net(&error)),
        Invalid::PollInterval { .. } => wrong(&way("interval_s"), &"give from 5 to 3600 seconds"),
        Invalid::Timeout { .. } => wrong(&way("timeout_s"), &"give from 1 to 30 seconds"),
        Invalid::Headers(error) => wrong(&way("headers"), &error),
        other @ Invalid::Team(_) => wrong(&way("name"), &other),
    })
}

/// What is said of a service's schema, with the key that it has in a net.
fn in_a_net(error: &dyn std::fmt::Display) -> String {
    error.to_string().replace("schema_config", "schema")
}

/// A journey is the text of its file, or the same as an object.
fn journey((at, written): (usize, &Value)) -> Result<Journey, BadNet> {
    let way = format!("journeys[{at}]");
    let text = match written {
        Value::String(text) => text.clone(),
        // JSON is YAML too.
        Value::Object(_) => written.to_string(),
        _ => return Err(wrong(&way, &"give the text of a journey file, or the same as an object")),
    };
    let journey = Journey::parse(&text).map_err(|mistakes| {
        let is_file = written.is_string();
        let told = mistakes.iter().take(MAX_TOLD).map(|mistake| {
            let place = if is_file {
                format!("line {}, column {}", mistake.line, mistake.column)
            } else {
                String::new()
            };
            let parts = [place.as_str(), &mistake.path, &mistake.message];
            let told =
                parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
            mistake
                .nearest
                .iter()
                .fold(told, |told, name| format!("{told}; perhaps {name} is meant"))
        });
        wrong(&way, &told.collect::<Vec<_>>().join(" / "))
    })?;
    if journey.every.is_none() {
        let text = "a net runs its journeys by themselves; say how often, such as every: 1m";
        return Err(wrong(&format!("{way}.every"), &text));
    }
    if let Some(name) = journey.secrets.first() {
        let text = format!(
            "the journey needs the secret {name}, and secrets never leave the server; run it there, \
             or write a journey without secrets"
        );
        return Err(wrong(&way, &text));
    }
    if let Some((name, _)) = journey.vars.iter().find(|(_, value)| value.is_null()) {
        let text = "it has no value, and nobody is there to give one; write it down";
        return Err(wrong(&format!("{way}.vars.{name}"), &text));
    }
    Ok(journey)
}

fn wrong(way: &str, what: &dyn std::fmt::Display) -> BadNet {
    match way {
        "" | "." => BadNet(what.to_string()),
        way => BadNet(format!("{way}: {what}")),
    }
}

/// The rooms beside the fleet.
struct Rooms;

impl Planner for Rooms {
    fn plan(&self, definition: &Value) -> Result<Vec<PlannedCheck>, BadNet> {
        NetPlan::read(definition).map(|plan| plan.checks())
    }
}

impl Registry for Rooms {
    fn find<'a>(
        &'a self,
        tx: &'a mut Tx,
        name: &'a str,
        url: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<Id>, StoreError>> {
        Box::pin(Services::named(tx, name, url))
    }
}

#[cfg(test)]
#[path = "net_tests.rs"]
mod tests;
