//! A run as JUnit writes it, for pipelines that show tests.

use std::fmt::Write as _;

use crate::report::{FailureKind, FailureRecord, PollerRecord, RunRecord, StepRecord, StepState};

const MILLIS_PER_SECOND: f64 = 1_000.0;

/// The run as XML: each step and each poller is a test. Of a run that passed none has failed, and of one that failed
/// at least one.
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
    let skipped = cases.iter().filter(|case| case.contains("<skipped ")).count();
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
    let own = run.failures.iter().find(|one| is_of_step(one, step));
    let kind = own.map_or("step", |one| one.kind.name());
    let error = step.error.as_deref().or_else(|| own.map(|one| one.message.as_str()));
    let error = error.unwrap_or_default();
    let has_failed = step.state == StepState::Failed || own.is_some();
    let inside = match step.state {
        _ if has_failed && !run.is_passed() => failure(kind, error, &detail(step)),
        StepState::Skipped => format!("      <skipped message=\"{}\"/>\n", escaped(error)),
        StepState::Passed | StepState::Failed => String::new(),
    };
    case(run, &step.id, step.duration_ms, &inside)
}

/// What its poller did wrong is told with the poller.
fn is_of_step(failure: &FailureRecord, step: &StepRecord) -> bool {
    failure.step.as_deref() == Some(step.id.as_str())
        && !matches!(failure.kind, FailureKind::Poller | FailureKind::Timeout)
}

fn poller_case(run: &RunRecord, poller: &PollerRecord) -> String {
    let inside = match &poller.error {
        Some(error) if !run.is_passed() => {
            let last = poller.last_value.as_ref().map(ToString::to_string).unwrap_or_default();
            let skipped = match poller.skipped_count {
                0 => String::new(),
                skipped => format!(", {skipped} skipped while the host was left alone"),
            };
            let polls = format!("{} polls{skipped}, last: {last}", poller.poll_count);
            failure("poller", error, &polls)
        }
        _ => String::new(),
    };
    case(run, &format!("{} (poll)", poller.step), poller.duration_ms, &inside)
}

fn run_case(run: &RunRecord, one: &FailureRecord) -> String {
    let told =
        if run.is_passed() { String::new() } else { failure(one.kind.name(), &one.message, "") };
    case(run, "(the run)", run.duration_ms, &told)
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
    let curl = curl.filter(|curl| !curl.is_empty());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Mode;
    use crate::report::RunOutcome;
    use mainstay_base::Timestamp;
    use std::collections::BTreeMap;

    fn run(mode: Mode, outcome: RunOutcome, failures: Vec<FailureRecord>) -> RunRecord {
        let step = |id: &str, state, error: Option<&str>| StepRecord {
            id: id.to_owned(),
            state,
            offset_ms: 0.0,
            duration_ms: 1.0,
            request: None,
            answer: None,
            checks: vec![],
            captures: BTreeMap::new(),
            error: error.map(str::to_owned),
        };
        RunRecord {
            journey: "a".to_owned(),
            mode,
            outcome,
            started_at: Timestamp::from_millis(0),
            duration_ms: 1.0,
            vars: BTreeMap::new(),
            steps: vec![
                step("one", StepState::Passed, None),
                step("two", StepState::Failed, Some("no answer")),
                step("three", StepState::Skipped, Some("it waited")),
            ],
            events: vec![],
            pollers: vec![],
            failures,
        }
    }

    fn failed(step: Option<&str>, kind: FailureKind) -> FailureRecord {
        let message = "so it was".to_owned();
        FailureRecord { step: step.map(str::to_owned), kind, message, check: None }
    }

    /// As whoever reads it and whoever reads the exit code should agree.
    #[test]
    fn failures_are_told_of_a_run_that_failed_and_of_no_other() {
        let (of_run, of_step) = (FailureKind::RunTimeout, FailureKind::NeverReady);
        for (mode, outcome, failures, counts) in [
            (
                Mode::Log,
                RunOutcome::Passed,
                vec![failed(None, of_run)],
                "tests=\"4\" failures=\"0\"",
            ),
            (
                Mode::Log,
                RunOutcome::Failed,
                vec![failed(None, of_run)],
                "tests=\"4\" failures=\"2\"",
            ),
            (
                Mode::Record,
                RunOutcome::Failed,
                vec![failed(Some("three"), of_step)],
                "tests=\"3\" failures=\"2\"",
            ),
            (
                Mode::Disabled,
                RunOutcome::Failed,
                vec![failed(Some("one"), FailureKind::Bound)],
                "tests=\"3\" failures=\"2\"",
            ),
        ] {
            let xml = junit(&run(mode, outcome, failures));
            assert!(xml.contains(counts), "{mode} {outcome:?}: {xml}");
            let skipped = usize::from(!xml.contains("never_ready"));
            assert!(xml.contains(&format!("skipped=\"{skipped}\"")), "{xml}");
        }
    }
}
