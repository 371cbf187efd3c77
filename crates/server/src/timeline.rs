//! What the monitor recorded in the time of an incident, for whoever writes its report.

use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::Timestamp;
use mainstay_events::{Events, PastEvent, Stream};
use mainstay_monitor::Past;
use mainstay_reports::prompt::{RecordedEntry, RecordedTimeline};
use mainstay_reports::timelines::MAX_RECORDED;
use mainstay_reports::{TimelineError, Timelines, Window};
use serde_json::Value;

/// What is told of breakers and of journeys.
const TOLD: [&str; 6] = [
    "circuit:open",
    "circuit:half_open",
    "circuit:close",
    "journey:failed",
    "journey:recovered",
    "journey:set_aside",
];
/// Events of both that are told at most, beside everything else.
const MOST_TOLD: u32 = 100;
/// Whoever says "until now" is asked about a moment that the database's clock may not have reached.
const A_MOMENT: Duration = Duration::from_millis(1);

/// The past of this installation.
pub(crate) struct Monitored {
    pub(crate) past: Past,
    pub(crate) events: Events,
    /// How long a missing dependency is shown.
    pub(crate) missing_for: Duration,
}

impl Timelines for Monitored {
    fn recorded(&self, window: Window) -> BoxFuture<'_, Result<RecordedTimeline, TimelineError>> {
        Box::pin(async move {
            let Window { from, to } = window;
            let mut entries = self.told(from, to).await?;
            // After them: what is removed meanwhile counts as gone.
            let kept_since = self.events.kept_since(Stream::Org).await.map_err(failed)?;
            let most = MAX_RECORDED.saturating_sub(entries.len()).saturating_sub(1);
            let told = self.past.tell((from, to), self.missing_for, most).await.map_err(failed)?;
            let lines = told.lines.into_iter();
            entries.extend(lines.map(|one| RecordedEntry { at: one.at, what: one.what }));
            let covered = told.covered.map(|(from, to)| Window { from, to });
            entries.splice(0..0, covered.and_then(|covered| not_kept(covered, kept_since)));
            entries.sort_by_key(|entry| entry.at);
            Ok(RecordedTimeline { window, covered, entries })
        })
    }
}

