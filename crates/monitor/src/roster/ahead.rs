//! Reading ahead: what the gates will need of the services that are due, for many of them at once.

use mainstay_breaker::State;
use mainstay_kernel::Due;

use super::Roster;
use super::entry::Entry;
use super::places::Place;

/// How many services are read together: enough for memory to be busy, few enough to stay in the cache.
pub(super) const READ_AHEAD: usize = 32;

impl Roster {
    /// Reads something of all that the gates will need of these services. Among a million, none of it
    /// is in the processor's cache: the gates would wait for one service after the other, but reads
    /// with nothing between them wait together.
    pub(super) fn read_ahead(&self, group: &[Due<Place>]) {
        let entries = group.iter().filter_map(|one| self.entries.get(one.key));
        std::hint::black_box(entries.map(Entry::touch).fold(0, u64::wrapping_add));
    }
}

impl Entry {
    /// A number that can't be known without reading all that it leads to.
    fn touch(&self) -> u64 {
        let endpoint = &self.watch.endpoint;
        let host = endpoint.host.as_str().as_bytes().first().copied().unwrap_or_default();
        let breaker = u64::from(self.breaker.state() == State::Closed);
        endpoint.fingerprint() ^ u64::from(host) ^ breaker
    }
}
