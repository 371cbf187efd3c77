//! What a definition may hold, and how what is wrong is told.

use std::time::Duration;

use serde_json::json;

use super::*;

fn told(definition: &Value) -> String {
    NetPlan::read(definition).unwrap_err().to_string()
}

fn buy(more: &str) -> String {
    format!("journey: buy\n{more}steps:\n  - id: ask\n    get: https://shop.example/\n")
}

#[test]
fn services_and_journeys_become_checks() {
    let every = buy("every: 1m\ntouches: [Orders]\n");
    let plan = NetPlan::read(&json!({
        "services": [
            {"name": " Orders ", "url": "https://Orders.example", "format": "status", "interval_s": 10},
            {"name": "pay", "url": "http://pay.example/h", "headers": {"X-Key": "hunter2"}},
        ],
        "journeys": [every, {"journey": "sell", "every": "30s", "steps": [{"id": "a", "get": "http://a.example"}]}],
    }));
    let checks = plan.unwrap().checks();
    let shown: Vec<_> = checks
        .iter()
        .map(|one| (one.kind, one.name.as_str(), one.url.as_deref(), one.every.as_secs()))
        .collect();
    assert_eq!(
        shown,
        [
            (CheckKind::Service, "Orders", Some("https://orders.example/"), 10),
            (CheckKind::Service, "pay", Some("http://pay.example/h"), 30),
            (CheckKind::Journey, "buy", None, 60),
            (CheckKind::Journey, "sell", None, 30),
        ]
    );
    assert_eq!(checks[2].about, ["orders"]);
    assert_eq!(checks[0].every, Duration::from_secs(10));
    assert!(NetPlan::read(&json!({})).unwrap().checks().is_empty());
}

#[test]
fn what_is_wrong_is_told_with_its_key_and_what_is_expected() {
    let service = |key: &str, value: Value| {
        let mut one = json!({"name": "orders", "url": "https://orders.example"});
        one[key] = value;
        json!({ "services": [{"name": "a", "url": "https://a.example"}, one] })
    };
    for (definition, start, says) in [
        (json!({"service": []}), "", "expected `services` or `journeys`"),
        (json!({"services": {}}), "services: ", "expected a sequence"),
        (service("intervall_s", json!(5)), "services[1].intervall_s: ", "interval_s"),
        (service("interval_s", json!("5")), "services[1].interval_s: ", "expected i64"),
        (service("interval_s", json!(1)), "services[1].interval_s: ", "from 5 to 3600"),
        (service("timeout_s", json!(31)), "services[1].timeout_s: ", "from 1 to 30"),
        (service("url", json!("orders")), "services[1].url: ", "https://"),
        (service("url", json!("ftp://x/")), "services[1].url: ", "http"),
        (
            service("url", json!("https://a:b@orders.example/")),
            "services[1].url: ",
            "a net is stored and shown as it is written",
        ),
        (service("name", json!("")), "services[1].name: ", "empty"),
        (service("name", json!(" A ")), "services[1].name: ", "the same name"),
        (service("name", json!("x".repeat(201))), "services[1].name: ", "shorten"),
        (service("format", json!("xml")), "services[1].format: ", "status"),
        (service("schema", json!({})), "services[1].schema: ", ""),
        (service("headers", json!({"a b": "c"})), "services[1].headers: ", ""),
        (
            json!({"services": [{"url": "https://a.example"}]}),
            "services[0]: ",
            "missing field `name`",
        ),
        (json!({"journeys": [7]}), "journeys[0]: ", "text of a journey file"),
        (
            json!({"journeys": [buy("every: 1m\nevry: 2m\n")]}),
            "journeys[0]: line 3, column 1: evry: ",
            "perhaps every is meant",
        ),
        (
            json!({"journeys": [{"journey": "a", "steps": [{"id": "a", "gett": "x"}]}]}),
            "journeys[0]: steps[0].gett: ",
            "perhaps get is meant",
        ),
        (json!({"journeys": [buy("")]}), "journeys[0].every: ", "every: 1m"),
        (
            json!({"journeys": [buy("every: 1m\nvars: {base: null}\n")]}),
            "journeys[0].vars.base: ",
            "no value",
        ),
    ] {
        let text = told(&definition);
        assert!(text.starts_with(start) && text.contains(says), "{definition}: {text}");
    }
}

#[test]
fn the_schema_of_a_service_has_the_key_of_a_net() {
    let with = |format: &str, schema: Value| {
        let service =
            json!({"name": "a", "url": "https://a.example", "format": format, "schema": schema});
        told(&json!({ "services": [service] }))
    };
    for text in [
        with("status", json!({"root": "x"})),
        with("schema", Value::Null),
        with("schema", json!({"fields": 7})),
    ] {
        assert!(
            text.starts_with("services[0].schema: ") && !text.contains("schema_config"),
            "{text}"
        );
    }
}

#[test]
fn a_journey_with_a_secret_stays_on_the_server() {
    let secret = "journey: buy\nevery: 1m\nsteps:\n  - id: ask\n    get: https://shop.example/\n    \
                  headers: {Authorization: \"Bearer {{ secret.TOKEN }}\"}\n";
    let text = told(&json!({ "journeys": [secret] }));
    assert!(text.contains("TOKEN") && text.contains("never leave the server"), "{text}");
}

#[test]
fn no_header_is_repeated_and_no_net_is_too_large() {
    let service = json!({"name": "a", "url": "ftp://a", "headers": {"X-Key": "hunter2"}});
    assert!(!told(&json!({ "services": [service] })).contains("hunter2"));
    let many = |count: usize| {
        let one = |at| json!({"name": format!("s{at}"), "url": "https://a.example"});
        json!({ "services": (0..count).map(one).collect::<Vec<_>>() })
    };
    assert!(NetPlan::read(&many(200)).is_ok());
    assert!(told(&many(201)).contains("200 is the most"));
}
