//! What becomes of an order whose end nobody knows, after a look at what its provider lists.
//!
//! | its machine is listed | looked for long and often | then |
//! |---|---|---|
//! | yes | – | it is ended |
//! | no | no | it is looked for again: what a list leaves out need not be gone |
//! | no | yes | it was never made |

use std::time::Duration;

use mainstay_base::Timestamp;

use crate::providers::{MachineName, ProviderKind};

/// For so long at least an order is looked for: longer than any list has been known to lie.
pub const LOOK_FOR: Duration = Duration::from_hours(24);
/// So often at least, in lists that came.
pub const LEAST_LOOKS: i64 = 60;

/// An order whose end nobody knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenOrder {
    /// What its machine is called.
    pub name: MachineName,
    /// Who was to make it.
    pub provider: ProviderKind,
    /// Since when it is looked for.
    pub since: Timestamp,
    /// In how many lists it was not.
    pub looks: i64,
}

/// What becomes of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Its machine came, and belongs to nobody.
    End,
    /// It may still come.
    Keep,
    /// It never will.
    Forget,
}

/// What becomes of an order after a list that came.
#[must_use]
pub fn after_list(order: &OpenOrder, is_listed: bool, now: Timestamp) -> Fate {
    let is_long_ago = now >= order.since.plus(LOOK_FOR);
    match is_listed {
        true => Fate::End,
        false if is_long_ago && order.looks >= LEAST_LOOKS => Fate::Forget,
        false => Fate::Keep,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixture::{NOW, id};

    #[test]
    fn one_that_is_not_listed_is_forgotten_only_after_long_and_after_many_looks() {
        let soon = NOW.plus(LOOK_FOR - Duration::from_millis(1));
        let late = NOW.plus(LOOK_FOR);
        for (is_listed, looks, now, fate) in [
            (true, 0, NOW, Fate::End),
            (true, LEAST_LOOKS, late, Fate::End),
            (false, 0, NOW, Fate::Keep),
            (false, LEAST_LOOKS, soon, Fate::Keep),
            (false, LEAST_LOOKS - 1, late, Fate::Keep),
            (false, LEAST_LOOKS, late, Fate::Forget),
        ] {
            let (name, provider) = (MachineName::of(id(1), 2), ProviderKind::Fly);
            let order = OpenOrder { name, provider, since: NOW, looks };
            assert_eq!(after_list(&order, is_listed, now), fate, "{is_listed} {looks} {now}");
        }
    }
}
