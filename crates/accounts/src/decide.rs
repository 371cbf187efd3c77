//! The rules of the room, each a pure function of what is known and the time.

use std::net::IpAddr;
use std::time::Duration;

use mainstay_base::Timestamp;

use crate::model::{InviteStatus, Role, UserStatus};

/// The shortest time in which a person fills in the form.
pub(crate) const TIME_GATE: Duration = Duration::from_secs(3);
/// How long a form can be sent after it was loaded.
pub(crate) const FORM_TIME: Duration = Duration::from_hours(24);
/// Within this a second request of the same e-mail address is a duplicate.
pub(crate) const DUPLICATE_TIME: Duration = Duration::from_hours(24);
/// The forms of clocks that run ahead of this one by no more than this are still taken.
const CLOCK_SLACK: Duration = Duration::from_secs(60);
/// How exactly a session's or token's last use is kept.
const SEEN_EVERY: Duration = Duration::from_mins(1);

/// Where an invite stands.
pub(crate) fn invite_status(
    accepted_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
    expires_at: Timestamp,
    now: Timestamp,
) -> InviteStatus {
    if accepted_at.is_some() {
        InviteStatus::Accepted
    } else if revoked_at.is_some() {
        InviteStatus::Revoked
    } else if expires_at <= now {
        InviteStatus::Expired
    } else {
        InviteStatus::Pending
    }
}

/// What the age of a form tells about who sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormAge {
    Fine,
    /// Sent faster than a person writes.
    TooYoung,
    /// So old that it may have been collected, or from a clock that we do not share.
    TooOld,
}

pub(crate) fn form_age(loaded_at: Timestamp, now: Timestamp) -> FormAge {
    if loaded_at > now.plus(CLOCK_SLACK) || now.since(loaded_at) > FORM_TIME {
        FormAge::TooOld
    } else if now.since(loaded_at) < TIME_GATE {
        FormAge::TooYoung
    } else {
        FormAge::Fine
    }
}

/// The beginning of the span of time that `now` is in.
pub(crate) fn span_start(now: Timestamp, span: Duration) -> Timestamp {
    let span = i64::try_from(span.as_millis()).unwrap_or(i64::MAX).max(1);
    Timestamp::from_millis(now.as_millis().div_euclid(span).saturating_mul(span))
}

/// How long it is until the next span begins.
pub(crate) fn span_rest(now: Timestamp, span: Duration) -> Duration {
    span_start(now, span).plus(span).since(now)
}

/// What is counted for an address: itself, or the network that one IPv6 client has for itself.
pub(crate) fn counted_address(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

/// Whether a last use is old enough to be written anew. A wall clock that was set back must not
/// make it be written with every request.
pub(crate) fn is_seen_due(last: Option<Timestamp>, now: Timestamp) -> bool {
    last.is_none_or(|last| now.since(last) >= SEEN_EVERY)
}

/// [`SEEN_EVERY`] in milliseconds, as statements take it.
pub(crate) fn seen_every() -> i64 {
    i64::try_from(SEEN_EVERY.as_millis()).unwrap_or(i64::MAX)
}

/// Whether a change takes an active admin away.
pub(crate) fn loses_admin(before: (Role, UserStatus), after: (Role, UserStatus)) -> bool {
    let is_admin = |state| state == (Role::Admin, UserStatus::Active);
    is_admin(before) && !is_admin(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn at(offset_ms: i64) -> Timestamp {
        Timestamp::from_millis(NOW.as_millis() + offset_ms)
    }

    #[test]
    fn an_invite_is_pending_until_something_ends_it() {
        let (past, future) = (Some(at(-1)), at(1));
        for (accepted, revoked, expires, status) in [
            (None, None, future, InviteStatus::Pending),
            (None, None, NOW, InviteStatus::Expired),
            (past, None, future, InviteStatus::Accepted),
            (past, None, at(-5), InviteStatus::Accepted),
            (None, past, future, InviteStatus::Revoked),
            (None, past, at(-5), InviteStatus::Revoked),
        ] {
            assert_eq!(invite_status(accepted, revoked, expires, NOW), status);
        }
    }

    #[test]
    fn a_form_is_neither_too_young_nor_too_old() {
        let day = 24 * 60 * 60 * 1000;
        for (loaded, age) in [
            (-2999, FormAge::TooYoung),
            (-3000, FormAge::Fine),
            (0, FormAge::TooYoung),
            (30_000, FormAge::TooYoung),
            (61_000, FormAge::TooOld),
            (-day, FormAge::Fine),
            (-day - 1, FormAge::TooOld),
        ] {
            assert_eq!(form_age(at(loaded), NOW), age, "{loaded}");
        }
        assert_eq!(form_age(Timestamp::from_millis(i64::MAX), NOW), FormAge::TooOld);
        assert_eq!(form_age(Timestamp::from_millis(i64::MIN), NOW), FormAge::TooOld);
    }

    #[test]
    fn a_span_holds_its_own_times() {
        let hour = Duration::from_hours(1);
        let start = span_start(NOW, hour);
        assert_eq!(start.as_millis() % 3_600_000, 0);
        assert!(start <= NOW && NOW.since(start) < hour);
        assert_eq!(span_start(start, hour), start);
        assert_eq!(span_rest(start, hour), hour);
        assert_eq!(span_start(Timestamp::from_millis(-1), hour).as_millis(), -3_600_000);
    }

    #[test]
    fn an_ipv6_client_is_counted_by_its_network() {
        for (address, counted) in [
            ("203.0.113.9", "203.0.113.9"),
            ("::ffff:203.0.113.9", "203.0.113.9"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
            ("::1", "0:0:0:0::/64"),
        ] {
            assert_eq!(counted_address(address.parse().unwrap()), counted);
        }
    }

    #[test]
    fn a_last_use_is_written_once_a_minute() {
        assert!(is_seen_due(None, NOW));
        assert!(!is_seen_due(Some(at(-59_999)), NOW));
        assert!(is_seen_due(Some(at(-60_000)), NOW));
        assert!(!is_seen_due(Some(at(5_000)), NOW), "the wall clock was set back");
    }

    #[test]
    fn an_admin_is_lost_by_role_or_by_status() {
        use Role::{Admin, Editor};
        use UserStatus::{Active, Disabled};
        for (before, after, lost) in [
            ((Admin, Active), (Editor, Active), true),
            ((Admin, Active), (Admin, Disabled), true),
            ((Admin, Active), (Admin, Active), false),
            ((Admin, Disabled), (Editor, Disabled), false),
            ((Editor, Active), (Editor, Disabled), false),
        ] {
            assert_eq!(loses_admin(before, after), lost, "{before:?} {after:?}");
        }
    }
}
