//! Which changes ever held. Pure.

use std::collections::HashMap;
use std::hash::Hash;

/// Tells it of changes that come in the order of time, each with what it is a change of.
///
/// Numbers decide, time only cuts: of two changes of the same that had both happened, the one with the
/// higher number holds. So a change never held if one with a higher number is dated before it.
#[derive(Debug)]
pub(crate) struct Holding<K> {
    highest: HashMap<K, i64>,
}

impl<K> Default for Holding<K> {
    fn default() -> Self {
        Self { highest: HashMap::new() }
    }
}

impl<K: Hash + Eq> Holding<K> {
    /// Whether the next change held.
    pub(crate) fn hears(&mut self, of: K, number: i64) -> bool {
        let highest = self.highest.entry(of).or_insert(number);
        let holds = number >= *highest;
        *highest = number.max(*highest);
        holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dated_after_a_change_with_a_higher_number_never_held() {
        let mut holding = Holding::default();
        let told = [("a", 3), ("a", 1), ("b", 2), ("a", 2), ("a", 4), ("b", 1)];
        let held: Vec<_> = told.into_iter().filter(|(of, no)| holding.hears(*of, *no)).collect();
        assert_eq!(held, [("a", 3), ("b", 2), ("a", 4)]);
    }
}
