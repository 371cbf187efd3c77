//! The document: services, aliases and links as people write them down.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::headers::{HeaderText, given};

/// The version of documents that is read and written.
pub const VERSION: u32 = 1;

/// The longest document, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 32 * 1024 * 1024;

/// What is to be watched. What a document does not name is left alone.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ServicesDocument)]
pub struct Document {
    /// Which kind of document it is: 1.
    #[schema(example = 1)]
    pub version: u32,
    /// The services; each name stands here once, in any case.
    #[serde(default)]
    #[schema(required = false)]
    pub services: Vec<DesiredService>,
    /// The aliases; each reported name stands here once.
    #[serde(default)]
    #[schema(required = false)]
    pub aliases: Vec<DesiredAlias>,
    /// Which dependencies are services; each dependency stands here once.
    #[serde(default)]
    #[schema(required = false)]
    pub links: Vec<DesiredLink>,
}

/// A service as it should be: what is left out gets its default.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DesiredService {
    /// Its name, by which it is known: in any case, without blanks at its ends.
    #[schema(example = "Orders")]
    pub name: String,
    /// Whose it is; nobody's unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "Shop")]
    pub team: Option<String>,
    /// Where to ask: an http or https URL without credentials.
    #[schema(example = "https://orders.example.org/health")]
    pub health_endpoint: String,
    /// How to read the answer: `proactive-deps` unless given, `schema` or `status`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "proactive-deps")]
    pub format: Option<String>,
    /// Where in the answer the dependencies stand: for the format `schema` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub schema_config: Option<Value>,
    /// How often to ask, from 5 000 to 3 600 000; 30 000 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = 30_000)]
    pub poll_interval_ms: Option<i64>,
    /// How long one request may take, from 100 to 30 000; 10 000 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = 10_000)]
    pub timeout_ms: Option<i64>,
    /// Further headers of the request, at most 20; none unless given. `null` keeps the value that is
    /// stored. Values are never shown.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, Option<String>>, required = false)]
    pub headers: BTreeMap<String, HeaderText>,
    /// Whether it is polled; true unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_active: Option<bool>,
}

/// An alias as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DesiredAlias {
    /// The name, exactly as services report it.
    #[schema(example = "orders-db")]
    pub alias: String,
    /// The name that it stands for.
    #[schema(example = "Orders database")]
    pub canonical_name: String,
}

/// A dependency that is a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DesiredLink {
    /// The name of the service that leans on it.
    #[schema(example = "Shop")]
    pub service: String,
    /// The dependency, exactly as that service reports it.
    #[schema(example = "orders-api")]
    pub dependency: String,
    /// The name of the service that it is.
    #[schema(example = "Orders")]
    pub links_to: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> Result<Document, String> {
        serde_json::from_value(value.clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_document_comes_back_as_it_was_written() {
        let whole = json!({
            "version": 1,
            "services": [{
                "name": "Orders", "team": "Shop", "health_endpoint": "https://a.example/",
                "format": "status", "poll_interval_ms": 5000, "timeout_ms": 100,
                "headers": {"X-Key": null, "X-Other": "v"}, "is_active": false,
            }],
            "aliases": [{"alias": "db", "canonical_name": "Database"}],
            "links": [{"service": "Orders", "dependency": "db", "links_to": "Database"}],
        });
        assert_eq!(serde_json::to_value(read(&whole).unwrap()).unwrap(), whole);
        let least = read(&json!({"version": 1})).unwrap();
        assert!(least.services.is_empty() && least.aliases.is_empty() && least.links.is_empty());
    }

    #[test]
    fn a_value_of_a_header_is_never_shown() {
        for value in
            [json!(70707), json!(70707.5), json!(-70707), json!(["70707"]), json!({"a": "70707"})]
        {
            let service = json!({"name": "a", "health_endpoint": "b", "headers": {"k": value}});
            let told = read(&json!({"version": 1, "services": [service]})).unwrap_err();
            assert!(told.contains("expected a text") && !told.contains("70707"), "{told}");
        }
        for all in [json!("Bearer 70707"), json!(70707), json!(true), json!(["70707"]), json!(null)]
        {
            let service = json!({"name": "a", "health_endpoint": "b", "headers": all});
            let told = read(&json!({"version": 1, "services": [service]})).unwrap_err();
            assert!(told.contains("expected headers") && !told.contains("70707"), "{told}");
        }
        let text: HeaderText = serde_json::from_value(json!("70707")).unwrap();
        assert!(!format!("{text:?}").contains("70707"));
    }

    #[test]
    fn a_key_that_is_none_is_refused() {
        for document in [
            json!({"version": 1, "service": []}),
            json!({"version": 1, "services": [{"name": "a", "health_endpoint": "b", "interval": 1}]}),
            json!({"version": 1, "aliases": [{"alias": "a", "canonical": "b"}]}),
            json!({"version": 1, "links": [{"service": "a", "dependency": "b", "to": "c"}]}),
        ] {
            assert!(read(&document).unwrap_err().contains("unknown field"), "{document}");
        }
    }
}
