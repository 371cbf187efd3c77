//! Checks a document as far as it can be checked without knowing what there is. Pure.

use std::collections::HashMap;
use std::hash::Hash;

use mainstay_base::{Secret, TextError, replace_nul};

use super::document::{DesiredAlias, DesiredLink, DesiredService, Document, VERSION};
use super::error::{DesiredError, Refusal};
use super::headers::HeaderText;
use super::item::{Item, Section};
use crate::aliases::{AliasName, CanonicalName};
use crate::formats::bounds::MAX_NAME_CHARS;
use crate::names::compared;
use crate::services::{Definition, Draft};

/// The most items of each part of a document, and the most of each that are compared with one.
pub const MAX_ITEMS: usize = 50_000;

/// Stands in for a value that is not known yet, while everything else is checked.
const SOME_VALUE: &str = "x";

/// A document that holds in itself.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub(super) services: Vec<WantedService>,
    pub(super) aliases: Vec<WantedAlias>,
    pub(super) links: Vec<WantedLink>,
}

/// A service as it should be.
#[derive(Debug, Clone)]
pub(super) struct WantedService {
    /// The name as it is compared.
    pub(super) key: String,
    /// Everything but the headers.
    pub(super) definition: Definition,
    /// The headers; those without a value keep the one that is stored.
    pub(super) headers: Vec<(String, Option<Secret<String>>)>,
}

/// An alias as it should be.
#[derive(Debug, Clone)]
pub(super) struct WantedAlias {
    pub(super) alias: AliasName,
    pub(super) canonical: CanonicalName,
}

/// A link as it should be.
#[derive(Debug, Clone)]
pub(super) struct WantedLink {
    /// The name of the service as it is compared.
    pub(super) service: String,
    pub(super) dependency: String,
    /// The name of the other service as it is compared.
    pub(super) to: String,
    /// As it was written.
    pub(super) written: DesiredLink,
}

impl Wanted {
    /// Checks a document.
    ///
    /// # Errors
    /// The first item that does not hold, and why.
    pub fn check(document: Document) -> Result<Self, DesiredError> {
        if document.version != VERSION {
            return Err(DesiredError::Version { given: document.version });
        }
        let services = all(Section::Services, document.services, |one| &one.name, service)?;
        once(Section::Services, &services, |one| one.key.as_str(), |one| one.definition.name())?;
        let aliases = all(Section::Aliases, document.aliases, |one| &one.alias, alias)?;
        once(Section::Aliases, &aliases, |one| one.alias.as_str(), |one| one.alias.as_str())?;
        let links = all(Section::Links, document.links, |one| &one.dependency, link)?;
        once(
            Section::Links,
            &links,
            |one| (one.service.as_str(), one.dependency.as_str()),
            |one| &one.dependency,
        )?;
        Ok(Self { services, aliases, links })
    }
}

/// Every item, checked.
fn all<T, U>(
    section: Section,
    items: Vec<T>,
    name: fn(&T) -> &String,
    check: fn(T) -> Result<U, Refusal>,
) -> Result<Vec<U>, DesiredError> {
    if items.len() > MAX_ITEMS {
        return Err(DesiredError::TooManyItems(section));
    }
    let checked = items.into_iter().enumerate().map(|(index, item)| {
        let place = Item::new(section, index, name(&item));
        check(item).map_err(|reason| reason.of(place))
    });
    checked.collect()
}

/// Refuses an item that stands there twice.
fn once<'a, T, K: Eq + Hash>(
    section: Section,
    items: &'a [T],
    key: impl Fn(&'a T) -> K,
    name: impl Fn(&'a T) -> &'a str,
) -> Result<(), DesiredError> {
    let mut seen = HashMap::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        if let Some(first) = seen.insert(key(item), index) {
            let place = Item::new(section, index, name(item));
            return Err(Refusal::Twice { section, first }.of(place));
        }
    }
    Ok(())
}

fn service(given: DesiredService) -> Result<WantedService, Refusal> {
    let headers: Vec<_> =
        given.headers.into_iter().map(|(name, HeaderText(value))| (name, value)).collect();
    let some_value = || Secret::new(SOME_VALUE.to_owned());
    let draft = Draft {
        name: given.name,
        team: given.team,
        health_endpoint: given.health_endpoint,
        format: given.format,
        schema_config: given.schema_config,
        poll_interval_ms: given.poll_interval_ms,
        timeout_ms: given.timeout_ms,
        headers: headers
            .iter()
            .map(|(name, value)| (name.clone(), value.clone().unwrap_or_else(some_value)))
            .collect(),
        is_active: given.is_active,
    };
    let mut draft = Definition::check(draft)?.draft();
    draft.headers.clear();
    let definition = Definition::check(draft)?;
    Ok(WantedService { key: definition.name_key(), definition, headers })
}

