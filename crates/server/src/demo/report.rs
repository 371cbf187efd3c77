//! A report of the demo's own incident: the transcript of the call about it, with its time.

use std::time::Duration;

use bytes::Bytes;
use mainstay_accounts::PageAsk;
use mainstay_base::Timestamp;
use mainstay_reports::{FileName, Window};
use mainstay_standins::Story;
use mainstay_standins::story::{Act, Happening, PAST_MS};

use crate::rooms::Rooms;

/// What was said in the call; the guide shows the same.
const CALL: &str = include_str!("../../../../docs/guide/examples/incident-call.vtt");
const NAME: &str = "incident-call.vtt";
/// How often the past is looked at for the incident.
const STEP_MS: i64 = 60 * 60 * 1_000;
/// What is looked at before the incident and after it.
const AROUND: Duration = Duration::from_mins(3);

/// Uploads the transcript for the only account there is; the runner makes the report of it.
pub(super) async fn upload(rooms: &Rooms, story: Story, now: Timestamp) -> anyhow::Result<()> {
    let people = rooms.accounts.users(PageAsk { after: None, limit: 1 }).await?;
    let Some(user) = people.items.first() else { return Ok(()) };
    let window = incident(story).and_then(|incident| window(&incident, now));
    let mut upload = rooms.reports.upload(user.id, FileName::parse(NAME)?)?;
    upload.write(Bytes::from_static(CALL.as_bytes())).await?;
    upload.finish(window, Box::new(|_| Box::pin(async { Ok(()) }))).await?;
    Ok(())
}

/// When the shared database slowed in the past of the story.
fn incident(story: Story) -> Option<Happening> {
    let moments =
        (1..).map(|step: i64| step.saturating_mul(-STEP_MS)).take_while(|at| *at > -PAST_MS);
    let mut happened = moments.flat_map(|at| story.around(at));
    happened.find(|one| one.act == Act::DatabaseSlows)
}

fn window(incident: &Happening, now: Timestamp) -> Option<Window> {
    let around = i64::try_from(AROUND.as_millis()).unwrap_or(0);
    let at = |story_ms: i64| Timestamp::from_millis(now.as_millis().saturating_add(story_ms));
    let (from, to) = (incident.from.saturating_sub(around), incident.end().saturating_add(around));
    Window::new(at(from), at(to), now).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_past_of_every_story_has_the_incident() {
        let now = Timestamp::from_millis(1_794_776_400_000);
        for seed in 0..50 {
            let incident = incident(Story { seed }).unwrap();
            let window = window(&incident, now).unwrap();
            assert!(window.to < now, "{seed}");
        }
    }
}
