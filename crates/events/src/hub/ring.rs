//! The newest events of a stream, framed once for everybody who follows it.

use std::collections::VecDeque;

use crate::frame::Frame;

/// How much a ring holds. It always holds the newest event, however large.
#[derive(Debug, Clone, Copy)]
pub(super) struct RingSize {
    pub(super) events: usize,
    pub(super) bytes: usize,
}

/// A gapless run of events that ends with the newest one read.
#[derive(Debug)]
pub(super) struct Ring {
    size: RingSize,
    frames: VecDeque<Frame>,
    bytes: usize,
    /// The number of the newest event read.
    tip: i64,
}

/// What a ring says about a number.
#[derive(Debug)]
pub(crate) enum Lookup {
    Here(Frame),
    /// It was pushed out: the database has it.
    Gone,
    /// It was not read yet.
    NotYet,
}

impl Ring {
    /// An empty ring behind the event `tip`.
    pub(super) const fn new(size: RingSize, tip: i64) -> Self {
        Self { size, frames: VecDeque::new(), bytes: 0, tip }
    }

    pub(super) const fn tip(&self) -> i64 {
        self.tip
    }

    pub(super) fn push(&mut self, frame: Frame) {
        if frame.seq <= self.tip {
            return;
        }
        if frame.seq != self.tip.saturating_add(1) {
            // What lies between is no longer kept: whoever wants it is told so by the database.
            self.frames.clear();
            self.bytes = 0;
        }
        self.tip = frame.seq;
        self.bytes = self.bytes.saturating_add(frame.bytes.len());
        self.frames.push_back(frame);
        while self.is_too_large() {
            let Some(oldest) = self.frames.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(oldest.bytes.len());
        }
    }

    pub(super) fn get(&self, seq: i64) -> Lookup {
        if seq > self.tip {
            return Lookup::NotYet;
        }
        let found = self.frames.front().and_then(|oldest| {
            let index = usize::try_from(seq.checked_sub(oldest.seq)?).ok()?;
            self.frames.get(index)
        });
        found.map_or(Lookup::Gone, |frame| Lookup::Here(frame.clone()))
    }

    fn is_too_large(&self) -> bool {
        let too_large = self.frames.len() > self.size.events || self.bytes > self.size.bytes;
        too_large && self.frames.len() > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Stream;
    use mainstay_base::Timestamp;

    fn frame(seq: i64, length: usize) -> Frame {
        let fields = format!(r#"{{"text":"{}"}}"#, "x".repeat(length));
        Frame::new(Stream::Org, seq, Timestamp::from_millis(0), "a", &fields)
    }

    fn here(ring: &Ring) -> Vec<i64> {
        (0..=ring.tip()).filter(|seq| matches!(ring.get(*seq), Lookup::Here(_))).collect()
    }

    #[test]
    fn the_newest_events_are_held_within_the_count() {
        let mut ring = Ring::new(RingSize { events: 3, bytes: 1_000_000 }, 10);
        assert!(matches!(ring.get(10), Lookup::Gone));
        assert!(matches!(ring.get(11), Lookup::NotYet));
        for seq in 11..=15 {
            ring.push(frame(seq, 1));
        }
        assert_eq!(here(&ring), [13, 14, 15]);
        assert!(matches!(ring.get(12), Lookup::Gone));
    }

    #[test]
    fn the_newest_events_are_held_within_the_bytes() {
        let mut ring = Ring::new(RingSize { events: 1_000, bytes: 1_000 }, 0);
        for seq in 1..=9 {
            ring.push(frame(seq, 300));
        }
        assert!(ring.bytes <= 1_000);
        assert_eq!(here(&ring), [8, 9]);
        ring.push(frame(10, 5_000));
        assert_eq!(here(&ring), [10], "one event is held, however large");
        ring.push(frame(11, 1));
        assert_eq!(here(&ring), [11]);
        assert_eq!(ring.bytes, frame(11, 1).bytes.len());
    }

    #[test]
    fn a_gap_is_never_bridged() {
        let mut ring = Ring::new(RingSize { events: 10, bytes: 1_000 }, 0);
        ring.push(frame(1, 1));
        ring.push(frame(5, 1));
        ring.push(frame(5, 1));
        ring.push(frame(4, 1));
        assert_eq!(here(&ring), [5]);
        assert_eq!(ring.tip(), 5);
    }
}