fn alias(given: DesiredAlias) -> Result<WantedAlias, Refusal> {
    let DesiredAlias { alias, canonical_name } = given;
    let alias = AliasName::parse(&alias)?;
    Ok(WantedAlias { alias, canonical: CanonicalName::parse(&canonical_name)? })
}

fn link(given: DesiredLink) -> Result<WantedLink, Refusal> {
    let dependency = replace_nul(&given.dependency).into_owned();
    if dependency.trim().is_empty() {
        return Err(Refusal::Dependency(TextError::Empty));
    }
    if dependency.chars().nth(MAX_NAME_CHARS).is_some() {
        return Err(Refusal::Dependency(TextError::TooLong { max: MAX_NAME_CHARS }));
    }
    let (service, to) = (compared(&given.service), compared(&given.links_to));
    if service == to {
        return Err(Refusal::SelfLink);
    }
    Ok(WantedLink { service, dependency, to, written: given })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(document: Value) -> Result<Wanted, String> {
        let document = serde_json::from_value(document).unwrap();
        Wanted::check(document).map_err(|error| error.to_string())
    }

    fn services(names: &[&str]) -> Value {
        let one = |name: &&str| json!({"name": name, "health_endpoint": "http://a.example/"});
        json!({"version": 1, "services": names.iter().map(one).collect::<Vec<_>>()})
    }

    #[test]
    fn a_name_is_the_same_in_any_case_and_with_blanks_around_it() {
        assert!(check(services(&["Orders", "Orders 2", "Ördérs"])).is_ok());
        for twin in ["Orders", "oRDERS", "  orders\u{3000}"] {
            let told = check(services(&["Shop", "Orders", twin])).unwrap_err();
            assert!(told.starts_with("services[2]") && told.contains("services[1]"), "{told}");
        }
        let told = check(services(&["ÄPFEL", "äpfel"])).unwrap_err();
        assert!(told.contains("services[0]"), "{told}");
    }

    #[test]
    fn a_reported_name_is_exact_and_stands_there_once() {
        let alias = |name: &str| json!({"alias": name, "canonical_name": "Database"});
        let document = |names: [&str; 2]| json!({"version": 1, "aliases": names.map(alias)});
        assert!(check(document(["db", "DB"])).is_ok());
        assert!(check(document(["db", "db"])).unwrap_err().starts_with("aliases[1] \"db\""));
        let link = |name: &str, dependency: &str| json!({"service": name, "dependency": dependency, "links_to": "Other"});
        assert!(check(json!({"version": 1, "links": [link("A", "db"), link("A", "DB")]})).is_ok());
        let twice = json!({"version": 1, "links": [link("A", "db"), link(" a", "db")]});
        assert!(check(twice).unwrap_err().starts_with("links[1] \"db\""));
    }

    #[test]
    fn what_does_not_hold_is_told_with_its_place_and_never_with_a_secret() {
        let mut one = services(&["Shop", "Orders"]);
        for (field, value, says) in [
            ("name", json!(" "), "`name` is empty"),
            ("health_endpoint", json!("ftp://a.example"), "`health_endpoint` is of another kind"),
            ("format", json!("xml"), "xml"),
            ("format", json!("schema"), "needs schema_config"),
            ("poll_interval_ms", json!(10), "from 5000 to 3600000"),
            ("timeout_ms", json!(-1), "from 100 to 30000"),
            ("headers", json!({"Host": "hunter2"}), "Host"),
            ("headers", json!({"X-A": "hunter2", "x-a": null}), "twice"),
            ("headers", json!({"X-A": "hunter2\n"}), "can't be sent"),
            ("headers", json!({"Host": null}), "Host"),
        ] {
            let mut document = one.clone();
            document["services"][1][field] = value;
            let told = check(document).unwrap_err();
            assert!(told.starts_with("services[1] ") && told.contains(says), "{told}");
            assert!(!told.contains("hunter2"), "{told}");
        }
        one["version"] = json!(2);
        assert!(check(one).unwrap_err().contains("reads version 1"));
        let links = json!([{"service": "A", "dependency": "a", "links_to": " a"}]);
        let told = check(json!({"version": 1, "links": links})).unwrap_err();
        assert!(told.contains("names the service itself"), "{told}");
        let links = json!([{"service": "A", "dependency": " ", "links_to": "b"}]);
        assert!(check(json!({"version": 1, "links": links})).unwrap_err().contains("`dependency`"));
    }
}
