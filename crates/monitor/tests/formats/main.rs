//! Every sentence of the guide about formats, from the outside.
#![cfg(test)]

mod bad_bodies;
mod config;
mod guide;
mod proactive;
mod property;
mod schema;

use mainstay_base::Timestamp;
use mainstay_monitor::{BadBody, Format, Report, Reported};

/// 2026-11-15T21:00:00Z.
const NOW: Timestamp = Timestamp::from_millis(1_794_776_400_000);

fn read(body: &str) -> Result<Report, BadBody> {
    Format::ProactiveDeps.read(body.as_bytes(), NOW)
}

fn mapped(config: &str, body: &str) -> Result<Report, BadBody> {
    let format = Format::parse("schema", Some(config)).unwrap_or_else(|error| panic!("{error}"));
    format.read(body.as_bytes(), NOW)
}

/// The only dependency of a report without warnings.
fn only(report: Result<Report, BadBody>) -> Reported {
    let Report { mut dependencies, warnings } = report.unwrap();
    assert_eq!(warnings, [], "{dependencies:?}");
    assert_eq!(dependencies.len(), 1, "{dependencies:?}");
    dependencies.remove(0)
}

/// The names that were kept, and the warnings as they are shown.
fn told(report: Result<Report, BadBody>) -> (Vec<String>, Vec<String>) {
    let report = report.unwrap();
    let names = report.dependencies.into_iter().map(|dependency| dependency.name).collect();
    (names, report.warnings.iter().map(ToString::to_string).collect())
}
