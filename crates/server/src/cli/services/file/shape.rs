//! What a file may hold.

use std::collections::BTreeMap;

use mainstay_monitor::desired::{DesiredAlias, DesiredLink, DesiredService, Document, HeaderText};
use mainstay_yaml::{Limits, Step, Unread};
use serde::Deserialize;
use serde_json::Value;

use super::header::{Given, Values};

/// Far more than there may be items.
pub(super) const LIMITS: Limits = Limits { nodes: 4_000_000, replayed: 1_000_000, depth: 64 };

/// A file, as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape {
    version: u32,
    services: Option<Vec<Service>>,
    aliases: Option<Vec<DesiredAlias>>,
    links: Option<Vec<DesiredLink>>,
}

/// A service, as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Service {
    name: String,
    team: Option<String>,
    health_endpoint: String,
    format: Option<String>,
    schema_config: Option<Value>,
    poll_interval_ms: Option<i64>,
    timeout_ms: Option<i64>,
    headers: Option<BTreeMap<String, Given>>,
    is_active: Option<bool>,
}

/// Reads YAML.
pub(super) fn parse(text: &str) -> Result<Shape, Unread> {
    mainstay_yaml::read(text, LIMITS)
}

impl Shape {
    /// The document, with every value of a header that the file gives; or why one can't be had, and
    /// the way to it.
    pub(super) fn document(self, values: &Values<'_>) -> Result<Document, (Vec<Step>, String)> {
        let mut services = Vec::new();
        for (index, service) in self.services.unwrap_or_default().into_iter().enumerate() {
            services.push(service.desired(index, values)?);
        }
        Ok(Document {
            version: self.version,
            services,
            aliases: self.aliases.unwrap_or_default(),
            links: self.links.unwrap_or_default(),
        })
    }
}

impl Service {
    fn desired(
        self,
        index: usize,
        values: &Values<'_>,
    ) -> Result<DesiredService, (Vec<Step>, String)> {
        let mut headers = BTreeMap::new();
        for (name, given) in self.headers.unwrap_or_default() {
            let value = values.find(given).map_err(|reason| {
                let keys = ["headers", &name].map(|key| Step::Key(key.to_owned()));
                let path = [Step::Key("services".to_owned()), Step::Index(index)];
                (path.into_iter().chain(keys).collect(), reason)
            })?;
            headers.insert(name, HeaderText(value));
        }
        Ok(DesiredService {
            name: self.name,
            team: self.team,
            health_endpoint: self.health_endpoint,
            format: self.format,
            schema_config: self.schema_config,
            poll_interval_ms: self.poll_interval_ms,
            timeout_ms: self.timeout_ms,
            headers,
            is_active: self.is_active,
        })
    }
}
