//! How the flows of accounts end: one log line and one count for each, by stable words.

use std::fmt::Display;
use std::net::IpAddr;

use metrics::{counter, describe_counter};
use tracing::field::display;

const OUTCOMES: &str = "mainstay_account_outcomes_total";

/// One way in which a flow can end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Which flow.
    pub event: &'static str,
    /// `accepted`, `rejected`, `silent_drop`, `expired` or `revoked`.
    pub outcome: &'static str,
    /// Why, in a word that dashboards and alerts can rely on.
    pub reason: &'static str,
}

macro_rules! endings {
    ($($name:ident = $event:literal $outcome:literal $reason:literal;)+) => {
        $(pub(crate) const $name: Ending =
            Ending { event: $event, outcome: $outcome, reason: $reason };)+

        /// Every way in which a flow can end.
        pub const ENDINGS: &[Ending] = &[$($name),+];
    };
}

endings! {
    SETUP_CREATED = "setup" "accepted" "created";
    SETUP_UNKNOWN = "setup" "rejected" "unknown_token";
    SETUP_DONE = "setup" "rejected" "setup_done";
    SETUP_EXPIRED = "setup" "expired" "token_expired";
    LOGIN_ACCEPTED = "login" "accepted" "signed_in";
    LOGIN_INVALID = "login" "rejected" "invalid_credentials";
    LOGIN_DISABLED = "login" "rejected" "user_disabled";
    LOGIN_THROTTLED_ACCOUNT = "login" "rejected" "throttled_account";
    LOGIN_THROTTLED_ADDRESS = "login" "rejected" "throttled_address";
    LOGIN_BUSY = "login" "rejected" "busy";
    ENTRY_ACCEPTED = "entry" "accepted" "signed_in";
    ENTRY_UNKNOWN = "entry" "rejected" "unknown_token";
    LOGOUT = "logout" "accepted" "signed_out";
    SESSION_EXPIRED = "session" "expired" "session_expired";
    SESSION_DISABLED = "session" "rejected" "user_disabled";
    SESSION_REVOKED = "session" "revoked" "by_owner";
    PASSWORD_CHANGED = "password" "accepted" "changed";
    PASSWORD_INVALID = "password" "rejected" "invalid_credentials";
    TOKEN_CREATED = "api_token" "accepted" "created";
    TOKEN_REVOKED = "api_token" "revoked" "by_owner";
    TOKEN_EXPIRED = "api_token" "expired" "token_expired";
    TOKEN_DISABLED = "api_token" "rejected" "user_disabled";
    TOKEN_UNKNOWN = "api_token" "rejected" "unknown_token";
    INVITE_CREATED = "invite" "accepted" "created";
    INVITE_ACCEPTED = "invite" "accepted" "accepted";
    INVITE_UNKNOWN = "invite" "rejected" "unknown_token";
    INVITE_USED = "invite" "rejected" "already_used";
    INVITE_USER_EXISTS = "invite" "rejected" "user_exists";
    INVITE_EXPIRED = "invite" "expired" "token_expired";
    INVITE_REVOKED = "invite" "revoked" "token_revoked";
    INVITE_TAKEN_BACK = "invite" "revoked" "by_admin";
    REQUEST_CREATED = "access_request" "accepted" "created";
    REQUEST_DUPLICATE = "access_request" "silent_drop" "duplicate_24h";
    REQUEST_HONEYPOT = "access_request" "silent_drop" "honeypot";
    REQUEST_TIME_GATE = "access_request" "silent_drop" "time_gate";
    REQUEST_LIMITED_ADDRESS = "access_request" "rejected" "rate_limited_ip";
    REQUEST_LIMITED_EMAIL = "access_request" "rejected" "rate_limited_email";
    REQUEST_INVALID_EMAIL = "access_request" "rejected" "invalid_email";
    REQUEST_FORM = "access_request" "expired" "form_expired";
}

impl Ending {
    /// Tells the log and the metrics. `about` is the id of what it is about; never a secret, never
    /// an e-mail address.
    pub(crate) fn tell(self, about: Option<&dyn Display>) {
        self.tell_from(about, None);
    }

    /// The same with the client's address: whoever guesses or floods must be findable.
    pub(crate) fn tell_from(self, about: Option<&dyn Display>, address: Option<IpAddr>) {
        let Self { event, outcome, reason } = self;
        counter!(OUTCOMES, "event" => event, "outcome" => outcome, "reason" => reason).increment(1);
        let (about, address) = (about.map(display), address.map(display));
        tracing::info!(event, outcome, reason, about, address, "account");
    }
}

/// Tells the recorder what each metric means. Call it once, after the recorder is installed.
pub fn describe_metrics() {
    describe_counter!(OUTCOMES, "How sign-ins, invites, requests and the like ended, and why.");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_ending_is_one_of_its_own_with_a_known_outcome() {
        let mut seen = HashSet::new();
        for ending in ENDINGS {
            let words = (ending.event, ending.outcome, ending.reason);
            assert!(seen.insert(words), "{words:?} is there twice");
            assert!(
                ["accepted", "rejected", "silent_drop", "expired", "revoked"]
                    .contains(&ending.outcome)
            );
        }
    }
}
