//! What a file may hold.

use std::collections::BTreeMap;

use mainstay_monitor::desired::{DesiredAlias, DesiredLink, DesiredService, Document, HeaderText};
use serde::Deserialize;
use serde_json::Value;

use super::header::{Given, Values};
use super::place::Step;
use super::problem::Problem;

/// The most nodes of a file, with everything that its anchors stand for: far more than there may be
/// items.
const MAX_NODES: usize = 4_000_000;

/// The most nodes that anchors stand for, all in all.
const MAX_REPLAYED: usize = 1_000_000;

/// How deep a file may be.
const MAX_DEPTH: usize = 64;

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

/// How YAML is read. No error carries a part of the text.
pub(super) fn options() -> serde_saphyr::Options {
    within(MAX_REPLAYED)
}

fn within(max_replayed: usize) -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: MAX_NODES,
            max_events: MAX_NODES,
            max_depth: MAX_DEPTH,
            // Many may share one anchor: what they stand for is counted.
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: max_replayed },
        // `yes` and `on` are names that people give; true and false are what JSON says too.
        strict_booleans: true,
        with_snippet: false,
    }
}

/// Reads YAML.
pub(super) fn parse(text: &str) -> Result<Shape, Problem> {
    parse_within(text, MAX_REPLAYED)
}

/// Reads YAML whose anchors stand for so many nodes at most.
pub(super) fn parse_within(text: &str, max_replayed: usize) -> Result<Shape, Problem> {
    let mut path = Vec::new();
    let options = within(max_replayed);
    let read = serde_saphyr::with_deserializer_from_str_with_options(text, options, |reader| {
        serde_path_to_error::deserialize(reader).map_err(|error| {
            path = steps(error.path());
            error.into_inner()
        })
    });
    read.map_err(|error| Problem::new(path, &error))
}

fn steps(path: &serde_path_to_error::Path) -> Vec<Step> {
    use serde_path_to_error::Segment;
    let steps = path.iter().filter_map(|segment| match segment {
        Segment::Seq { index } => Some(Step::Index(*index)),
        Segment::Map { key } => Some(Step::Key(key.clone())),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    steps.collect()
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
