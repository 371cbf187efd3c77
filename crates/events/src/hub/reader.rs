//! Reads a followed stream on, page by page, until nothing more is known of or nobody follows.

use std::sync::Arc;

use super::Hub;
use super::channel::Channel;
use crate::backoff::Backoff;
use crate::measure;

/// Runs until the channel has everything, or has ended. A database that is away is waited for.
pub(super) async fn run(hub: Hub, channel: Arc<Channel>) {
    let mut backoff = Backoff::new(Arc::clone(&hub.tools().rng));
    let mut watched = channel.watch();
    while let Some(reading) = channel.reading() {
        let page = tokio::select! {
            page = hub.read_on(&channel, reading.after) => page,
            // A stop does not wait for a database that hangs.
            _ = watched.wait_for(|tip| tip.end.is_some()) => return,
        };
        match page {
            Ok(page) => {
                backoff.reset();
                if let Some(written) = channel.push(reading, page) {
                    measure::lag(hub.tools().clock.now().since(written).as_secs_f64());
                }
            }
            Err(error) => {
                let stream = channel.stream().kind();
                tracing::debug!(stream, %error, "events can't be read; trying again");
                tokio::select! {
                    () = backoff.wait() => {}
                    _ = watched.wait_for(|tip| tip.end.is_some()) => {}
                }
            }
        }
    }
}
