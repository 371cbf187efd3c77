//! The last so many results, one bit each.

use super::Reading;

const BITS: u32 = u64::BITS;

/// The last `size` results. The oldest makes room for the newest.
#[derive(Debug, Clone)]
pub(crate) struct CountRing {
    size: u32,
    /// A set bit is a failure.
    bits: Box<[u64]>,
    /// Where the next result goes.
    next: u32,
    read: Reading,
}

impl CountRing {
    pub(crate) fn new(size: u32) -> Self {
        let words = size.div_ceil(BITS) as usize;
        Self { size, bits: vec![0; words].into(), next: 0, read: Reading::default() }
    }

    #[inline]
    pub(crate) fn record(&mut self, failed: bool) {
        let mask = 1_u64 << (self.next % BITS);
        let Some(word) = self.bits.get_mut((self.next / BITS) as usize) else { return };
        if self.read.samples == u64::from(self.size) {
            self.read.take(Reading { samples: 1, failures: u64::from(*word & mask != 0) });
        }
        *word = if failed { *word | mask } else { *word & !mask };
        self.read.add(failed);
        self.next = if self.next + 1 == self.size { 0 } else { self.next + 1 };
    }

    #[inline]
    pub(crate) fn read(&self) -> Reading {
        self.read
    }

    pub(crate) fn reset(&mut self) {
        self.next = 0;
        self.read = Reading::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Miri is some thousand times slower.
    const LONGEST: usize = if cfg!(miri) { 30 } else { 600 };

    proptest! {
        #[test]
        fn the_ring_holds_the_last_results(
            size in 1_u32..200,
            results in prop::collection::vec(prop::option::weighted(0.98, any::<bool>()), 0..LONGEST),
        ) {
            let mut ring = CountRing::new(size);
            let mut last: Vec<bool> = Vec::new();
            for result in results {
                match result {
                    Some(failed) => {
                        ring.record(failed);
                        last.push(failed);
                        if last.len() > size as usize {
                            last.remove(0);
                        }
                    }
                    None => {
                        ring.reset();
                        last.clear();
                    }
                }
                let failures = last.iter().filter(|failed| **failed).count();
                prop_assert_eq!(ring.read().samples, last.len() as u64);
                prop_assert_eq!(ring.read().failures, failures as u64);
            }
        }
    }
}
