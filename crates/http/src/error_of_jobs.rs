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
        match error {
            EventsError::Store(error) => error.into(),
            // One look at the database for many who came at once.
            EventsError::Together(ref cause) if cause.is_transient() => Self::unavailable(error),
            EventsError::Closed => Self::unavailable(error),
            _ => Self::internal(error),
        }
    }
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
    fn a_busy_database_is_told_so_also_to_those_who_asked_together() {
        let busy = || StoreError::Busy { waited: Duration::ZERO };
        for error in [EventsError::Store(busy()), EventsError::Together(Arc::new(busy()))] {
            assert_eq!(Error::from(error).code(), Code::Busy);
        }
    }
}
