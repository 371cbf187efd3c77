//! What Prometheus reads.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::client::get;
use crate::process::Server;

/// Set by ./scripts/test where promtool can be had.
const PROMTOOL: &str = "MAINSTAY_TEST_PROMTOOL";

fn scraped() -> String {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    for path in ["/", "/api/system", "/api/nothing", "/readyz", "/metrics"] {
        get(&server.address, path);
    }
    let answer = get(&server.address, "/metrics");
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    server.stop();
    answer.text()
}

#[test]
fn every_metric_has_help_a_type_and_a_name_by_the_rules() {
    let text = scraped();
    for name in [
        "mainstay_build_info",
        "mainstay_http_request_duration_seconds_bucket",
        "mainstay_http_requests_total",
        "mainstay_log_lines_dropped_total",
        "mainstay_runtime_tasks",
        "mainstay_store_connections",
        "mainstay_store_statement_duration_seconds_bucket",
        "mainstay_store_transaction_duration_seconds_bucket",
        "process_cpu_seconds_total",
        "process_open_fds",
        "process_resident_memory_bytes",
    ] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name} is missing:\n{text}");
    }
    for line in text.lines().filter(|line| line.starts_with("# TYPE ")) {
        let mut words = line.split(' ').skip(2);
        let (name, kind) = (words.next().unwrap(), words.next().unwrap());
        assert!(text.contains(&format!("# HELP {name} ")), "{name} has no help");
        assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
        assert!(kind != "histogram" || name.ends_with("_seconds"), "{line}");
        assert!(kind != "summary", "{name} has no buckets");
    }
    assert!(!text.contains("nothing"), "a raw path became a label:\n{text}");
}

#[test]
fn promtool_takes_the_alert_rules() {
    let Some(promtool) = std::env::var_os(PROMTOOL).filter(|path| !path.is_empty()) else {
        println!("{PROMTOOL} is not set: promtool was not asked");
        return;
    };
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/monitoring/alerts.yml");
    let output = Command::new(promtool).args(["check", "rules", rules]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
}

#[test]
fn promtool_finds_nothing_to_say() {
    let Some(promtool) = std::env::var_os(PROMTOOL).filter(|path| !path.is_empty()) else {
        // The check above holds the rules everywhere; this one needs Prometheus' own program.
        println!("{PROMTOOL} is not set: promtool was not asked");
        return;
    };
    let mut child = Command::new(promtool)
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(scraped().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.is_empty(), "{said}");
}
