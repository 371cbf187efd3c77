//! What the accounts refuse, as the surface says it.

use mainstay_accounts::AccountsError;

use crate::code::Code;
use crate::error::Error;

impl From<AccountsError> for Error {
    fn from(error: AccountsError) -> Self {
        use AccountsError as Refused;
        let code = match &error {
            Refused::InvalidEmail(_) => Code::InvalidEmail,
            Refused::WeakPassword(_) => Code::WeakPassword,
            Refused::InvalidText { .. } => Code::InvalidBody,
            Refused::NotSignedIn => Code::Unauthenticated,
            Refused::NotAllowed => Code::Forbidden,
            Refused::InvalidCredentials => Code::InvalidCredentials,
            Refused::UserDisabled => Code::UserDisabled,
            Refused::TooManyAttempts { .. } => Code::TooManyAttempts,
            Refused::RateLimited { .. } => Code::RateLimited,
            Refused::InvalidToken => Code::InvalidOrExpiredToken,
            Refused::FormExpired => Code::FormExpired,
            Refused::SetupDone => Code::SetupDone,
            Refused::UserExists => Code::UserExists,
            Refused::LastAdmin => Code::LastAdmin,
            Refused::InviteNotPending => Code::InviteNotPending,
            Refused::TooManyTokens => Code::TooManyTokens,
            Refused::NotFound => Code::NotFound,
            Refused::Busy(_) => Code::Busy,
            Refused::Store(failed) if failed.is_transient() => return Self::unavailable(error),
            Refused::Hashing(_)
            | Refused::Post(_)
            | Refused::Store(_)
            | Refused::UnknownWord(_) => {
                return Self::internal(error);
            }
        };
        let told = Self::new(code, sentence(&error.to_string()));
        match error {
            Refused::InvalidText { field, .. } => told.with("field", field),
            Refused::TooManyAttempts { retry_after } | Refused::RateLimited { retry_after } => {
                told.retry_after(retry_after)
            }
            _ => told,
        }
    }
}

/// The words of an error, as a sentence.
/// An error's words as a sentence of their own.
pub(crate) fn sentence(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().map(char::to_uppercase).into_iter().flatten();
    let end = (!words.ends_with(['.', '?'])).then_some('.');
    first.chain(characters).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_refusal_is_told_in_a_sentence() {
        assert_eq!(
            sentence("no such key; did you mean every?"),
            "No such key; did you mean every?"
        );
        let told = Error::from(AccountsError::LastAdmin).to_string();
        assert_eq!(told, "last_admin: This is the last active admin; make another one first.");
        let refused =
            AccountsError::InvalidText { field: "name", reason: "empty; give one".to_owned() };
        assert_eq!(Error::from(refused).to_string(), "invalid_body: Name is empty; give one.");
        let wait = AccountsError::TooManyAttempts { retry_after: Duration::from_secs(60) };
        assert_eq!(Error::from(wait).code(), Code::TooManyAttempts);
    }
}
