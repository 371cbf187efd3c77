//! The guide's examples are what is read here, so that they can't drift.

use std::path::Path;

use mainstay_monitor::Format;

use crate::{NOW, mapped, read};

/// The JSON blocks under a heading of the guide.
fn blocks(heading: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/formats.md");
    let guide = std::fs::read_to_string(path).unwrap();
    let start = format!("\n{heading}\n");
    let (_, rest) = guide.split_once(&start).unwrap_or_else(|| panic!("no {heading}"));
    let section = rest.split("\n## ").next().unwrap().split("\n### ").next().unwrap();
    let blocks = section.split("```json\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

/// The lines that a table would have: name, type, status, latency, message.
fn table(heading: &str) -> Vec<String> {
    let blocks = blocks(heading);
    let report = match blocks.as_slice() {
        [body] => read(body),
        [body, mapping] => mapped(mapping, body),
        other => panic!("{heading} has {} blocks", other.len()),
    };
    let report = report.unwrap();
    assert_eq!(report.warnings, [], "{heading}");
    let line = |one: &mainstay_monitor::Reported| {
        let message = one.error_message.as_deref().unwrap_or("-");
        format!("{} {} {} {:?} {message}", one.name, one.kind, one.status(), one.latency)
    };
    report.dependencies.iter().map(line).collect()
}

#[test]
fn proactive_deps() {
    assert_eq!(
        table("## proactive-deps"),
        [
            "orders-db database healthy 3.2ms -",
            "payments rest down 1.501s timed out after 1500 ms",
            "legacy-mail other skipped 0ns -",
        ]
    );
}

#[test]
fn spring_boot_actuator() {
    assert_eq!(
        table("### Spring Boot Actuator"),
        [
            "db other healthy 0ns -",
            "diskSpace other healthy 0ns -",
            "redis other down 0ns org.springframework.data.redis.RedisConnectionFailureException: Unable to connect to Redis",
        ]
    );
}

#[test]
fn aspnet_health_checks() {
    assert_eq!(
        table("### ASP.NET Health Checks"),
        [
            "sqlserver other healthy 12.346ms -",
            "rabbitmq other down 2.001043s None of the specified endpoints were reachable",
            "blob-storage other degraded 840.5ms -",
        ]
    );
}

#[test]
fn a_plain_nested_array() {
    assert_eq!(
        table("### A nested array"),
        [
            "postgres database healthy 4ms -",
            "search http down 0ns index is read-only",
            "cache other skipped 0ns -",
        ]
    );
}

/// Every block of the guide is JSON, and each mapping is taken.
#[test]
fn every_mapping_is_taken() {
    let sections = ["### Spring Boot Actuator", "### ASP.NET Health Checks", "### A nested array"];
    for section in sections {
        let [body, mapping] = <[String; 2]>::try_from(blocks(section)).unwrap();
        let format = Format::parse("schema", Some(&mapping)).unwrap();
        assert!(format.read(body.as_bytes(), NOW).is_ok(), "{section}");
    }
}
