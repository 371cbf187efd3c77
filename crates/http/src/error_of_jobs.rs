//! What the streams and the queue refuse, as the surface says it.

use mainstay_events::EventsError;
use mainstay_jobs::JobsError;
use mainstay_store::StoreError;

use crate::code::Code;
use crate::error::Error;
use crate::error_of_accounts::sentence;

impl From<JobsError> for Error {
    fn from(error: JobsError) -> Self {
        use JobsError as Refused;
        let code = match &error {
            Refused::NotFound => Code::NotFound,
            Refused::NotFailed => Code::JobNotFailed,
            Refused::AlreadyFinished => Code::JobFinished,
            Refused::Archived => Code::JobArchived,
            Refused::SubjectTaken => Code::JobSubjectTaken,
            Refused::Kind(_) => Code::InvalidJobKind,
            _ if error.is_transient() => return Self::unavailable(error),
            _ => return Self::internal(error),
        };
        Self::new(code, sentence(&error.to_string()))
    }
}

impl From<EventsError> for Error {
    fn from(error: EventsError) -> Self {
        let is_passing = match &error {
            EventsError::Store(cause) => may_be_asked_again(cause),
            // One look at the database for many who came at once.
            EventsError::Together(cause) => may_be_asked_again(cause),
            // Whoever asks again begins at what is kept by then.
            EventsError::BelowFloor | EventsError::Closed => true,
            _ => false,
        };
        if is_passing { Self::unavailable(error) } else { Self::internal(error) }
    }
}

/// Opening a stream is safe to repeat: whether the first one was entered or not, the next takes its
/// place.
fn may_be_asked_again(cause: &StoreError) -> bool {
    cause.is_transient() || matches!(cause, StoreError::CommitUnknown { .. })
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        if error.is_transient() { Self::unavailable(error) } else { Self::internal(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn an_opening_whose_commit_is_unknown_may_be_repeated() {
        let unknown = || StoreError::CommitUnknown { cause: "the line was cut".into() };
        for error in [EventsError::Store(unknown()), EventsError::Together(Arc::new(unknown()))] {
            assert_eq!(Error::from(error).code(), Code::Busy);
        }
        assert_ne!(Error::from(unknown()).code(), Code::Busy, "another write may not");
    }

    #[test]
    fn whoever_was_overtaken_by_the_clean_up_may_ask_again() {
        for error in [EventsError::BelowFloor, EventsError::Closed] {
            assert_eq!(Error::from(error).code(), Code::Busy);
        }
        assert_ne!(Error::from(EventsError::EpochChanged).code(), Code::Busy);
    }

    #[test]
    fn a_busy_database_is_told_so_also_to_those_who_asked_together() {
        let busy = || StoreError::Busy { waited: Duration::ZERO };
        for error in [EventsError::Store(busy()), EventsError::Together(Arc::new(busy()))] {
            assert_eq!(Error::from(error).code(), Code::Busy);
        }
    }
}
