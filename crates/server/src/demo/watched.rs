//! What Mainstay watches of the company: the document that a user would apply.

use mainstay_monitor::desired::{DesiredAlias, DesiredService, Document, VERSION};
use mainstay_standins::{ALIASES, Company, Endpoint};

/// How often each service is asked: the shortest there is, so that nobody waits for news.
const INTERVAL_MS: i64 = 5_000;
/// How long one request may take: more than the slowest answer, and short enough for a host that hangs.
pub(super) const TIMEOUT_MS: i64 = 2_000;

/// The services with their aliases.
pub(super) fn services(company: &Company) -> Document {
    let aliases = ALIASES.iter().map(|alias| DesiredAlias {
        alias: alias.reported.to_owned(),
        canonical_name: alias.canonical.to_owned(),
    });
    Document {
        version: VERSION,
        services: company.endpoints().map(service).collect(),
        aliases: aliases.collect(),
        links: Vec::new(),
    }
}

fn service(endpoint: &Endpoint) -> DesiredService {
    let service = endpoint.service;
    DesiredService {
        name: service.name.to_owned(),
        team: Some(service.team.to_owned()),
        health_endpoint: endpoint.url(),
        format: Some(service.wire.format().to_owned()),
        schema_config: service.wire.mapping(),
        poll_interval_ms: Some(INTERVAL_MS),
        timeout_ms: Some(TIMEOUT_MS),
        ..DesiredService::default()
    }
}
