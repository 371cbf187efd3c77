//! Holds the record of a run to a length, so that it can be kept: what says why it failed stays longest.

use serde_json::Value;

use crate::bounds::MAX_MESSAGE;
use crate::kept::MAX_RECORD_BYTES;
use crate::report::{CheckRecord, RequestRecord, RunRecord};
use crate::text::{cut, cut_value};

/// The most events of a record that was too long.
const EVENTS_LEFT: usize = 200;
/// The most bytes of each text and value in it.
const LEFT: usize = 256;
/// The most failures of one that is still too long then.
const FAILURES_LEFT: usize = 20;
/// The most bytes of each text in it.
const LEAST: usize = 128;

/// What is left out of a record, one after the other until it is short enough.
const CUTS: [fn(&mut RunRecord); 3] = [shorten, drop_passed_checks, keep_reasons];

/// A record as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fitted {
    /// As JSON; `None` when even the shortest form is too long.
    pub(crate) text: Option<String>,
    pub(crate) is_shortened: bool,
}

/// The record as it is kept.
pub(crate) fn fit(record: &RunRecord) -> Fitted {
    let text = serde_json::to_string(record).ok();
    if let Some(text) = text.filter(|text| text.len() <= MAX_RECORD_BYTES) {
        return Fitted { text: Some(text), is_shortened: false };
    }
    let mut short = record.clone();
    let text = CUTS.iter().find_map(|leave_out| {
        leave_out(&mut short);
        serde_json::to_string(&short).ok().filter(|text| text.len() <= MAX_RECORD_BYTES)
    });
    Fitted { text, is_shortened: true }
}

impl RunRecord {
    /// Why it failed, in one line; nothing where it did not.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        // In the mode `log` it has passed with failures: they stand in the record.
        let first = self.failures.first().filter(|_| !self.is_passed())?;
        let more = match self.failures.len() {
            1 => String::new(),
            2 => "; there is another failure".to_owned(),
            count => format!("; there are {} other failures", count.saturating_sub(1)),
        };
        let step = first.step.as_deref().map(|step| format!("{step}: ")).unwrap_or_default();
        Some(cut(&format!("{step}{}{more}", first.message), MAX_MESSAGE))
    }
}

fn shorten(record: &mut RunRecord) {
    record.events.truncate(EVENTS_LEFT);
    record.vars.values_mut().for_each(value);
    for step in &mut record.steps {
        step.request.iter_mut().for_each(request);
        if let Some(answer) = &mut step.answer {
            answer.body = cut(&answer.body, LEFT);
        }
        step.captures.values_mut().for_each(value);
        step.checks.iter_mut().for_each(check);
    }
    record.failures.iter_mut().filter_map(|failure| failure.check.as_mut()).for_each(check);
    for poller in &mut record.pollers {
        poller.request.iter_mut().for_each(request);
        poller.last_value.iter_mut().for_each(value);
    }
}

fn drop_passed_checks(record: &mut RunRecord) {
    for step in &mut record.steps {
        step.checks.retain(|check| !check.is_fine);
    }
}

/// Which steps and pollers there were, and why they failed.
fn keep_reasons(record: &mut RunRecord) {
    record.events.clear();
    record.vars.clear();
    record.failures.truncate(FAILURES_LEFT);
    for step in &mut record.steps {
        (step.request, step.answer) = (None, None);
        step.checks.clear();
        step.captures.clear();
        step.error = step.error.as_deref().map(|error| cut(error, LEAST));
    }
    for poller in &mut record.pollers {
        (poller.request, poller.last_value) = (None, None);
        poller.error = poller.error.as_deref().map(|error| cut(error, LEAST));
    }
}

fn check(check: &mut CheckRecord) {
    value(&mut check.expected);
    check.got.iter_mut().for_each(value);
}

fn request(request: &mut RequestRecord) {
    request.url = cut(&request.url, LEFT);
    request.headers.truncate(LEFT / 32);
    for header in &mut request.headers {
        header.value = cut(&header.value, LEFT);
    }
    request.body = request.body.as_deref().map(|body| cut(body, LEFT));
    // Half a command would do something else than the whole one.
    if request.curl.len() > LEFT.saturating_mul(4) {
        request.curl = String::new();
    }
}

