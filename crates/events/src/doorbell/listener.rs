//! Hears the bells of other instances on one connection for the whole process. It is made anew when
//! it is lost, silent to a question, or deaf; then anything may have changed.

use std::sync::Arc;
use std::time::Duration;

use mainstay_store::{Listener, Notice, StoreError};
use serde::Deserialize;

use super::marks::{self, Marks};
use super::pending::{ANYTHING, who_and_what};
use super::{Doorbell, Topic};
use crate::backoff::Backoff;
use crate::hub::Hub;
use crate::measure;
use crate::stream::Stream;
use crate::sweep::Hearing;
use crate::trouble::Trouble;

/// How often a sign of life is asked for.
const PROBE_EVERY: Duration = Duration::from_secs(5);

const CHANNELS: [&str; 5] = [
    Topic::StateChanges.name(),
    Topic::Jobs.name(),
    Topic::Connections.name(),
    Topic::Access.name(),
    Topic::Polling.name(),
];

/// The part of a bell that is looked at; the rest is for other listeners of the database.
#[derive(Debug, Deserialize)]
struct Told {
    stream: String,
    #[serde(default)]
    seq: i64,
    #[serde(default)]
    rung_by: String,
}

/// Runs until the stop.
pub(crate) async fn run(doorbell: Doorbell, hub: Hub, hearing: Arc<Hearing>) {
    let stop = hub.tools().stop.clone();
    let mut backoff = Backoff::new(Arc::clone(&hub.tools().rng));
    let trouble = Trouble::new("listening for the bells of other instances");
    let listening = async {
        loop {
            match Listener::connect(&hub.tools().db, &CHANNELS).await {
                Ok(None) => return,
                Ok(Some(listener)) => {
                    backoff.reset();
                    trouble.went_well();
                    measure::connected(true);
                    hearing.connected(true);
                    told_anything(&doorbell, &hub);
                    let why = hear(listener, &doorbell, &hub, &hearing).await;
                    hearing.connected(false);
                    tracing::info!(%why, "the listening connection is made anew");
                }
                Err(error) => {
                    trouble.failed(&error);
                    measure::connected(false);
                }
            }
            backoff.wait().await;
        }
    };
    stop.run_until_cancelled(listening).await;
    measure::listening(false);
}

/// Why a listening connection was given up.
#[derive(Debug, thiserror::Error)]
enum Why {
    #[error(transparent)]
    Lost(StoreError),
    #[error("bells were rung that it did not hear")]
    Deaf,
}

/// Hears until the connection is of no more use. What was heard is looked at first: after a pause of
/// the whole process a mark may lie ready that seems to be late.
async fn hear(listener: Listener, doorbell: &Doorbell, hub: &Hub, hearing: &Hearing) -> Why {
    let marks = Marks::default();
    tokio::select! {
        biased;
        error = listen(listener, &marks, doorbell, hub, hearing) => Why::Lost(error),
        () = hearing.deaf() => deaf(),
        () = marks.lost(hub.tools()) => {
            measure::lost(1);
            deaf()
        }
    }
}

fn deaf() -> Why {
    measure::replaced();
    Why::Deaf
}

async fn listen(
    mut listener: Listener,
    marks: &Marks,
    doorbell: &Doorbell,
    hub: &Hub,
    hearing: &Hearing,
) -> StoreError {
    let mut probes = tokio::time::interval(PROBE_EVERY);
    probes.reset();
    loop {
        tokio::select! {
            notice = listener.next() => match notice {
                Ok(notice) => {
                    hearing.heard();
                    dispatch(&notice, marks, doorbell, hub);
                }
                Err(error) => return error,
            },
            _ = probes.tick() => if let Err(error) = listener.probe().await {
                return error;
            },
        }
    }
}

fn dispatch(notice: &Notice, marks: &Marks, doorbell: &Doorbell, hub: &Hub) {
    let Some(topic) = Topic::ALL.into_iter().find(|topic| topic.name() == notice.channel) else {
        return;
    };
    let (by, said) = who_and_what(&notice.payload);
    if let Some(mark) = marks::number(said) {
        if by.is_some() && by == doorbell.instance() {
            marks.heard(mark);
        }
        return;
    }
    measure::heard(topic);
    if by.is_some() && by == doorbell.instance() {
        // It was told here before it went out.
        return;
    }
    if said == ANYTHING {
        doorbell.tell_anything_here(topic);
        if topic == Topic::StateChanges {
            hub.look_soon();
        }
    } else if topic == Topic::StateChanges {
        dispatch_events(said, doorbell, hub);
    } else {
        doorbell.tell_here(topic, said);
    }
}

fn dispatch_events(payload: &str, doorbell: &Doorbell, hub: &Hub) {
    let told = serde_json::from_str::<Told>(payload).ok();
    let by = told.as_ref().and_then(|told| told.rung_by.parse().ok());
    if by.is_some() && by == doorbell.instance() {
        return;
    }
    match told.and_then(|told| Some((Stream::parse(&told.stream)?, told.seq))) {
        Some((stream, seq)) => {
            hub.rung(stream, seq);
            doorbell.tell_here(Topic::StateChanges, &stream.to_string());
        }
        // Whoever rang it, it can't hurt to look.
        None => hub.look_soon(),
    }
}

/// What was rung before the connection stood was not heard.
fn told_anything(doorbell: &Doorbell, hub: &Hub) {
    for topic in Topic::ALL {
        doorbell.tell_anything_here(topic);
    }
    hub.look_soon();
}
