//! Whatever there is and whatever is wanted: an applied plan leaves nothing to do, and touches nothing
//! that nobody named.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::stage::{Stage, headers, link};
use crate::names::compared;

const NAMES: [&str; 5] = ["Orders", "Shop", "Bücher", "Billing", "Ω"];
const REPORTED: [&str; 3] = ["db", "DB", "cache"];
const HEADERS: [&str; 2] = ["X-One", "X-Two"];

fn some_of<T: Strategy>(
    each: impl Fn(usize) -> T,
    count: usize,
) -> impl Strategy<Value = Vec<Option<T::Value>>> {
    (0..count).map(|n| proptest::option::of(each(n))).collect::<Vec<_>>()
}

/// A name as somebody may write it.
fn spelled(name: &'static str) -> impl Strategy<Value = String> {
    prop_oneof![
        Just(name.to_owned()),
        Just(name.to_uppercase()),
        Just(format!(" {}\t", name.to_lowercase())),
    ]
}

fn stored() -> impl Strategy<Value = Stage> {
    let one = |_| (0..3_i64, any::<bool>(), some_of(|_| 0..2_u8, HEADERS.len()), any::<bool>());
    let services = some_of(one, NAMES.len());
    let aliases = some_of(|_| 0..3_usize, REPORTED.len());
    let links = some_of(|_| (0..NAMES.len(), 0..=NAMES.len()), REPORTED.len());
    (services, aliases, links).prop_map(|(services, aliases, links)| {
        let mut stage = Stage::default();
        for (name, made) in NAMES.iter().zip(&services) {
            let Some((interval, is_active, values, is_sealed)) = made else { continue };
            let pairs = HEADERS.iter().zip(values);
            let given: Vec<_> = pairs
                .filter_map(|(header, value)| {
                    Some((*header, if (*value)? == 0 { "a" } else { "b" }))
                })
                .collect();
            stage = stage.drafted(name, |draft| {
                draft.poll_interval_ms = Some(10_000 * (interval + 1));
                draft.is_active = Some(*is_active);
                draft.headers = headers(&given);
            });
            if *is_sealed && !given.is_empty() {
                let names: Vec<_> = given.iter().map(|(header, _)| *header).collect();
                stage = stage.seal(name, &names);
            }
        }
        for (reported, to) in REPORTED.iter().zip(aliases) {
            if let Some(to) = to {
                stage = stage.alias(reported, NAMES[to]);
            }
        }
        for (reported, ends) in REPORTED.iter().zip(links) {
            let is_there = |name: usize| services.get(name).is_some_and(Option::is_some);
            let Some((from, to)) = ends.filter(|(from, _)| is_there(*from)) else { continue };
            let to = Some(to).filter(|to| is_there(*to) && *to != from).map(|to| NAMES[to]);
            stage = stage.dependency(NAMES[from], reported, to);
        }
        stage
    })
}

fn wanted() -> impl Strategy<Value = Value> {
    let header = |_| prop_oneof![Just(Value::Null), Just(json!("a")), Just(json!("b"))];
    let one = move |n: usize| {
        (spelled(NAMES[n]), 0..3_i64, any::<bool>(), some_of(header, HEADERS.len()))
    };
    let services = some_of(one, NAMES.len());
    let aliases = some_of(|_| 0..3_usize, REPORTED.len());
    let links = some_of(|_| (0..NAMES.len(), 0..NAMES.len()), REPORTED.len());
    (services, aliases, links).prop_map(|(services, aliases, links)| {
        let services = services.into_iter().flatten().map(|(name, interval, is_active, values)| {
            let pairs = HEADERS.iter().zip(values);
            let headers: serde_json::Map<_, _> =
                pairs.filter_map(|(header, value)| Some((header.to_lowercase(), value?))).collect();
            json!({
                "name": name, "health_endpoint": "http://a.example/", "headers": headers,
                "poll_interval_ms": 10_000 * (interval + 1), "is_active": is_active,
            })
        });
        let services: Vec<_> = services.collect();
        let pairs = REPORTED.iter().zip(aliases);
        let aliases: Vec<_> = pairs
            .filter_map(|(alias, to)| Some(json!({"alias": alias, "canonical_name": NAMES[to?]})))
            .collect();
        let pairs = REPORTED.iter().zip(links);
        let links: Vec<_> = pairs
            .filter_map(|(reported, ends)| ends.map(|(from, to)| (reported, from, to)))
            .filter(|(_, from, to)| from != to)
            .map(|(reported, from, to)| link(NAMES[from], reported, NAMES[to]))
            .collect();
        json!({"version": 1, "services": services, "aliases": aliases, "links": links})
    })
}

fn names(stage: &Stage) -> BTreeSet<String> {
    stage.current.services.iter().map(|held| compared(&held.draft.name)).collect()
}

fn named(document: &Value) -> BTreeSet<String> {
    let services = document["services"].as_array().unwrap();
    services.iter().map(|one| compared(one["name"].as_str().unwrap())).collect()
}

proptest! {
    #[test]
    fn an_applied_plan_leaves_nothing_to_do(
        before in stored(), document in wanted(), prune in any::<bool>(),
    ) {
        let Ok(plan) = before.plan(&document, prune) else { return Ok(()) };
        let mut after = before.clone();
        after.apply(&plan);
        let again = after.plan(&document, prune).unwrap();
        prop_assert!(again.is_empty(), "{:?}", super::stage::lines(&again));
        prop_assert_eq!(again.view().waiting.len(), plan.view().waiting.len());

        let (named, before_names) = (named(&document), names(&before));
        let expected = if prune && !named.is_empty() { named.clone() } else { &named | &before_names };
        prop_assert_eq!(names(&after), expected);
        let others = before.current.services.iter().filter(|held| !named.contains(&compared(&held.draft.name)));
        for held in others.filter(|_| !prune) {
            let kept = after.current.services.iter().find(|one| one.id == held.id).unwrap();
            prop_assert_eq!(format!("{kept:?}"), format!("{held:?}"));
        }
    }

    #[test]
    fn what_is_exported_is_what_is_wanted(before in stored()) {
        let document = serde_json::to_value(before.current.document()).unwrap();
        let plan = before.plan(&document, true).unwrap();
        prop_assert!(plan.is_empty(), "{:?}", super::stage::lines(&plan));
        prop_assert!(plan.view().waiting.is_empty());
    }
}
