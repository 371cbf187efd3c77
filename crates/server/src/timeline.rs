//! What the monitor recorded in the time of an incident, for whoever writes its report.

use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::Timestamp;
use mainstay_events::{Events, Stream};
use mainstay_monitor::Past;
use mainstay_reports::prompt::{RecordedEntry, RecordedTimeline};
use mainstay_reports::timelines::MAX_RECORDED;
use mainstay_reports::{TimelineError, Timelines, Window};
use serde_json::Value;

/// The events of breakers.
const BREAKERS: [&str; 3] = ["circuit:open", "circuit:half_open", "circuit:close"];
/// Events of breakers that are told at most, beside everything else.
const MOST_BREAKERS: u32 = 100;
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
            let mut entries = self.breakers(from, to).await?;
            let most = MAX_RECORDED.saturating_sub(entries.len());
            let told = self.past.tell((from, to), self.missing_for, most).await.map_err(failed)?;
            entries
                .extend(told.into_iter().map(|one| RecordedEntry { at: one.at, what: one.what }));
            entries.sort_by_key(|entry| entry.at);
            Ok(RecordedTimeline { from, to, entries })
        })
    }
}

impl Monitored {
    async fn breakers(
        &self,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Vec<RecordedEntry>, TimelineError> {
        let kinds = BREAKERS.map(str::to_owned);
        let span = (from, to.plus(A_MOMENT));
        let told = self.events.between(Stream::Org, &kinds, span, MOST_BREAKERS).await;
        let entries = told.map_err(failed)?.into_iter().map(|event| {
            let fields: Value = serde_json::from_str(&event.fields).unwrap_or_default();
            let service = fields.get("service_name").and_then(Value::as_str);
            let what = breaker(&event.kind, service.unwrap_or("(unknown)"));
            RecordedEntry { at: event.at, what }
        });
        Ok(entries.collect())
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
