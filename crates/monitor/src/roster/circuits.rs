//! How many breakers have each state, counted as they change.

use mainstay_breaker::State;

/// How many breakers have each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Circuits {
    /// They let everything through.
    pub closed: usize,
    /// They refuse everything.
    pub open: usize,
    /// Their probe is in the air.
    pub half_open: usize,
}

impl Circuits {
    pub(super) fn enter(&mut self, state: State) {
        let count = self.count(state);
        *count = count.saturating_add(1);
    }

    pub(super) fn leave(&mut self, state: State) {
        let count = self.count(state);
        *count = count.saturating_sub(1);
    }

    fn count(&mut self, state: State) -> &mut usize {
        match state {
            State::Closed => &mut self.closed,
            State::Open => &mut self.open,
            State::HalfOpen => &mut self.half_open,
        }
    }
}
