//! What the metrics and the log are told.

use metrics::{counter, describe_counter, describe_gauge, gauge};

const REPORTS: &str = "mainstay_reports_total";
const SHARES: &str = "mainstay_report_shares_total";
const SWEPT: &str = "mainstay_report_objects_swept_total";
const UNKNOWN: &str = "mainstay_report_objects_unknown";

/// How a share was used.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ShareEnding {
    Created,
    Opened,
    Unknown,
    Expired,
    Revoked,
    RevokedByOwner,
    Unread,
}

impl ShareEnding {
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Created => ("accepted", "created"),
            Self::Opened => ("accepted", "opened"),
            Self::Unknown => ("rejected", "unknown_token"),
            Self::Expired => ("expired", "token_expired"),
            Self::Revoked => ("revoked", "revoked"),
            Self::RevokedByOwner => ("revoked", "by_owner"),
            Self::Unread => ("rejected", "not_readable"),
        }
    }
}

pub(crate) fn shared(ending: ShareEnding) {
    let (outcome, reason) = ending.words();
    counter!(SHARES, "outcome" => outcome, "reason" => reason).increment(1);
    tracing::info!(event = "share", outcome, reason, "share");
}

/// A report was made, or will not be.
pub(crate) fn reported(outcome: &'static str) {
    counter!(REPORTS, "outcome" => outcome).increment(1);
}

pub(crate) fn swept(objects: u64) {
    counter!(SWEPT).increment(objects);
}

/// So many objects stay because nobody knows whose they are.
pub(crate) fn unknown(objects: u64) {
    gauge!(UNKNOWN).set(u32::try_from(objects).unwrap_or(u32::MAX));
}

/// Tells the recorder what each metric means. Call it once, after the recorder is installed.
pub fn describe_metrics() {
    describe_counter!(REPORTS, "Files whose report was made, or will not be, by outcome.");
    describe_counter!(SHARES, "How shares of reports were made and used, by outcome and reason.");
    describe_counter!(SWEPT, "Objects that nothing referred to and the sweeper removed.");
    // So that there is a number before there is something to count.
    swept(0);
    describe_gauge!(
        UNKNOWN,
        "Objects of files that the database does not know, which the sweeper left where they are when it last looked at all of the storage."
    );
}
