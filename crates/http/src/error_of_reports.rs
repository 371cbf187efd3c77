//! What the room of reports refuses, as the surface says it.

use mainstay_reports::{BesideError, MAX_FILE_BYTES, ReportsError};

use crate::code::Code;
use crate::error::Error;
use crate::error_of_accounts::sentence;

impl From<ReportsError> for Error {
    fn from(error: ReportsError) -> Self {
        use ReportsError as Refused;
        let code = match error {
            Refused::NotConfigured => Code::ReportsNotConfigured,
            Refused::Name(_) => Code::InvalidFileType,
            Refused::TooLarge => {
                let told = Self::new(Code::FileTooLarge, sentence(&error.to_string()));
                return told.with("limit_bytes", MAX_FILE_BYTES);
            }
            Refused::Empty => Code::EmptyFile,
            Refused::Window(_) => Code::InvalidWindow,
            Refused::TooManyFiles => Code::TooManyFiles,
            Refused::TooManyUploads => Code::TooManyUploads,
            Refused::Busy => Code::Busy,
            Refused::NotFound | Refused::UnknownShare => Code::NotFound,
            Refused::NotReady => return not_ready(),
            Refused::NotFailed => Code::FileNotFailed,
            Refused::NeverStored => Code::FileNeverStored,
            Refused::Interrupted => Code::UploadInterrupted,
            Refused::TooManyShares => Code::TooManyShares,
            Refused::BadExpiry => Code::InvalidExpiresIn,
            Refused::RevokedShare => Code::ShareRevoked,
            Refused::Storage(_) => Code::S3PutFailed,
            Refused::Enqueue(_) => Code::EnqueueFailed,
            Refused::Fetch => return not_fetched(),
            // What goes with a change here is another refusal of this surface.
            Refused::Beside(BesideError::Refused(cause) | BesideError::Failed(cause)) => {
                return cause.downcast::<Self>().map_or_else(Self::internal, |error| *error);
            }
            Refused::Jobs(error) => return error.into(),
            Refused::Store(error) => return error.into(),
            other => return Self::internal(other),
        };
        Self::new(code, sentence(&error.to_string()))
    }
}

fn not_ready() -> Error {
    let detail = "The file has no report, or not yet. GET /api/files/{id} tells where it stands.";
    Error::new(Code::ReportNotReady, detail)
}

fn not_fetched() -> Error {
    let detail = "The report can't be read from the storage now. Try again later; the log has the \
                  cause. If it is gone, its owner can have it made anew: POST \
                  /api/files/{id}/retry.";
    Error::new(Code::ReportFetchFailed, detail)
}
