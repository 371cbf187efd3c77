//! How a service is shown, and what it has to do with what is broken: one rule for all who tell of it, so
//! that what is counted on one page is found on the other. Pure.

use super::board::BoardCause;
use crate::status::ServiceStatus;

/// What is recorded of a service, unless nobody has polled it when it should have been: then nothing is
/// known of it, whether or not the recorder has noted that yet.
pub(super) const fn status(recorded: ServiceStatus, is_overdue: bool) -> ServiceStatus {
    if is_overdue { ServiceStatus::Unknown } else { recorded }
}

/// What a service that is shown so has to do with what is broken, by what the graph says: whoever is not
/// shown as broken has no part in it.
pub(super) const fn cause(blamed: Option<BoardCause>, shown: ServiceStatus) -> Option<BoardCause> {
    match shown {
        ServiceStatus::Degraded | ServiceStatus::Down => blamed,
        ServiceStatus::Healthy | ServiceStatus::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ServiceStatus::{Degraded, Down, Healthy, Unknown};

    #[test]
    fn whoever_is_overdue_is_not_known_and_has_no_part_in_what_is_broken() {
        for (recorded, is_overdue, blamed, expected) in [
            (Down, false, Some(BoardCause::Root), (Down, Some(BoardCause::Root))),
            (Degraded, false, Some(BoardCause::Affected), (Degraded, Some(BoardCause::Affected))),
            (Down, true, Some(BoardCause::Root), (Unknown, None)),
            (Healthy, false, Some(BoardCause::Affected), (Healthy, None)),
            (Healthy, true, None, (Unknown, None)),
        ] {
            let shown = status(recorded, is_overdue);
            assert_eq!((shown, cause(blamed, shown)), expected, "{recorded} {is_overdue}");
        }
    }
}
