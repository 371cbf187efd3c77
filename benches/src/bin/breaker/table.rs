//! Prints the figures, and the same as a table for the reader.

use std::io::{self, Write as _};

use mainstay_benches::figure::print;

use crate::peers::OURS;
use crate::rounds::Measured;

/// How wide a column is.
const WIDTH: usize = 9;
const NAME_WIDTH: usize = 20;

/// One `figure` line each on standard output, and a row for each contestant on standard error.
///
/// # Errors
/// When they are closed.
pub(crate) fn print_all(measured: &[Measured]) -> io::Result<()> {
    for one in measured {
        print(&format!("{}.{}", shown(one.contestant), one.name), one.nanos, "ns")?;
    }
    let mut table = String::new();
    for columns in [&FLOORS[..], &COLUMNS[..]] {
        table.push_str(&rows(measured, columns));
    }
    io::stderr().write_all(table.as_bytes())
}

/// How a contestant is called in a figure: the breaker of this house is the one that the bench is about.
pub(crate) fn shown(contestant: &str) -> &str {
    if contestant == OURS { "breaker" } else { contestant }
}

/// The floors with their headings.
const FLOORS: [(&str, &str); 6] = [
    ("bare_sync", "bare"),
    ("bare_async", "bare async"),
    ("instant_now", "Instant"),
    ("coarse_clock", "coarse"),
    ("fetch_add", "fetch_add"),
    ("mutex_pair", "mutex"),
];
/// The cases with their headings.
const COLUMNS: [(&str, &str); 10] = [
    ("closed_sync", "closed"),
    ("closed_async", "async"),
    ("two_threads", "2 threads"),
    ("two_threads_async", "async"),
    ("open_reject", "open"),
    ("open_reject_async", "async"),
    ("count_ring", "ring 100"),
    ("count_ring_10000", "10000"),
    ("rolling_100", "time 100"),
    ("rolling_10000", "10000"),
];

fn rows(measured: &[Measured], columns: &[(&str, &str)]) -> String {
    let heading = columns.iter().map(|(_, heading)| format!(" {heading:>WIDTH$}"));
    let mut text = format!("\n{:NAME_WIDTH$}{}\n", "ns for each call", heading.collect::<String>());
    let mut seen: Vec<&str> = Vec::new();
    for one in measured {
        let has_column = columns.iter().any(|(name, _)| *name == one.name);
        if !has_column || seen.contains(&one.contestant) {
            continue;
        }
        seen.push(one.contestant);
        let cells = columns.iter().map(|(name, _)| cell(measured, one.contestant, name));
        text.push_str(&format!("{:NAME_WIDTH$}{}\n", one.contestant, cells.collect::<String>()));
    }
    text
}

fn cell(measured: &[Measured], contestant: &str, name: &str) -> String {
    let found = measured.iter().find(|one| one.contestant == contestant && one.name == name);
    found.map_or_else(|| format!(" {:>WIDTH$}", "–"), |one| format!(" {:>WIDTH$.1}", one.nanos))
}
