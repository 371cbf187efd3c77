//! `mainstay services export|apply` against the real binary.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use mainstay_store::Dialect;
use mainstay_testkit::TestDatabase;
use serde_json::{Value, json};

use crate::check::endpoint;
use crate::place::Place;
use crate::process::{mainstay, run};

fn file(services: &[Value]) -> String {
    json!({"version": 1, "services": services}).to_string()
}

fn service(name: &str) -> Value {
    json!({"name": name, "health_endpoint": "http://127.0.0.1:9/health", "poll_interval_ms": 3_600_000})
}

const FILE: &str = r#"
version: 1
services:
  - name: Bücher & Ωrders
    team: "on"
    health_endpoint: https://bücher.example/health?a=1#part
    format: schema
    schema_config: {root: checks, fields: {name: id, healthy: {field: status, equals: "UP"}}}
    poll_interval_ms: 3600000
    timeout_ms: 500
    is_active: false
  - name: "123"
    health_endpoint: http://127.0.0.1:9/health
    is_active: false
    headers:
      Authorization: {from_environment: ORDERS_KEY}
      X-File: {from_file: key.txt}
  - name: "yes"
    health_endpoint: http://127.0.0.1:9/a-very-long-path-that-would-be-folded/if-lines-were-folded-somewhere/but-they-are-not
    is_active: false
aliases:
  - {alias: "  orders: db # not a comment", canonical_name: "~"}
  - {alias: "日本語\ttab\nline", canonical_name: Datenbank}
  - {alias: "- x", canonical_name: "null"}
"#;

#[test]
fn what_is_exported_makes_the_same_of_a_fresh_server() {
    let (one, other) = (Place::new(), Place::new());
    let key = [("ORDERS_KEY", "Bearer hunter2")];
    for place in [&one, &other] {
        place.write("key.txt", "hunter3\n");
    }
    one.write("services.yaml", FILE);
    let (code, out, error) = one.services_with(&["apply", "services.yaml"], &key);
    assert_eq!((code, error.as_str()), (Some(0), ""), "{out}");
    assert!(out.starts_with("+ service Bücher & Ωrders\n+ service 123\n+ service yes\n"), "{out}");
    assert!(
        out.ends_with(
            "Added 6, changed 0 and removed 0; unchanged: 0 services, 0 aliases, 0 links.\n"
        ),
        "{out}"
    );
    assert_eq!(one.well(&["export", "exported.yaml"]), "");
    let exported = one.read("exported.yaml");
    assert!(!exported.contains("hunter"), "{exported}");
    assert_eq!(one.well(&["export"]), exported);

    other.write("exported.yaml", &exported);
    let (code, _, error) = other.services(&["apply", "exported.yaml"]);
    assert_eq!(code, Some(1), "nothing is stored there yet: {error}");
    assert!(
        error.contains("exported.yaml:") && error.contains("\"Authorization\" is null"),
        "{error}"
    );
    let with_values = exported
        .replace("Authorization: null", "Authorization: {from_environment: ORDERS_KEY}")
        .replace("X-File: null", "X-File: {from_file: key.txt}");
    other.write("values.yaml", &with_values);
    let (code, out, error) = other.services_with(&["apply", "values.yaml"], &key);
    assert_eq!((code, error.as_str()), (Some(0), ""), "{out}");
    assert_eq!(other.well(&["export"]), exported);
    for place in [&one, &other] {
        place.write("exported.yaml", &exported);
        assert!(place.well(&["apply", "exported.yaml", "--prune"]).starts_with("Nothing to do;"));
        let log = place.server.log().join("\n");
        assert!(!log.contains("hunter"), "{log}");
    }
}

