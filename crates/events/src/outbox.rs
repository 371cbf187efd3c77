//! The events of one write, which get their numbers last of all, right before the commit.

use std::collections::BTreeMap;

use mainstay_store::{StoreError, Tx};

use crate::error::EventError;
use crate::event::Event;
use crate::record::streams;
use crate::stream::Stream;

/// The most events of one write.
pub const MAX_EVENTS_PER_WRITE: usize = 4_096;

/// The most bytes of fields of one write.
pub const MAX_BYTES_PER_WRITE: usize = 8 * 1024 * 1024;

/// Collects the events of one write.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Sorted, because counters are taken in the order of the streams: two writers that took them in
    /// opposite orders would wait for each other.
    events: BTreeMap<Stream, Vec<Event>>,
    count: usize,
    bytes: usize,
    failed: bool,
}

/// A committed event on its way to the bells.
#[derive(Debug, Clone)]
pub(crate) struct Announced {
    pub(crate) stream: Stream,
    pub(crate) seq: i64,
    pub(crate) event: Event,
}

impl Outbox {
    /// Adds an event to `stream`; in each stream they keep the order in which they were added.
    ///
    /// # Errors
    /// [`EventError::TooMany`] when the write is full. The write then can't be committed any more:
    /// a state without its event would never be heard of.
    pub fn add(&mut self, stream: Stream, event: Event) -> Result<(), EventError> {
        let bytes = self.bytes.saturating_add(event.fields().len());
        if self.count >= MAX_EVENTS_PER_WRITE || bytes > MAX_BYTES_PER_WRITE {
            self.failed = true;
            let (events, bytes) = (MAX_EVENTS_PER_WRITE, MAX_BYTES_PER_WRITE);
            return Err(EventError::TooMany { events, bytes });
        }
        self.count = self.count.saturating_add(1);
        self.bytes = bytes;
        self.events.entry(stream).or_default().push(event);
        Ok(())
    }

    /// Whether nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Takes the numbers and inserts the events. Nothing may follow but the commit: each counter
    /// stays locked until then.
    pub(crate) async fn write(self, tx: &mut Tx) -> Result<Vec<Announced>, StoreError> {
        if self.failed {
            return Err(StoreError::Poisoned);
        }
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let mut announced = Vec::with_capacity(self.count);
        for (stream, events) in self.events {
            for portion in events.chunks(streams::INSERT_TOGETHER) {
                let first = streams::append(tx, stream, portion).await?;
                let numbered = portion.iter().cloned().zip(first..);
                announced.extend(numbered.map(|(event, seq)| Announced { stream, seq, event }));
            }
        }
        Ok(announced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    #[test]
    fn a_write_is_bounded_in_events() {
        let event = Event::new("a", &Map::new()).unwrap();
        let mut outbox = Outbox::default();
        for _ in 0..MAX_EVENTS_PER_WRITE {
            outbox.add(Stream::Org, event.clone()).unwrap();
        }
        assert!(matches!(outbox.add(Stream::Org, event), Err(EventError::TooMany { .. })));
    }

    #[test]
    fn a_write_is_bounded_in_bytes() {
        let text = "x".repeat(crate::event::MAX_FIELDS - 100);
        let fields = serde_json::json!({ "text": text });
        let event = Event::new("a", fields.as_object().unwrap()).unwrap();
        let mut outbox = Outbox::default();
        let fit = MAX_BYTES_PER_WRITE / event.fields().len();
        for _ in 0..fit {
            outbox.add(Stream::Org, event.clone()).unwrap();
        }
        assert!(matches!(outbox.add(Stream::Org, event), Err(EventError::TooMany { .. })));
    }
}
