//! What the room of journeys refuses, as the surface says it.

use mainstay_journeys::JourneysError;

use crate::code::Code;
use crate::error::Error;
use crate::error_of_accounts::sentence;

impl From<JourneysError> for Error {
    fn from(error: JourneysError) -> Self {
        use JourneysError as Refused;
        let code = match &error {
            Refused::Mistakes(_) => Code::InvalidJourney,
            Refused::NameTaken => Code::NameTaken,
            Refused::TooMany => Code::TooManyJourneys,
            Refused::NotFound | Refused::NoRun => Code::NotFound,
            Refused::Changed { .. } => Code::JourneyChanged,
            Refused::InProgress { .. } => Code::RunInProgress,
            Refused::RunEnded => Code::RunEnded,
            _ => return failed(error),
        };
        let told = Self::new(code, sentence(&error.to_string()));
        match error {
            Refused::Mistakes(mistakes) => {
                let mistakes = serde_json::to_value(mistakes).unwrap_or_default();
                told.with("mistakes", mistakes).with("field", "source")
            }
            Refused::Changed { generation } => told.with("generation", generation),
            Refused::InProgress { run: Some(run) } => told.with("run_id", run.to_string()),
            _ => told,
        }
    }
}

fn failed(error: JourneysError) -> Error {
    match error {
        JourneysError::Jobs(error) => error.into(),
        JourneysError::Store(error) => error.into(),
        other => Error::internal(other),
    }
}
