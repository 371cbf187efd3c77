//! Who may call which route.

use std::collections::BTreeSet;

use serde_json::Value;

use super::house::House;
use super::raw::{get, request};
use crate::access::{Entry, TABLE, Who};

/// What Prometheus reads is no JSON and stands in no document.
const UNDOCUMENTED: (&str, &str) = ("GET", "/metrics");

/// Every operation of the document, by method and path.
pub(super) fn operations() -> BTreeSet<(String, String)> {
    let document: Value = serde_json::from_str(&crate::openapi()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        let methods = item.as_object().unwrap().keys();
        methods.map(|method| (method.to_uppercase(), path.clone())).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

#[test]
fn the_table_and_the_document_name_the_same_routes() {
    let named: Vec<_> =
        TABLE.iter().map(|entry| (entry.method.to_owned(), entry.path.to_owned())).collect();
    let mut expected = operations();
    expected.insert((UNDOCUMENTED.0.to_owned(), UNDOCUMENTED.1.to_owned()));
    assert_eq!(named.iter().cloned().collect::<BTreeSet<_>>(), expected);
    assert_eq!(named.len(), expected.len(), "an entry is there twice");
}

#[test]
fn the_document_says_whom_each_route_is_for() {
    let document: Value = serde_json::from_str(&crate::openapi()).unwrap();
    for Entry { method, path, who } in TABLE.iter().filter(|entry| entry.path != UNDOCUMENTED.1) {
        let operation = &document["paths"][path][method.to_lowercase()];
        let security = operation["security"].as_array();
        match who {
            Who::Public | Who::Watchers(_) => assert_eq!(security, None, "{method} {path}"),
            Who::SignedIn(needs) => {
                let ways = if needs.scope.is_some() { 2 } else { 1 };
                assert_eq!(security.unwrap().len(), ways, "{method} {path}");
                let words = operation["description"].as_str().unwrap();
                assert!(words.contains(&format!("`{}`", needs.role)), "{method} {path}: {words}");
            }
        }
    }
}

#[tokio::test]
async fn a_route_that_nobody_decided_about_is_closed_to_everybody() {
    let house = House::open().await;
    let admin = house.admin().await;
    for headers in [String::new(), admin.cookie()] {
        let answer = request(house.address, "GET", "/api/test/undecided", &headers, "").await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "forbidden"), "{headers}");
    }
}

#[tokio::test]
async fn a_method_that_a_path_does_not_have_is_refused_with_those_it_has() {
    let house = House::open().await;
    for (method, target, allow) in [
        ("DELETE", "/api/system", "GET,HEAD"),
        ("OPTIONS", "/api/auth/setup", "GET,HEAD,POST"),
        ("GET", "/api/auth/login", "POST"),
        ("HEAD", "/api/auth/logout", "POST"),
    ] {
        let answer = request(house.address, method, target, "", "").await;
        assert_eq!(
            (answer.status, answer.header("allow")),
            (405, Some(allow)),
            "{method} {target}"
        );
    }
    assert_eq!(get(house.address, "/api/auth/nothing").await.code(), "not_found");
}
