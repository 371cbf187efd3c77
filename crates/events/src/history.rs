//! Past events in pages, for whoever asks now and then instead of following.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::ask::{Ask, Opening};
use crate::error::EventsError;
use crate::feed::Delivery;
use crate::frame::Frame;
use crate::hub::Hub;
use crate::position::Position;
use crate::record::follow::{Counters, PageSize};
use crate::stream::Stream;

/// The most events of one answer.
pub const MAX_HISTORY: u32 = 200;

/// Once an answer has so many bytes it ends, with the event that reached them.
pub const MAX_HISTORY_BYTES: usize = 1024 * 1024;

/// The most bytes of each stream that are read at once.
const PAGE_BYTES: u32 = 1024 * 1024;

/// Events of each stream that are read at once when only some kinds are asked for, however few of
/// them may be answered: what is asked for may be rare.
const PAGE_EVENTS: u32 = 512;

/// Pages that are read for one answer when the asked kinds are rare.
const MAX_PAGES: usize = 16;

/// How often the place of one answer is judged, when the clean-up overtakes it each time.
const MAX_JUDGED: usize = 5;

/// A part of the streams.
#[derive(Debug)]
pub struct History {
    /// How the asked place was judged. After a reset there are no events, only the place to go on.
    pub opening: Opening,
    /// The events, in the order of each stream; the streams are merged by time.
    pub events: Vec<Delivery>,
    /// Where to go on.
    pub position: Position,
    /// Whether there is more already.
    pub has_more: bool,
}

/// What one stream brings to a page.
struct Part {
    stream: Stream,
    frames: VecDeque<Frame>,
}

/// The events of an answer so far, and how much it may hold.
struct Answer {
    events: Vec<Delivery>,
    bytes: usize,
    limit: u32,
}

impl Answer {
    const fn new(limit: u32) -> Self {
        Self { events: Vec::new(), bytes: 0, limit }
    }

    fn push(&mut self, delivery: Delivery) {
        self.bytes = self.bytes.saturating_add(delivery.frame.len());
        self.events.push(delivery);
    }

    fn is_full(&self) -> bool {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        self.events.len() >= limit || self.bytes >= MAX_HISTORY_BYTES
    }
}

/// Reads what comes behind the place of `ask`; without one, the oldest events that are kept.
pub(crate) async fn read(hub: &Hub, ask: &Ask, limit: u32) -> Result<History, EventsError> {
    read_by(hub, ask, limit, || count(hub, ask)).await
}

async fn count(hub: &Hub, ask: &Ask) -> Result<Arc<Counters>, EventsError> {
    loop {
        if let Some(counters) = hub.counters(ask.counted()).await? {
            return Ok(counters);
        }
    }
}

/// The same with the counters of `count`. What the clean-up removes after they were read is missing
/// in the pages: then the place is judged again.
async fn read_by<F>(
    hub: &Hub,
    ask: &Ask,
    limit: u32,
    count: impl Fn() -> F,
) -> Result<History, EventsError>
where
    F: Future<Output = Result<Arc<Counters>, EventsError>>,
{
    for _ in 1..MAX_JUDGED {
        let counters = count().await?;
        match read_once(hub, ask, limit, &counters).await {
            Err(EventsError::BelowFloor) => {}
            read => return read,
        }
    }
    let counters = count().await?;
    read_once(hub, ask, limit, &counters).await
}

async fn read_once(
    hub: &Hub,
    ask: &Ask,
    limit: u32,
    counters: &Counters,
) -> Result<History, EventsError> {
    let (opening, mut position) = ask.judge(counters);
    match opening {
        Opening::Snapshot => begin_at_floor(ask, counters, &mut position),
        Opening::Reset { .. } => {
            return Ok(History { opening, events: Vec::new(), position, has_more: false });
        }
        Opening::Resumed => {}
    }
    let mut answer = Answer::new(limit.clamp(1, MAX_HISTORY));
    for _ in 0..MAX_PAGES {
        fill(hub, ask, counters, &mut position, &mut answer).await?;
        if answer.is_full() || !is_before(&position, ask, counters) {
            break;
        }
    }
    let has_more = is_before(&position, ask, counters);
    Ok(History { opening, events: answer.events, position, has_more })
}

/// Adds a page of events, or as much of it as the answer may still have.
async fn fill(
    hub: &Hub,
    ask: &Ask,
    counters: &Counters,
    position: &mut Position,
    answer: &mut Answer,
) -> Result<(), EventsError> {
    let together = if ask.kinds.is_some() { PAGE_EVENTS } else { answer.limit };
    let mut parts = Vec::new();
    for stream in [ask.org(), ask.own()].into_iter().flatten() {
        let size = PageSize { events: together, bytes: PAGE_BYTES };
        let frames = hub.page(stream, position.seq(stream), size).await?;
        let at = position.seq(stream);
        let is_cut = match frames.first() {
            Some(first) => first.seq != at.saturating_add(1),
            None => at < counters.of(stream).last_seq,
        };
        if is_cut {
            return Err(EventsError::BelowFloor);
        }
        parts.push(Part { stream, frames: frames.into() });
    }
    while !answer.is_full()
        && let Some((stream, frame)) = take_oldest(&mut parts)
    {
        *position.seq_mut(stream) = frame.seq;
        if ask.kinds.as_ref().is_none_or(|kinds| kinds.contains(&frame.kind)) {
            let Frame { seq, kind, bytes, .. } = frame;
            answer.push(Delivery { position: position.clone(), frame: bytes, kind, stream, seq });
        }
    }
    Ok(())
}

/// The older of the heads: a stream keeps its own order, whatever its clock did.
fn take_oldest(parts: &mut [Part]) -> Option<(Stream, Frame)> {
    let heads = parts.iter_mut().filter(|part| !part.frames.is_empty());
    let oldest = heads.min_by_key(|part| part.frames.front().map(|frame| frame.at))?;
    oldest.frames.pop_front().map(|frame| (oldest.stream, frame))
}

fn begin_at_floor(ask: &Ask, counters: &Counters, position: &mut Position) {
    for stream in [ask.org(), ask.own()].into_iter().flatten() {
        *position.seq_mut(stream) = counters.of(stream).floor_seq;
    }
}

fn is_before(position: &Position, ask: &Ask, counters: &Counters) -> bool {
    let mut asked = [ask.org(), ask.own()].into_iter().flatten();
    asked.any(|stream| position.seq(stream) < counters.of(stream).last_seq)
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
