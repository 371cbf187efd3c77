//! The report for a person.

use std::time::Duration;

use mainstay_monitor::{DependencyStatus, Report, Reported};
use mainstay_outbound::WebAnswer;

/// What is longer is cut here; JSON has it whole.
const MAX_NAME: usize = 48;
const MAX_MESSAGE: usize = 100;
const MAX_WARNING: usize = 400;

const HEAD: [&str; COLUMNS] = ["NAME", "STATUS", "STATE", "CODE", "LATENCY", "MESSAGE"];
const COLUMNS: usize = 6;

/// The statuses that a report can have, the worst first.
const STATUSES: [DependencyStatus; 4] = [
    DependencyStatus::Down,
    DependencyStatus::Degraded,
    DependencyStatus::Healthy,
    DependencyStatus::Skipped,
];

/// The table, its sum and the warnings.
pub(super) fn text(report: &Report, answer: Option<&WebAnswer>) -> String {
    let mut text = String::new();
    if !report.dependencies.is_empty() {
        let rows: Vec<_> = report.dependencies.iter().map(row).collect();
        text.push_str(&aligned(&rows));
        text.push('\n');
    }
    text.push_str(&sum(report, answer));
    for warning in &report.warnings {
        text.push_str(&format!("warning: {}\n", plain(&warning.to_string(), MAX_WARNING)));
    }
    text
}

fn row(one: &Reported) -> [String; COLUMNS] {
    [
        plain(&one.name, MAX_NAME),
        one.status().name().to_owned(),
        one.state.number().to_string(),
        one.code.to_string(),
        if one.latency.is_zero() { "-".to_owned() } else { shown(one.latency) },
        plain(one.error_message.as_deref().unwrap_or_default(), MAX_MESSAGE),
    ]
}

fn aligned(rows: &[[String; COLUMNS]]) -> String {
    let head = HEAD.map(str::to_owned);
    let lines: Vec<_> = std::iter::once(&head).chain(rows).collect();
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..COLUMNS).map(width).collect();
    let joined = |line: &[String; COLUMNS]| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    lines.into_iter().map(joined).collect()
}

/// `3 dependencies: 1 down, 2 healthy; answered 200 in 12.5 ms`.
fn sum(report: &Report, answer: Option<&WebAnswer>) -> String {
    let counts = STATUSES.into_iter().filter_map(|status| {
        let count = report.dependencies.iter().filter(|one| one.status() == status).count();
        (count > 0).then(|| format!("{count} {status}"))
    });
    let counts = counts.collect::<Vec<_>>().join(", ");
    let dependencies = match report.dependencies.len() {
        0 => "no dependencies".to_owned(),
        1 => format!("1 dependency: {counts}"),
        more => format!("{more} dependencies: {counts}"),
    };
    let answered = answer
        .map(|answer| format!("; answered {} in {}", answer.status, shown(answer.latency)))
        .unwrap_or_default();
    format!("{dependencies}{answered}\n")
}

fn shown(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1_000.0)
}

/// On one line and without escape codes: the text is somebody else's.
fn plain(text: &str, max: usize) -> String {
    let clean = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    let clean: String = clean.collect();
    match clean.char_indices().nth(max) {
        Some(_) => clean.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
        None => clean,
    }
}
