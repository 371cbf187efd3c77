//! What the engine polls by: every service that was edited since it last asked.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_breaker::{Saved, State};
use mainstay_store::{Db, StoreError};

use super::address::Address;
use super::record::{WatchedRow, watched};
use super::seal::{self, Seal};
use crate::decide::Planned;
use crate::formats::Format;
use crate::roster::Memory;
use crate::watch::{Endpoint, ServiceNumber, Watch};

/// How many services are read with one statement.
const AT_ONCE: u16 = 1_000;

/// The services that were edited.
#[derive(Debug, Default)]
pub struct Watches {
    /// The number of the newest edit among them: ask with it the next time.
    pub latest: i64,
    /// Those to poll, with what is recorded of them if they ever were.
    pub watched: Vec<(Watch, Option<Memory>)>,
    /// Those not to poll: not active, or removed.
    pub gone: Vec<ServiceNumber>,
    /// Those that can't be polled as they are stored, and why. They were logged.
    pub broken: Vec<(ServiceNumber, String)>,
}

/// Why a stored service can't be polled.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error(
        "its headers can't be opened: they were sealed under another secret; give the headers again"
    )]
    Headers,
    #[error("its address can't be read: {0}")]
    Address(#[from] super::AddressError),
    #[error("its format can't be read: {0}")]
    Format(#[from] crate::formats::FormatError),
}

/// Every service that was edited after `revision`.
pub(super) async fn since(db: &Db, seals: &dyn Seal, revision: i64) -> Result<Watches, StoreError> {
    let mut all = Watches { latest: revision, ..Watches::default() };
    loop {
        let rows = watched(db, all.latest, AT_ONCE.into()).await?;
        let Some(last) = rows.last() else { return Ok(all) };
        let (latest, is_whole) = (last.revision, rows.len() < usize::from(AT_ONCE));
        let now = db.now().await?;
        for row in rows {
            all.add(seals, &row, now);
        }
        all.latest = latest;
        if is_whole {
            return Ok(all);
        }
    }
}

impl Watches {
    fn add(&mut self, seals: &dyn Seal, row: &WatchedRow, now: Timestamp) {
        let number = ServiceNumber(row.number);
        if !row.is_watched {
            self.gone.push(number);
            return;
        }
        match watch(seals, row) {
            Ok(watch) => self.watched.push((watch, memory(row, now))),
            Err(broken) => {
                let (service, reason) = (row.id, broken.to_string());
                tracing::warn!(%service, reason, "a service can't be polled");
                self.broken.push((number, reason));
            }
        }
    }
}

fn watch(seals: &dyn Seal, row: &WatchedRow) -> Result<Watch, Broken> {
    let headers = seal::open(seals, row.sealed_headers.as_deref()).ok_or(Broken::Headers)?;
    let Address { url, host } = Address::parse(&row.url)?;
    let timeout = duration(row.timeout_ms);
    Ok(Watch {
        number: ServiceNumber(row.number),
        id: row.id,
        name: row.name.as_str().into(),
        endpoint: Arc::new(Endpoint::new(host, url, headers, timeout)),
        format: Arc::new(Format::parse(&row.format, row.schema_config.as_deref())?),
        interval: duration(row.interval_ms),
        revision: row.revision,
        generation: row.generation,
        lease: None,
    })
}

/// What is recorded, in durations from `now`; `None` of a service that was never polled.
fn memory(row: &WatchedRow, now: Timestamp) -> Option<Memory> {
    if row.poll_seq == 0 {
        return None;
    }
    let planned = row.next_poll_at.map(|at| match at.since(now) {
        Duration::ZERO => Planned::Missed(now.since(at)),
        ahead => Planned::In(ahead),
    });
    let state = match row.breaker_state.as_str() {
        "open" => State::Open,
        "half_open" => State::HalfOpen,
        _ => State::Closed,
    };
    Some(Memory {
        poll_seq: row.poll_seq,
        breaker: Saved {
            state,
            forced: false,
            failures: u32::try_from(row.breaker_failures).unwrap_or(u32::MAX),
            open_remaining: row.breaker_retry_at.map_or(Duration::ZERO, |at| at.since(now)),
            generation: u64::try_from(row.breaker_generation).unwrap_or_default(),
        },
        backoff: u32::try_from(row.backoff_attempt).unwrap_or(u32::MAX),
        planned,
        polled: row.last_polled_at.map(|at| now.since(at)),
    })
}

fn duration(millis: i64) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or_default())
}
