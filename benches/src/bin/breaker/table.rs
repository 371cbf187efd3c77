//! Prints the figures, and the same as a table for the reader.

use std::io::{self, Write as _};

use mainstay_benches::figure::print;

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
        print(&format!("breaker.{}.{}", one.contestant, one.name), one.nanos, "ns")?;
    }
    let mut table = String::new();
    for columns in [&FLOORS[..], &COLUMNS[..]] {
        table.push_str(&rows(measured, columns));
    }
    io::stderr().write_all(table.as_bytes())
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
    ("two_threads_sync", "2 threads"),
    ("two_threads_async", "async"),
    ("open_sync", "open"),
    ("open_async", "async"),
    ("ring_100", "ring 100"),
    ("ring_10000", "10000"),
    ("window_100", "time 100"),
    ("window_10000", "10000"),
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
