//! Past events in pages, for whoever asks now and then instead of following.

use std::collections::VecDeque;

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

/// The most bytes of each stream that one answer reads.
const PAGE_BYTES: u32 = 1024 * 1024;

/// Pages that are read for one answer when the asked kinds are rare.
const MAX_PAGES: usize = 16;

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

/// Reads what comes behind the place of `ask`; without one, the oldest events that are kept.
pub(crate) async fn read(hub: &Hub, ask: &Ask, limit: u32) -> Result<History, EventsError> {
    let counters = loop {
        if let Some(counters) = hub.counters(ask.counted()).await? {
            break counters;
        }
    };
    let (opening, mut position) = ask.judge(&counters);
    match opening {
        Opening::Snapshot => begin_at_floor(ask, &counters, &mut position),
        Opening::Reset { .. } => {
            return Ok(History { opening, events: Vec::new(), position, has_more: false });
        }
        Opening::Resumed => {}
    }
    let limit = limit.clamp(1, MAX_HISTORY);
    let mut events = Vec::new();
    for _ in 0..MAX_PAGES {
        let is_full = fill(hub, ask, limit, &mut position, &mut events).await?;
        if is_full || !is_before(&position, ask, &counters) {
            break;
        }
    }
    let has_more = is_before(&position, ask, &counters);
    Ok(History { opening, events, position, has_more })
}

/// Adds a page of events; true when the answer has all it may have.
async fn fill(
    hub: &Hub,
    ask: &Ask,
    limit: u32,
    position: &mut Position,
    events: &mut Vec<Delivery>,
) -> Result<bool, EventsError> {
    let mut parts = Vec::new();
    for stream in [ask.org(), ask.own()].into_iter().flatten() {
        let size = PageSize { events: limit, bytes: PAGE_BYTES };
        let frames = hub.page(stream, position.seq(stream), size).await?;
        let expected = position.seq(stream).saturating_add(1);
        if frames.first().is_some_and(|first| first.seq != expected) {
            return Err(EventsError::BelowFloor);
        }
        parts.push(Part { stream, frames: frames.into() });
    }
    let limit = usize::try_from(limit).unwrap_or_default();
    while let Some((stream, frame)) = take_oldest(&mut parts) {
        *position.seq_mut(stream) = frame.seq;
        if ask.kinds.as_ref().is_none_or(|kinds| kinds.contains(&frame.kind)) {
            let Frame { seq, kind, bytes, .. } = frame;
            events.push(Delivery { position: position.clone(), frame: bytes, kind, stream, seq });
        }
        if events.len() >= limit {
            return Ok(true);
        }
    }
    Ok(false)
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
