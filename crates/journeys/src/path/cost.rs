//! How often a path may look at the values of an answer, before it does. Pure.
//!
//! An upper bound, and no guess: each sign of a path (a name, an index, a comparison, a function) looks at most once at
//! every value of the answer, or, behind a `..`, at every value once for each that it stands in. Commas multiply
//! that, and so does a large pattern. A look takes less than 60 ns (measured; what takes longest is `count(@.*)`).

use super::scan::outside_quotes;
use crate::document::Weight;

/// Signs that stand for something that is done with a value.
const SIGNS: &str = ".[*@$?(:=<>!&|,";

/// How a path looks at an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    signs: u64,
    /// Whether it goes to one place, and looks at nothing else.
    is_one_place: bool,
    is_descending: bool,
    commas: u32,
    slowness: u64,
}

impl Cost {
    pub(super) fn of(path: &str) -> Self {
        let bare: String = outside_quotes(path).map(|(_, letter)| letter).collect();
        let count = |signs: &str| bare.chars().filter(|letter| signs.contains(*letter)).count();
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        Self {
            signs: number(count(SIGNS)),
            is_one_place: count("*?:,") == 0 && !bare.contains(".."),
            is_descending: bare.contains(".."),
            commas: u32::try_from(count(",")).unwrap_or(u32::MAX),
            slowness: 1,
        }
    }

    /// Where each look takes so many times longer.
    pub(super) fn times(self, slowness: u64) -> Self {
        Self { slowness, ..self }
    }

    /// How many looks it takes at most.
    pub(super) fn looks(self, weight: Weight) -> u64 {
        if self.is_one_place {
            return self.signs;
        }
        let values = if self.is_descending { weight.nested } else { weight.values };
        let doubled = 1_u64.checked_shl(self.commas).unwrap_or(u64::MAX);
        self.signs.saturating_mul(values).saturating_mul(doubled).saturating_mul(self.slowness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_grow_with_signs_values_depth_and_commas() {
        let weight = Weight { values: 1_000, nested: 3_000 };
        for (path, looks) in [
            ("$.a.b[0]", 4),
            ("$['*..?']", 2),
            ("$.a[*]", 4_000),
            ("$..a", 9_000),
            ("$[?@.a == 1]", 7_000),
            ("$[0,1]", 6_000),
        ] {
            assert_eq!(Cost::of(path).looks(weight), looks, "{path}");
        }
        assert_eq!(Cost::of("$.a[*]").times(8).looks(weight), 32_000);
    }
}
