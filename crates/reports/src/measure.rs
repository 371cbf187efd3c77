//! What the metrics and the log are told.

use mainstay_jobs::{Cause, Status};
use metrics::{counter, describe_counter, describe_gauge, gauge};

const REPORTS: &str = "mainstay_reports_total";
const SHARES: &str = "mainstay_report_shares_total";
const SWEPT: &str = "mainstay_report_objects_swept_total";
const UNKNOWN: &str = "mainstay_report_objects_unknown";
const UNDECIDED: &str = "mainstay_report_objects_undecided";

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

/// What became of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Succeeded,
    Failed,
    /// Nobody wants it any more: its file was deleted, or its job cancelled.
    Cancelled,
}

impl Outcome {
    const ALL: [Self; 3] = [Self::Succeeded, Self::Failed, Self::Cancelled];

    /// By what its job became; `None` while that goes on.
    pub(crate) const fn of_job(status: Status, cause: Cause) -> Option<Self> {
        match (status, cause) {
            (_, Cause::Cancelled) => Some(Self::Cancelled),
            (Status::Succeeded, _) => Some(Self::Succeeded),
            (Status::Failed, _) => Some(Self::Failed),
            (Status::Queued | Status::Processing, _) => None,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A report was made, or will not be.
pub(crate) fn reported(outcome: Outcome) {
    counter!(REPORTS, "outcome" => outcome.name()).increment(1);
}

pub(crate) fn swept(objects: u64) {
    counter!(SWEPT).increment(objects);
}

/// So many objects stay because nobody knows whose they are.
pub(crate) fn unknown(objects: u64) {
    gauge!(UNKNOWN).set(u32::try_from(objects).unwrap_or(u32::MAX));
}

/// So many objects stay because their files do not refer to them and may yet.
pub(crate) fn undecided(objects: u64) {
    gauge!(UNDECIDED).set(u32::try_from(objects).unwrap_or(u32::MAX));
}

/// Tells the recorder what each metric means. Call it once, after the recorder is installed.
pub fn describe_metrics() {
    describe_counter!(REPORTS, "Files whose report was made, failed or was cancelled, by outcome.");
    for outcome in Outcome::ALL {
        counter!(REPORTS, "outcome" => outcome.name()).increment(0);
    }
    describe_counter!(SHARES, "How shares of reports were made and used, by outcome and reason.");
    describe_counter!(SWEPT, "Objects that no file referred to any more and the sweeper removed.");
    // So that there is a number before there is something to count.
    swept(0);
    describe_gauge!(
        UNKNOWN,
        "Objects of files that the database does not know, which the sweeper left where they are when it last looked at all of the storage."
    );
    describe_gauge!(
        UNDECIDED,
        "Objects stored after their files last changed, which do not refer to them: the sweeper left them where they are when it last looked at all of the storage."
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_nobody_wants_any_more_has_not_failed() {
        for (status, cause, wanted) in [
            (Status::Succeeded, Cause::Succeeded, Some(Outcome::Succeeded)),
            (Status::Failed, Cause::Failed, Some(Outcome::Failed)),
            (Status::Failed, Cause::AttemptsExhausted, Some(Outcome::Failed)),
            (Status::Failed, Cause::CrashLoop, Some(Outcome::Failed)),
            (Status::Failed, Cause::Cancelled, Some(Outcome::Cancelled)),
            (Status::Processing, Cause::Claimed, None),
            (Status::Queued, Cause::Retried, None),
        ] {
            assert_eq!(Outcome::of_job(status, cause), wanted, "{status:?} {cause:?}");
        }
    }
}
