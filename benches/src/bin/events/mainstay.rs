//! The real binary: another process writes into PostgreSQL, and it tells its followers.

use anyhow::Context as _;
use mainstay_benches::cluster::Cluster;
use mainstay_events::{Event, Events, EventsError, Stream};
use serde_json::json;

use crate::followers::{Crowd, now_ns};
use crate::instance::{Instance, following};
use crate::writer::Writer;
use crate::{BYTES, EVENTS, FOLLOWERS, print_cost, round};

/// Streams of one token, and with it how many tokens there are.
const PER_TOKEN: usize = 100;
/// What an event has beside the padding.
const BESIDE: usize = 130;

pub(crate) async fn measure(cluster: &Cluster) -> anyhow::Result<()> {
    let instance = Instance::start(cluster, PER_TOKEN).await?;
    let tokens = instance.tokens(FOLLOWERS.div_ceil(PER_TOKEN)).await?;
    let address = &instance.server.address;
    let each = |token| std::iter::repeat_n(following(address, token), PER_TOKEN);
    let requests = tokens.iter().flat_map(|token| each(token)).take(FOLLOWERS).collect();
    let writer = Writer::start(instance.db.clone()).await?;
    let crowd = Crowd::gather(address, requests, EVENTS).await?;
    let cost = round(&instance.server, crowd, async |_| publish(&writer.events).await).await?;
    print_cost("events", cost)?;
    writer.end().await;
    Ok(())
}

/// Writes one event of the organisation, which says when its writing began.
pub(crate) async fn publish(events: &Events) -> anyhow::Result<()> {
    let sent = now_ns();
    let rest = "x".repeat(BYTES.saturating_sub(BESIDE));
    let fields = json!({ "sent": sent, "rest": rest });
    let event = Event::new("measured", fields.as_object().context("an object")?)?;
    let writing = events.write(async |_, out| {
        out.add(Stream::Org, event)?;
        Ok::<_, EventsError>(())
    });
    Ok(writing.await?)
}
