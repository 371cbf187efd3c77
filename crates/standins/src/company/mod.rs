//! Who there is in the company, and what leans on what.

mod services;
mod things;

use serde_json::{Value, json};

pub use self::services::SERVICES;
pub use self::things::THINGS;

/// A service of the company.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Service {
    /// What others call it.
    pub slug: &'static str,
    /// Its name in Mainstay.
    pub name: &'static str,
    /// Whose it is.
    pub team: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// What breaks without it.
    pub impact: &'static str,
    /// How it writes its health down.
    pub wire: Wire,
    /// What it leans on.
    pub needs: &'static [Need],
}

/// Something outside of the company's own services: a database, a third party.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thing {
    /// What the story calls it.
    pub slug: &'static str,
    /// What kind of thing it is.
    pub kind: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// What breaks without it.
    pub impact: &'static str,
    /// Who looks after it.
    pub team: &'static str,
    /// Where to ask them.
    pub channel: &'static str,
    /// How long a check of it takes on a good day, in milliseconds.
    pub usual_ms: f64,
}

/// What a service leans on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// What the service calls it.
    pub reported: &'static str,
    /// What it is.
    pub on: On,
    /// Whether the service can do nothing without it.
    pub is_vital: bool,
}

/// What can be leaned on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// Another service, by its slug.
    Service(&'static str),
    /// A thing, by its slug.
    Thing(&'static str),
}

/// How a service writes its health down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// An array of dependencies.
    Proactive,
    /// Spring Boot Actuator.
    Spring,
    /// The health checks of ASP.NET.
    AspNet,
    /// Nothing but a status code.
    Status,
}

/// Several reported names for one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alias {
    /// What a service reports.
    pub reported: &'static str,
    /// What it is called.
    pub canonical: &'static str,
}

/// What the company has agreed to call things.
pub const ALIASES: &[Alias] = &[
    alias("db", "PostgreSQL main"),
    alias("orders-db", "PostgreSQL main"),
    alias("postgres-main", "PostgreSQL main"),
    alias("PaymentsDb", "PostgreSQL main"),
    alias("users-db", "PostgreSQL main"),
    alias("redis", "Redis"),
    alias("session-cache", "Redis"),
    alias("kafka", "Kafka"),
    alias("event-bus", "Kafka"),
    alias("s3-media", "Object storage"),
    alias("BlobStorage", "Object storage"),
    alias("LedgerApi", "Ledger"),
    alias("account-service", "Accounts"),
];

impl Service {
    /// The service of this slug.
    #[must_use]
    pub fn find(slug: &str) -> Option<&'static Self> {
        SERVICES.iter().find(|one| one.slug == slug)
    }
}

impl Thing {
    /// The thing of this slug.
    #[must_use]
    pub fn find(slug: &str) -> Option<&'static Self> {
        THINGS.iter().find(|one| one.slug == slug)
    }
}

impl Wire {
    /// The name of the format in Mainstay.
    #[must_use]
    pub const fn format(self) -> &'static str {
        match self {
            Self::Proactive => "proactive-deps",
            Self::Spring | Self::AspNet => "schema",
            Self::Status => "status",
        }
    }

    /// The mapping that reads it, where one is needed: as in the guide.
    #[must_use]
    pub fn mapping(self) -> Option<Value> {
        match self {
            Self::Proactive | Self::Status => None,
            Self::Spring => Some(json!({
                "root": "components",
                "fields": {
                    "name": "$key", "healthy": "status", "latency": "details.responseTimeMs",
                    "type": "details.type", "description": "details.description",
                    "impact": "details.impact", "contact": "details.contact",
                    "errorMessage": "details.error",
                },
            })),
            Self::AspNet => Some(json!({
                "root": "entries",
                "fields": {
                    "name": "$key", "healthy": "status", "latency": "duration", "type": "data.type",
                    "description": "description", "impact": "data.impact",
                    "contact": "data.contact", "errorMessage": "exception",
                },
            })),
        }
    }
}

const fn alias(reported: &'static str, canonical: &'static str) -> Alias {
    Alias { reported, canonical }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn there_are_fourteen_services_of_three_teams_in_all_formats() {
        let teams: BTreeSet<_> = SERVICES.iter().map(|one| one.team).collect();
        let formats: BTreeSet<_> = SERVICES.iter().map(|one| one.wire.format()).collect();
        assert_eq!((SERVICES.len(), teams.len(), formats.len()), (14, 3, 3));
        assert!(SERVICES.iter().any(|one| one.wire == Wire::Spring));
        assert!(SERVICES.iter().any(|one| one.wire == Wire::AspNet));
    }

    #[test]
    fn whatever_is_leaned_on_is_there_and_nobody_leans_on_itself_in_a_circle() {
        fn depth(slug: &str, above: usize) -> usize {
            assert!(above < SERVICES.len(), "{slug} leans on itself");
            let service = Service::find(slug).unwrap_or_else(|| panic!("no {slug}"));
            let below = service.needs.iter().map(|need| match need.on {
                On::Service(other) => depth(other, above + 1),
                On::Thing(thing) => {
                    assert!(Thing::find(thing).is_some(), "{slug} needs {thing}");
                    0
                }
            });
            below.max().unwrap_or(0)
        }
        for service in SERVICES {
            depth(service.slug, 0);
        }
    }

    #[test]
    fn every_thing_is_used_and_every_name_stands_once() {
        let used: BTreeSet<_> = SERVICES
            .iter()
            .flat_map(|one| one.needs)
            .filter_map(|need| match need.on {
                On::Thing(thing) => Some(thing),
                On::Service(_) => None,
            })
            .collect();
        assert_eq!(used, THINGS.iter().map(|one| one.slug).collect());
        let names: BTreeSet<_> = SERVICES.iter().map(|one| one.slug).collect();
        assert_eq!(names.len(), SERVICES.len());
        for service in SERVICES {
            let reported: BTreeSet<_> = service.needs.iter().map(|need| need.reported).collect();
            assert_eq!(reported.len(), service.needs.len(), "{}", service.slug);
        }
    }

    #[test]
    fn aliases_name_what_is_reported_and_what_is_a_service_goes_by_its_name() {
        let needs = || SERVICES.iter().flat_map(|one| one.needs);
        for alias in ALIASES {
            assert!(needs().any(|need| need.reported == alias.reported), "{}", alias.reported);
        }
        for need in needs() {
            let On::Service(slug) = need.on else { continue };
            let alias = ALIASES.iter().find(|alias| alias.reported == need.reported);
            let name = alias.map_or(need.reported, |alias| alias.canonical);
            let service = Service::find(slug).unwrap();
            assert!(name.eq_ignore_ascii_case(service.name), "{name} is no {}", service.name);
        }
    }
}
