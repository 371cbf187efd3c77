//! What the room refuses, and why it could not answer.

use std::time::Duration;

use mainstay_store::StoreError;

use crate::email::EmailError;
use crate::model::{MAX_TOKENS, UnknownWord};
use crate::password::{Busy, GateError, HashingFailed, PasswordError};

/// A refusal, or a failure of the database or of hashing.
#[derive(Debug, thiserror::Error)]
pub enum AccountsError {
    /// Not an e-mail address.
    #[error(transparent)]
    InvalidEmail(#[from] EmailError),
    /// A password that can't be taken.
    #[error(transparent)]
    WeakPassword(#[from] PasswordError),
    /// A text of the wrong length or with control characters.
    #[error("{field} is {reason}")]
    InvalidText {
        /// Which field.
        field: &'static str,
        /// What is wrong and what to do.
        reason: String,
    },
    /// The session or token that the call came with has ended meanwhile.
    #[error("the session or token has ended; sign in again")]
    NotSignedIn,
    /// The caller may not do this any more.
    #[error("this is for another role than the caller now has; ask an admin")]
    NotAllowed,
    /// An unknown account or a wrong password.
    #[error("the e-mail address or the password is wrong; check both")]
    InvalidCredentials,
    /// The password is right and the account is disabled.
    #[error("the account is disabled; ask an admin to enable it")]
    UserDisabled,
    /// Too many attempts to sign in.
    #[error("there were too many attempts to sign in; wait before the next one")]
    TooManyAttempts {
        /// How long to wait.
        retry_after: Duration,
    },
    /// Too many requests.
    #[error("there were too many requests; wait before the next one")]
    RateLimited {
        /// How long to wait.
        retry_after: Duration,
    },
    /// Unknown, used, expired, revoked, or of another kind: all alike.
    #[error("the link is not valid or no longer so; ask for a new one")]
    InvalidToken,
    /// The form's timestamp is not ours or too old.
    #[error("the form is too old or was not loaded from here; load it again")]
    FormExpired,
    /// There is an account already.
    #[error("there is an account already, so this link has done its work; sign in instead")]
    SetupDone,
    /// An account has this e-mail address.
    #[error("an account has this e-mail address already; change that one instead")]
    UserExists,
    /// Without this admin there would be none.
    #[error("this is the last active admin; make another one first")]
    LastAdmin,
    /// The invite was accepted, revoked or is too old.
    #[error("the invite is not pending any more, so there is nothing to revoke")]
    InviteNotPending,
    /// The user has as many API tokens as one may have.
    #[error("a user has at most {MAX_TOKENS} API tokens; revoke one first")]
    TooManyTokens,
    /// Nothing has this id.
    #[error("nothing has this id; it may have been removed")]
    NotFound,
    /// Too many passwords are being checked.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// Hashing failed.
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
    /// The mail that goes with it could not be queued.
    #[error("the mail that goes with it could not be queued: {0}; try again")]
    Post(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The database holds a word that is not known.
    #[error(transparent)]
    UnknownWord(#[from] UnknownWord),
}

impl From<GateError> for AccountsError {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Busy(busy) => Self::Busy(busy),
            GateError::Failed(failed) => Self::Hashing(failed),
        }
    }
}