fn value(value: &mut Value) {
    *value = cut_value(value.take(), LEFT);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Mode;
    use crate::report::{
        AnswerRecord, EventRecord, FailureKind, FailureRecord, RunOutcome, StepRecord, StepState,
    };
    use mainstay_base::Timestamp;
    use std::collections::BTreeMap;

    fn record(body: &str, steps: usize, events: u64) -> RunRecord {
        let step = |index: usize| StepRecord {
            id: format!("s{index}"),
            state: StepState::Passed,
            offset_ms: 0.0,
            duration_ms: 1.0,
            request: Some(RequestRecord {
                method: "GET".to_owned(),
                url: "http://127.0.0.1/".to_owned(),
                headers: vec![],
                body: None,
                curl: format!("curl '{body}'"),
            }),
            answer: Some(AnswerRecord {
                status: 200,
                latency_ms: 1.0,
                content_type: None,
                body: body.to_owned(),
                body_bytes: body.len(),
            }),
            checks: vec![],
            captures: BTreeMap::new(),
            error: None,
        };
        let event = |sequence| EventRecord {
            sequence,
            name: "Polled".to_owned(),
            step: "s0".to_owned(),
            poller: None,
            offset_ms: 0.0,
        };
        let failure = |message: &str| FailureRecord {
            step: Some("s0".to_owned()),
            kind: FailureKind::Assertion,
            message: message.to_owned(),
            check: None,
        };
        RunRecord {
            journey: "a".to_owned(),
            mode: Mode::Record,
            outcome: RunOutcome::Failed,
            started_at: Timestamp::from_millis(0),
            duration_ms: 1.0,
            vars: BTreeMap::new(),
            steps: (0..steps).map(step).collect(),
            events: (0..events).map(event).collect(),
            pollers: vec![],
            failures: vec![failure("status is 500"), failure("late")],
        }
    }

    #[test]
    fn a_short_record_is_kept_whole() {
        let record = record("ok", 3, 2);
        let fitted = fit(&record);
        assert!(!fitted.is_shortened);
        let back: RunRecord = serde_json::from_str(&fitted.text.unwrap()).unwrap();
        assert_eq!(back, record);
    }

    #[test]
    fn a_long_one_is_shortened_and_still_says_why_it_failed() {
        let long = record(&"x".repeat(200_000), 100, 10_000);
        let fitted = fit(&long);
        let text = fitted.text.unwrap();
        assert!(fitted.is_shortened && text.len() <= MAX_RECORD_BYTES, "{}", text.len());
        let back: RunRecord = serde_json::from_str(&text).unwrap();
        assert_eq!((back.steps.len(), &back.failures), (100, &long.failures));
    }

    /// A record of which every step has failed, each for so many reasons with as many that are none.
    fn all_failing(steps: usize, checks: usize) -> RunRecord {
        let long = Value::from("x".repeat(4_096));
        let check = |is_fine| CheckRecord {
            what: format!("$.{}", "y".repeat(500)),
            is_fine,
            expected: long.clone(),
            got: Some(long.clone()),
        };
        let mut record = record("", steps, 0);
        record.failures.clear();
        for step in &mut record.steps {
            step.state = StepState::Failed;
            step.checks.extend((0..checks).flat_map(|_| [check(false), check(true)]));
            record.failures.push(FailureRecord {
                step: Some(step.id.clone()),
                kind: FailureKind::Assertion,
                message: "m".repeat(MAX_MESSAGE),
                check: Some(check(false)),
            });
        }
        record
    }

    fn fitted(record: &RunRecord) -> RunRecord {
        let fitted = fit(record);
        let text = fitted.text.unwrap();
        assert!(fitted.is_shortened && text.len() <= MAX_RECORD_BYTES, "{}", text.len());
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn one_in_which_everything_failed_is_shortened_as_far_as_it_must_be() {
        let back = fitted(&all_failing(100, 0));
        assert!(back.failures.len() == 100 && back.steps[0].request.is_some());
        assert!(back.failures.iter().all(|failure| failure.check.is_some()));
        let back = fitted(&all_failing(100, 2));
        assert!(back.steps.iter().all(|step| step.checks.len() == 2 && !step.checks[1].is_fine));
        let back = fitted(&all_failing(100, 50));
        assert_eq!((back.steps.len(), back.failures.len()), (100, FAILURES_LEFT));
        assert_eq!(back.failures[0].message.len(), MAX_MESSAGE);
    }

    #[test]
    fn the_reason_is_the_first_failure_with_its_step() {
        assert_eq!(
            record("", 1, 0).reason().unwrap(),
            "s0: status is 500; there is another failure"
        );
        let passed = RunRecord { outcome: RunOutcome::Passed, mode: Mode::Log, ..record("", 1, 0) };
        assert_eq!(passed.reason(), None, "failures that are only logged are no reason");
    }
}