impl Monitored {
    async fn told(
        &self,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Vec<RecordedEntry>, TimelineError> {
        let kinds = TOLD.map(str::to_owned);
        let span = (from, to.plus(A_MOMENT));
        let first = self.events.between(Stream::Org, &kinds, span, MOST_TOLD.saturating_add(1));
        let first = entries(first.await.map_err(failed)?);
        if first.len() <= most_told() {
            return Ok(first);
        }
        let last = self.events.last_between(Stream::Org, &kinds, span, MOST_TOLD);
        Ok(both_ends(first, entries(last.await.map_err(failed)?)))
    }
}

fn most_told() -> usize {
    usize::try_from(MOST_TOLD).unwrap_or(usize::MAX)
}

fn entries(told: Vec<PastEvent>) -> Vec<RecordedEntry> {
    let entries = told.into_iter().map(|event| {
        let fields: Value = serde_json::from_str(&event.fields).unwrap_or_default();
        RecordedEntry { at: event.at, what: words(&event.kind, &fields) }
    });
    entries.collect()
}

/// At most [`MOST_TOLD`] of those that were first and of those that were last: how it began and how it ended
/// says most. That something between them is left out is told in its place.
fn both_ends(mut first: Vec<RecordedEntry>, mut last: Vec<RecordedEntry>) -> Vec<RecordedEntry> {
    let at_the_end = most_told() / 2;
    last.drain(..last.len().saturating_sub(at_the_end));
    first.truncate(most_told().saturating_sub(at_the_end));
    let until = last.first().map(|one| one.at);
    if let (Some(gap), Some(until)) = (first.last_mut(), until) {
        gap.what = format!(
            "more happened to breakers and journeys, which is left out from here on until {until}"
        );
    }
    first.extend(last);
    first
}

/// That nothing is known of breakers and journeys in a part of the covered time: their events are kept for
/// less long than the history of services.
fn not_kept(covered: Window, kept_since: Option<Timestamp>) -> Option<RecordedEntry> {
    let since = kept_since.filter(|since| *since > covered.from)?.min(covered.to);
    let what = format!(
        "what happened to breakers and journeys before {since} is not kept any more: whether anything did is not known"
    );
    Some(RecordedEntry { at: covered.from, what })
}

fn words(kind: &str, fields: &Value) -> String {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    if !kind.starts_with("journey:") {
        return breaker(kind, text("service_name").unwrap_or("(unknown)"));
    }
    let name = text("journey_name").unwrap_or("(unknown)");
    let message = text("message").map(|message| format!(": {message}")).unwrap_or_default();
    let touches = fields.get("touches").and_then(Value::as_array);
    let touches: Vec<&str> = touches.into_iter().flatten().filter_map(Value::as_str).collect();
    let crossing = match touches.as_slice() {
        [] => String::new(),
        names => format!(", which crosses {},", names.join(", ")),
    };
    match kind {
        "journey:failed" => format!("the journey {name}{crossing} began to fail{message}"),
        "journey:set_aside" => {
            let done = if text("reason") == Some("removed") { "deleted" } else { "switched off" };
            format!(
                "the journey {name}{crossing} was {done} while it was failing: whether it works is not known from then on"
            )
        }
        _ => format!("the journey {name}{crossing} works again"),
    }
}

fn breaker(kind: &str, service: &str) -> String {
    match kind {
        "circuit:open" => format!("the breaker of service {service} opened: it is left alone"),
        "circuit:half_open" => format!("the breaker of service {service} lets one poll try"),
        _ => format!("the breaker of service {service} closed: it is polled as usual"),
    }
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> TimelineError {
    TimelineError(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn of_more_than_can_be_told_both_ends_are_and_that_there_was_more_is_told() {
        let entries = |from: i64, to: i64| -> Vec<RecordedEntry> {
            let at = |n| RecordedEntry { at: Timestamp::from_millis(n), what: n.to_string() };
            (from..to).map(at).collect()
        };
        let told = both_ends(entries(0, 101), entries(900, 1_000));
        assert_eq!(told.len(), 100);
        assert_eq!(told[..49], entries(0, 49));
        assert_eq!(told[50..], entries(950, 1_000));
        let gap = &told[49];
        assert_eq!(gap.at, Timestamp::from_millis(49));
        assert!(
            gap.what.contains("left out from here on until 1970-01-01T00:00:00.950"),
            "{gap:?}"
        );
    }

    #[test]
    fn what_is_not_kept_of_breakers_and_journeys_is_told() {
        let at = Timestamp::from_millis;
        let covered = Window { from: at(1_000), to: at(9_000) };
        for since in [None, Some(at(0)), Some(at(1_000))] {
            assert_eq!(not_kept(covered, since), None, "{since:?}");
        }
        for (since, shown) in [(5_000, "1970-01-01T00:00:05"), (99_000, "1970-01-01T00:00:09")] {
            let told = not_kept(covered, Some(at(since))).unwrap();
            assert_eq!(told.at, at(1_000));
            assert!(told.what.contains(&format!("before {shown}")), "{}", told.what);
        }
    }

    #[test]
    fn journeys_and_breakers_are_told_in_words() {
        let failed = json!({"journey_name": "pay", "touches": ["a", "b"], "message": "create: status is 500"});
        assert_eq!(
            words("journey:failed", &failed),
            "the journey pay, which crosses a, b, began to fail: create: status is 500"
        );
        assert_eq!(
            words("journey:recovered", &json!({"journey_name": "pay"})),
            "the journey pay works again"
        );
        for (reason, done) in [("switched_off", "switched off"), ("removed", "deleted")] {
            let aside = json!({"journey_name": "pay", "touches": ["a"], "reason": reason});
            let told = words("journey:set_aside", &aside);
            let expected =
                format!("the journey pay, which crosses a, was {done} while it was failing: ");
            assert!(TOLD.contains(&"journey:set_aside") && told.starts_with(&expected), "{told}");
        }
        assert_eq!(
            words("circuit:open", &json!({"service_name": "Orders"})),
            "the breaker of service Orders opened: it is left alone"
        );
    }
}
