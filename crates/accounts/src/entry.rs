//! A link that signs one user in, once: for who starts a Mainstay to look at it. It is kept in memory
//! only, so that it is worth nothing beside the process that gave it out.

use std::sync::{Mutex, PoisonError};

use mainstay_base::{Id, Timestamp};

use crate::accounts::Accounts;
use crate::email::Email;
use crate::error::AccountsError;
use crate::model::{SETUP_TIME, Source};
use crate::outcome::{ENTRY_ACCEPTED, ENTRY_UNKNOWN};
use crate::record::users;
use crate::sign_in::SignedIn;
use crate::token::{Kind, Token};

/// The link that was given out last, if nobody has used it.
#[derive(Debug, Default)]
pub(crate) struct Entry(Mutex<Option<Given>>);

#[derive(Debug)]
struct Given {
    hash: String,
    user: Id,
    expires_at: Timestamp,
}

impl Accounts {
    /// A token that signs this user in once. One that was given out before is worth nothing any more.
    ///
    /// # Errors
    /// [`AccountsError::NotFound`], or the database's.
    pub async fn entry_token(&self, email: &Email) -> Result<Token, AccountsError> {
        let kept = users::by_email(self.db(), email).await?.ok_or(AccountsError::NotFound)?;
        let token = Token::make(Kind::Entry, &*self.shared.rng);
        self.shared.entry.give(Given {
            hash: token.hash(&self.shared.pepper),
            user: kept.user.id,
            expires_at: self.now().plus(SETUP_TIME),
        });
        Ok(token)
    }

    /// Signs in whoever has the token of a link.
    ///
    /// # Errors
    /// [`AccountsError::InvalidToken`], [`AccountsError::UserDisabled`], or the database's.
    pub async fn enter(&self, token: &str, source: Source) -> Result<SignedIn, AccountsError> {
        let hash = Token::read(Kind::Entry, token).map(|token| token.hash(&self.shared.pepper));
        let Some(user) = hash.and_then(|hash| self.shared.entry.take(&hash, self.now())) else {
            ENTRY_UNKNOWN.tell_from(None, source.address);
            return Err(AccountsError::InvalidToken);
        };
        let from = source.address;
        let signed_in = self
            .change(async |tx| {
                users::lock(tx, user).await?;
                let kept = users::find(tx, user).await?.ok_or(AccountsError::InvalidToken)?;
                if !kept.is_active() {
                    return Err(AccountsError::UserDisabled);
                }
                let signed_in = self.open_session(tx, kept.identity()?, &source).await?;
                self.audit_sign_in(tx, &signed_in, &source).await?;
                Ok(signed_in)
            })
            .await?;
        ENTRY_ACCEPTED.tell_from(Some(&user), from);
        Ok(signed_in)
    }
}

impl Entry {
    fn give(&self, given: Given) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(given);
    }

    /// Whose link it is. After that it is nobody's.
    fn take(&self, hash: &str, now: Timestamp) -> Option<Id> {
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        given.take_if(|one| one.hash == hash && one.expires_at > now).map(|one| one.user)
    }
}
