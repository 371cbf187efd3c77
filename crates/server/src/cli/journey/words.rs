//! How a run is told to a person.

use mainstay_base::is_hidden;
use mainstay_journeys::RunRecord;
use mainstay_journeys::report::{EventRecord, FailureRecord, StepRecord, StepState};

/// What is longer is cut; JSON has it whole.
const MAX_LINE: usize = 300;
const MILLIS_PER_SECOND: f64 = 1_000.0;

/// `1 step`, `2 steps`.
pub(super) fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// `34.2 ms`, `1.60 s`.
pub(super) fn time(millis: f64) -> String {
    if millis < MILLIS_PER_SECOND {
        format!("{millis:.1} ms")
    } else {
        format!("{:.2} s", millis / MILLIS_PER_SECOND)
    }
}

/// On one line, without escape codes and read from its own side: the text may be somebody else's.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|letter| if is_hidden(letter) { ' ' } else { letter }).collect()
}

/// The same, cut where it is long.
pub(super) fn plain(text: &str) -> String {
    let clean = clean(text);
    match clean.char_indices().nth(MAX_LINE) {
        Some(_) => clean.chars().take(MAX_LINE.saturating_sub(1)).chain(['…']).collect(),
        None => clean,
    }
}

/// A step that has ended: `create: POST http://…/authorizations → 201 in 34.2 ms`.
pub(super) fn step(step: &StepRecord) -> String {
    let request = step.request.as_ref();
    let asked = request.map(|request| format!(": {} {}", request.method, request.url));
    let status = step.answer.as_ref().map(|answer| format!(" → {}", answer.status));
    let took = match step.state {
        StepState::Skipped => String::new(),
        StepState::Passed | StepState::Failed => format!(" in {}", time(step.duration_ms)),
    };
    let (asked, status) = (asked.unwrap_or_default(), status.unwrap_or_default());
    plain(&format!("{}{asked}{status}{took}", step.id))
}

/// `AuthorizationCreated from create`.
pub(super) fn event(event: &EventRecord) -> String {
    plain(&format!("{} from {}", event.name, event.step))
}

/// `create: status: expected 201, got 500`.
pub(super) fn failure(failure: &FailureRecord) -> String {
    let step = failure.step.as_deref().unwrap_or("the run");
    plain(&format!("{step}: {}", failure.message))
}

/// `failed in 1.60 s: 2 steps, 3 events, 1 failure`.
pub(super) fn sum(run: &RunRecord) -> String {
    let outcome = if run.is_passed() { "passed" } else { "failed" };
    let mut parts = vec![counted(run.steps.len(), "step"), counted(run.events.len(), "event")];
    if !run.failures.is_empty() {
        let word = if run.is_passed() { "warning" } else { "failure" };
        parts.push(counted(run.failures.len(), word));
    }
    format!("{outcome} in {}: {}", time(run.duration_ms), parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_else_wrote_moves_nothing_on_a_terminal() {
        assert_eq!(plain("no\u{1b}[2J\u{202e}rule\nfits"), "no [2J rule fits");
        assert_eq!(plain(&"x".repeat(MAX_LINE + 1)).chars().count(), MAX_LINE);
    }
}
