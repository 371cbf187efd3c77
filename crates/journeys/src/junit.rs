//! A run as JUnit writes it, for pipelines that show tests.

use std::fmt::Write as _;

use crate::report::{FailureRecord, PollerRecord, RunRecord, StepRecord, StepState};

const MILLIS_PER_SECOND: f64 = 1_000.0;

/// The run as XML: each step and each poller is a test.
#[must_use]
pub fn junit(run: &RunRecord) -> String {
    let tests = run.steps.len().saturating_add(run.pollers.len());
    let cases: Vec<String> = run
        .steps
        .iter()
        .map(|step| step_case(run, step))
        .chain(run.pollers.iter().map(|poller| poller_case(run, poller)))
        .chain(run.failures.iter().filter(|one| one.step.is_none()).map(|one| run_case(run, one)))
        .collect();
    let failures = cases.iter().filter(|case| case.contains("<failure ")).count();
    let skipped = run.steps.iter().filter(|step| step.state == StepState::Skipped).count();
    let tests = tests.max(cases.len());
    let name = escaped(&run.journey);
    let (time, at) = (seconds(run.duration_ms), run.started_at);
    let counts =
        format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"");
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let _ = writeln!(text, "<testsuites {counts} time=\"{time}\">");
    let _ =
        writeln!(text, "  <testsuite name=\"{name}\" {counts} time=\"{time}\" timestamp=\"{at}\">");
    text.extend(cases);
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

fn step_case(run: &RunRecord, step: &StepRecord) -> String {
    let is_told = |one: &&FailureRecord| one.step.as_deref() == Some(step.id.as_str());
    let kind = run.failures.iter().find(is_told).map_or("step", |one| one.kind.name());
    let error = step.error.as_deref().unwrap_or_default();
    let inside = match step.state {
        StepState::Failed if run.mode.is_judging() => failure(kind, error, &detail(step)),
        StepState::Skipped => format!("      <skipped message=\"{}\"/>\n", escaped(error)),
        StepState::Passed | StepState::Failed => String::new(),
    };
    case(run, &step.id, step.duration_ms, &inside)
}

fn poller_case(run: &RunRecord, poller: &PollerRecord) -> String {
    let inside = match &poller.error {
        Some(error) if run.mode.is_judging() => {
            let last = poller.last_value.as_ref().map(ToString::to_string).unwrap_or_default();
            failure("poller", error, &format!("{} polls, last: {last}", poller.poll_count))
        }
        _ => String::new(),
    };
    case(run, &format!("{} (poll)", poller.step), poller.duration_ms, &inside)
}

fn run_case(run: &RunRecord, one: &FailureRecord) -> String {
    case(run, "(the run)", run.duration_ms, &failure(one.kind.name(), &one.message, ""))
}

fn case(run: &RunRecord, name: &str, millis: f64, inside: &str) -> String {
    let (class, name, time) = (escaped(&run.journey), escaped(name), seconds(millis));
    let head = format!("    <testcase classname=\"{class}\" name=\"{name}\" time=\"{time}\"");
    if inside.is_empty() {
        format!("{head}/>\n")
    } else {
        format!("{head}>\n{inside}    </testcase>\n")
    }
}

fn failure(kind: &str, message: &str, detail: &str) -> String {
    let (message, detail) = (escaped(message), escaped(detail));
    format!("      <failure type=\"{kind}\" message=\"{message}\">{detail}</failure>\n")
}

fn detail(step: &StepRecord) -> String {
    let failed = step.checks.iter().filter(|check| !check.is_fine).map(|check| {
        let got = check.got.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string);
        format!("{}: expected {}, got {got}", check.what, check.expected)
    });
    let curl = step.request.iter().map(|request| request.curl.clone());
    failed.chain(curl).collect::<Vec<_>>().join("\n")
}

fn seconds(millis: f64) -> String {
    format!("{:.3}", millis / MILLIS_PER_SECOND)
}

/// What XML can't hold at all is left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push(' '),
            '\u{FFFE}' | '\u{FFFF}' => {}
            letter if letter.is_control() => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}