#[test]
fn a_link_waits_for_the_first_report_of_its_dependency() {
    let place = Place::new();
    let (url, _asked) = endpoint("200 OK", r#"[{"name":"orders-api","healthy":true}]"#);
    let shop = json!({"name": "Shop", "health_endpoint": url, "poll_interval_ms": 5000});
    let links = [json!({"service": "shop", "dependency": "orders-api", "links_to": "ORDERS"})];
    let document = json!({"version": 1, "services": [service("Orders"), shop], "links": links});
    place.write("services.yaml", &document.to_string());
    let out = place.well(&["apply", "services.yaml"]);
    let waits = "… link shop / orders-api → ORDERS: waits for its first report; apply again then";
    assert!(out.contains(waits), "{out}");
    let found = place.shown("/api/services?q=Shop");
    let shop = format!("/api/services/{}", found["items"][0]["id"].as_str().unwrap());
    let is_reported = || place.shown(&shop)["dependencies"][0]["name"] == "orders-api";
    for _ in 0..1_200 {
        if is_reported() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(is_reported(), "it was never reported");
    let out = place.well(&["apply", "services.yaml", "--dry-run"]);
    assert!(out.contains("+ link Shop / orders-api: links_to \"Orders\""), "{out}");
    place.well(&["apply", "services.yaml"]);
    let exported = place.well(&["export"]);
    assert!(exported.contains("links_to: Orders"), "{exported}");
    assert!(
        place
            .well(&["apply", "services.yaml"])
            .contains("unchanged: 2 services, 0 aliases, 1 link.")
    );
}

#[test]
fn a_mistake_in_the_file_ends_with_2_and_nothing_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let write = |text: &str| fs::write(path.join("services.yaml"), text).unwrap();
    // Nobody listens there: whoever asks ends with 1.
    let nobody = ["--server", "http://127.0.0.1:9", "--token-file", "token.txt"];
    fs::write(path.join("token.txt"), "mst_x").unwrap();
    let apply = [&["services", "apply", "services.yaml"][..], &nobody].concat();
    for (text, says) in [
        (
            "version: 1\nservices:\n- name: a\n  health_endpoint: http://a.example\n  poll_intervall_ms: 5000\n",
            "mainstay: services.yaml:5:3: services[0].poll_intervall_ms: there is no such key; did you mean poll_interval_ms?\n",
        ),
        (
            &file(&[service("Orders"), service(" oRDERS ")]),
            "services[1] \"oRDERS\": it is the same as services[0]",
        ),
        (&file(&[json!({"name": "a"})]), "services[0]: `health_endpoint` is missing"),
        ("version: 1\nservices: 7\n", "services.yaml:2:11: services: "),
        ("", "services.yaml"),
    ] {
        write(text);
        let (code, out, error) = run(path, &apply);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{error}");
        assert!(error.contains(says), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    write(&file(&[service("Orders")]));
    let (code, _, error) = run(path, &apply);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("127.0.0.1:9 can't be asked (connect_refused)"), "{error}");
    let (code, _, error) = run(path, &["services", "apply", "none.yaml"]);
    assert_eq!(code, Some(2), "{error}");
    let (code, _, error) = run(path, &["services", "apply", "services.yaml"]);
    assert!(code == Some(2) && error.contains("no API token"), "{error}");
    let (code, _, error) = run(path, &["services", "export", "--server", "nowhere"]);
    assert!(code == Some(2) && error.contains("client.server"), "{error}");
    let far = ["services", "export", "--server", "http://mainstay.example.com"];
    let (code, _, error) = run(path, &far);
    assert!(code == Some(2) && error.contains("say --insecure"), "{error}");
    let (code, _, error) = run(path, &[&apply[..], &["--check"]].concat());
    assert!(code == Some(2) && error.contains("connect_refused"), "{error}");
}

#[test]
fn half_of_it_failing_applies_nothing() {
    let place = Place::new();
    let mut blocked = service("Cloud");
    blocked["health_endpoint"] = json!("http://169.254.169.254/latest/meta-data");
    place.write("services.yaml", &file(&[service("Orders"), blocked, service("Shop")]));
    let before = place.well(&["export"]);
    let (code, out, error) = place.services(&["apply", "services.yaml"]);
    assert_eq!((code, out.as_str()), (Some(1), ""), "{error}");
    assert!(
        error.starts_with("mainstay: services.yaml:1:")
            && error.contains("services[1] \"Cloud\": "),
        "{error}"
    );
    assert_eq!(place.well(&["export"]), before);
}

#[test]
fn a_pipeline_learns_by_the_exit_code_whether_anything_would_change() {
    let place = Place::new();
    place.write("services.yaml", &file(&[service("Orders")]));
    let (code, out, _) = place.services(&["apply", "services.yaml", "--check"]);
    assert_eq!((code, out.lines().next()), (Some(1), Some("+ service Orders")));
    assert!(place.well(&["apply", "services.yaml", "--dry-run"]).contains("Would add 1"));
    assert!(!place.well(&["export"]).contains("Orders"), "neither changes anything");
    let done: Value =
        serde_json::from_str(&place.well(&["apply", "services.yaml", "--json"])).unwrap();
    assert_eq!(
        (&done["applied"], &done["plan"]["changes"][0]["name"]),
        (&json!(true), &json!("Orders"))
    );
    place.well(&["apply", "services.yaml", "--check"]);

    place.write("services.yaml", &file(&[service("Shop")]));
    let out = place.well(&["apply", "services.yaml", "--prune"]);
    assert!(out.contains("+ service Shop\n- service Orders\n"), "{out}");

    let reader = place.token("read");
    place.write("token.txt", &reader);
    place.well(&["export"]);
    let (code, _, error) = place.services(&["apply", "services.yaml"]);
    assert!(code == Some(1) && error.contains("scope write"), "{error}");
    let (code, _, error) = place.services(&["apply", "services.yaml", "--check"]);
    assert!(code == Some(2) && error.contains("scope write"), "1 is for changes alone: {error}");
    place.write("token.txt", "mst_wrong");
    let (code, _, error) = place.services(&["export"]);
    assert!(code == Some(1) && !error.contains("mst_wrong"), "{error}");
    let (code, out, error) = place.services_with(&["export", "--config", "none.toml"], &[]);
    assert!(code == Some(2) && out.is_empty(), "{error}");
}

#[test]
fn a_file_may_come_through_a_pipe() {
    let place = Place::new();
    place.write("services.yaml", &file(&[service("Orders")]));
    let input = fs::File::open(place.folder.path().join("services.yaml")).unwrap();
    let mut command = mainstay(place.folder.path());
    let server = format!("http://{}", place.server.address);
    command.args(["services", "apply", "-"]).stdin(input);
    command.env("MAINSTAY_SERVER", server).env("MAINSTAY_TOKEN", place.read("token.txt"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Many services, from an empty server to a plan without a change.
fn many(database: Option<&str>) {
    let place = Place::on(database);
    let all: Vec<_> = (0..2_000).map(|n| service(&format!("Service {n}"))).collect();
    place.write("services.yaml", &file(&all));
    assert!(place.well(&["apply", "services.yaml"]).contains("Added 2000, changed 0"));
    let exported = place.well(&["export"]);
    assert_eq!(exported.matches("- name: ").count(), 2_000);
    place.write("exported.yaml", &exported);
    let out = place.well(&["apply", "exported.yaml", "--prune"]);
    assert_eq!(out, "Nothing to do; unchanged: 2000 services, 0 aliases, 0 links.\n");
    let more: Vec<_> = (0..2_001).map(|n| service(&format!("More {n}"))).collect();
    place.write("more.yaml", &file(&more));
    let (code, _, error) = place.services(&["apply", "more.yaml"]);
    assert!(
        code == Some(1) && error.contains("2001 changes") && error.contains("split"),
        "{error}"
    );
}

#[test]
fn two_thousand_services_are_applied_at_once() {
    many(None);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_thousand_services_are_applied_at_once_on_postgres_too() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let address = database.address();
    tokio::task::spawn_blocking(move || many(Some(&address))).await.unwrap();
}

/// Each wants all services in its own way.
fn crowd(place: &Place, name: &str, interval: u32) {
    let mut text = "version: 1\nservices:\n".to_owned();
    for n in (0..200).map(|n| n.to_string()).chain([name.to_owned()]) {
        writeln!(
            text,
            "- {{name: s{n}, health_endpoint: 'http://127.0.0.1:9/', poll_interval_ms: {interval}}}"
        )
        .unwrap();
    }
    place.write(name, &text);
}

fn two_at_once(database: Option<&str>) {
    let place = Place::on(database);
    crowd(&place, "one", 3_000_000);
    crowd(&place, "other", 3_600_000);
    // Two people: edits of one go one after the other by the row of that user alone.
    place.write("other.txt", &place.token_of_another());
    let apply = |file: &str| {
        let token = if file == "one" { "token.txt" } else { "other.txt" };
        let server = format!("http://{}", place.server.address);
        let flags = ["--prune", "--server", &server, "--token-file", token];
        run(place.folder.path(), &[&["services", "apply", file][..], &flags].concat())
    };
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(|| apply("one"));
        let other = scope.spawn(|| apply("other"));
        (one.join().unwrap(), other.join().unwrap())
    });
    for (code, _, error) in [&one, &other] {
        assert!(matches!(code, Some(0 | 1)), "{error}");
    }
    assert!(one.0 == Some(0) || other.0 == Some(0), "{one:?} {other:?}");
    let exported = place.well(&["export"]);
    let [ones, others] = ["3000000", "3600000"].map(|text| exported.matches(text).count());
    assert!([(201, 0), (0, 201)].contains(&(ones, others)), "never half: {ones} {others}");
}

#[test]
fn two_who_apply_at_once_never_leave_half() {
    two_at_once(None);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_who_apply_at_once_on_postgres_never_leave_half_either() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let address = database.address();
    tokio::task::spawn_blocking(move || two_at_once(Some(&address))).await.unwrap();
}

#[test]
fn an_export_replaces_the_file_and_a_folder_that_is_not_there_is_told() {
    let place = Place::new();
    place.write("services.yaml", "old");
    place.well(&["export", "services.yaml"]);
    assert!(place.read("services.yaml").contains("version: 1"));
    assert_eq!(place.well(&["export", "-"]), place.read("services.yaml"));
    let left = fs::read_dir(place.folder.path()).unwrap();
    let names: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        !names.iter().any(|name| Path::new(name).extension().is_some_and(|end| end == "partial")),
        "{names:?}"
    );
    let (code, _, error) = place.services(&["export", "none/services.yaml"]);
    assert!(code == Some(2) && error.contains("can't be written"), "{error}");
}
