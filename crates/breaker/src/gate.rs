//! The state in one word, so that a call through a closed breaker needs no lock.

use crate::machine::Door;
use crate::state::State;

const STATE: u64 = 0b11;
const CLOSED: u64 = 0;
const OPEN: u64 = 1;
const HALF_OPEN: u64 = 2;
const FORCED: u64 = 1 << 2;
/// A success changes nothing, and nobody listens.
const QUIET: u64 = 1 << 3;
/// Every admission must be written down.
const TRACKED: u64 = 1 << 4;
/// On a permit: a probe, which is found by its number.
const PROBE: u64 = 1 << 5;
/// On a permit of a probe: its latency is measured.
const MEASURED: u64 = 1 << 6;
const GENERATION_SHIFT: u32 = 8;

/// The state, its generation, and what may be done without the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gate(u64);

impl Gate {
    pub(crate) fn new(door: &Door, has_listeners: bool) -> Self {
        let state = match door.state {
            State::Closed => CLOSED,
            State::Open => OPEN,
            State::HalfOpen => HALF_OPEN,
        };
        let flag = |is_set: bool, flag: u64| if is_set { flag } else { 0 };
        Self(
            door.generation << GENERATION_SHIFT
                | state
                | flag(door.is_forced, FORCED)
                | flag(door.ignores_success && !has_listeners, QUIET)
                | flag(door.tracks_starts, TRACKED),
        )
    }

    /// What a permit keeps of an admission under the lock. It takes no success without the lock.
    pub(crate) const fn admitting(generation: u64) -> Self {
        Self(generation << GENERATION_SHIFT)
    }

    /// The same for a call whose beginning is known to the machine.
    pub(crate) const fn tracked(self) -> Self {
        Self(self.0 | TRACKED)
    }

    /// The same for a probe.
    pub(crate) const fn probe(self, is_measured: bool) -> Self {
        Self(self.0 | PROBE | if is_measured { MEASURED } else { 0 })
    }

    pub(crate) const fn is_probe(self) -> bool {
        self.0 & PROBE != 0
    }

    pub(crate) const fn is_measured(self) -> bool {
        self.0 & MEASURED != 0
    }

    #[inline]
    pub(crate) const fn from_word(word: u64) -> Self {
        Self(word)
    }

    #[inline]
    pub(crate) const fn word(self) -> u64 {
        self.0
    }

    /// Whether a call may go through without the lock.
    #[inline]
    pub(crate) const fn lets_through(self) -> bool {
        self.0 & (STATE | TRACKED) == CLOSED
    }

    /// Whether a success of a call that this word let through may be counted without the lock,
    /// now that the gate says `now`.
    #[inline]
    pub(crate) const fn takes_success(self, now: Self) -> bool {
        self.0 == now.0 && self.0 & (STATE | QUIET) == CLOSED | QUIET
    }

    #[inline]
    pub(crate) const fn is_tracked(self) -> bool {
        self.0 & TRACKED != 0
    }

    #[inline]
    pub(crate) const fn is_forced(self) -> bool {
        self.0 & FORCED != 0
    }

    #[inline]
    pub(crate) const fn generation(self) -> u64 {
        self.0 >> GENERATION_SHIFT
    }

    #[inline]
    pub(crate) const fn state(self) -> State {
        match self.0 & STATE {
            CLOSED => State::Closed,
            OPEN => State::Open,
            _ => State::HalfOpen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOOR: Door = Door {
        generation: 7,
        state: State::Closed,
        is_forced: false,
        ignores_success: true,
        tracks_starts: false,
        until: None,
    };

    #[test]
    fn what_goes_in_comes_out() {
        for state in [State::Closed, State::Open, State::HalfOpen] {
            for (is_forced, tracks_starts) in [(false, false), (true, false), (false, true)] {
                let door = Door { state, is_forced, tracks_starts, ..DOOR };
                let gate = Gate::from_word(Gate::new(&door, false).word());
                assert_eq!(gate.state(), state);
                assert_eq!(gate.generation(), 7);
                assert_eq!(gate.is_forced(), is_forced);
                assert_eq!(gate.is_tracked(), tracks_starts);
                assert_eq!(gate.lets_through(), state == State::Closed && !tracks_starts);
            }
        }
    }

    #[test]
    fn a_success_is_taken_without_the_lock_only_where_it_changes_nothing() {
        let quiet = Gate::new(&DOOR, false);
        assert!(quiet.takes_success(quiet));
        for (door, has_listeners) in [
            (Door { generation: 8, ..DOOR }, false),
            (Door { ignores_success: false, ..DOOR }, false),
            (Door { state: State::HalfOpen, ..DOOR }, false),
            (DOOR, true),
        ] {
            let other = Gate::new(&door, has_listeners);
            assert!(!quiet.takes_success(other), "{door:?}");
            let takes_its_own = door.generation == 8;
            assert_eq!(other.takes_success(other), takes_its_own, "{door:?}");
        }
    }
}
