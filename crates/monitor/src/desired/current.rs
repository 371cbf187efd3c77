//! What there is, as a plan compares it.

use mainstay_base::Id;

use super::document::{DesiredAlias, DesiredLink, DesiredService, Document, VERSION};
use super::headers::HeaderText;
use crate::aliases::Alias;
use crate::services::Held;

/// Everything that a document can name.
#[derive(Debug, Clone, Default)]
pub(super) struct Current {
    /// In the order of their names.
    pub(super) services: Vec<Held>,
    /// In the order of their names.
    pub(super) aliases: Vec<Alias>,
    /// Those that are linked, and those whose names were asked for.
    pub(super) dependencies: Vec<HeldDependency>,
}

/// A dependency that is linked, or could be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeldDependency {
    pub(super) id: Id,
    /// The service that reports it.
    pub(super) service: Id,
    pub(super) name: String,
    /// The service that it is.
    pub(super) linked: Option<Id>,
}

impl Current {
    /// The document that says what there is, without a single value of a header.
    pub(super) fn document(&self) -> Document {
        let aliases = self.aliases.iter().map(|alias| DesiredAlias {
            alias: alias.alias.clone(),
            canonical_name: alias.canonical_name.clone(),
        });
        Document {
            version: VERSION,
            services: self.services.iter().map(service).collect(),
            aliases: aliases.collect(),
            links: self.links(),
        }
    }

    /// The links, in the order of their services' names.
    fn links(&self) -> Vec<DesiredLink> {
        let names: std::collections::HashMap<Id, &str> =
            self.services.iter().map(|held| (held.id, held.draft.name.as_str())).collect();
        let mut links: Vec<_> = self
            .dependencies
            .iter()
            .filter_map(|dependency| {
                Some(DesiredLink {
                    service: (*names.get(&dependency.service)?).to_owned(),
                    dependency: dependency.name.clone(),
                    links_to: (*names.get(&dependency.linked?)?).to_owned(),
                })
            })
            .collect();
        links.sort_by(|one, other| {
            (&one.service, &one.dependency).cmp(&(&other.service, &other.dependency))
        });
        links
    }
}

fn service(held: &Held) -> DesiredService {
    let draft = held.draft.clone();
    let headers = held.header_names().map(|name| (name.to_owned(), HeaderText(None)));
    DesiredService {
        name: draft.name,
        team: draft.team,
        health_endpoint: draft.health_endpoint,
        format: draft.format,
        schema_config: draft.schema_config,
        poll_interval_ms: draft.poll_interval_ms,
        timeout_ms: draft.timeout_ms,
        headers: headers.collect(),
        is_active: draft.is_active,
    }
}
