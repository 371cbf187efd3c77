//! A link that signs one user in, once: for who starts a Mainstay to look at it. It is kept in memory
//! only, so that it is worth nothing beside the process that gave it out.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mainstay_base::{Id, Timestamp};

use crate::accounts::Accounts;
use crate::email::Email;
use crate::error::AccountsError;
use crate::model::{SETUP_TIME, Source};
use crate::outcome::{ENTRY_ACCEPTED, ENTRY_UNKNOWN};
use crate::record::users;
use crate::sign_in::SignedIn;
use crate::token::{Kind, Token};

/// The link that was given out last, if nobody has used it. A clone is the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry(Arc<Mutex<Option<Given>>>);

#[derive(Debug)]
struct Given {
    hash: String,
    user: Id,
    expires_at: Timestamp,
    /// Somebody's session is being written for it: nobody else can use it meanwhile.
    is_claimed: bool,
}

/// A link while the session of who uses it is written. Dropped, the link is free again.
#[derive(Debug)]
struct Claim {
    entry: Entry,
    hash: String,
    user: Id,
}

/// Who comes by a link.
pub struct Entering<'a> {
    /// The token of the link, as it was given.
    pub token: &'a str,
    /// The session that the client had before, which the new one takes the place of.
    pub replaces: Option<&'a str>,
    /// Where it came from.
    pub source: Source,
}

impl fmt::Debug for Entering<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Entering").field("source", &self.source).finish_non_exhaustive()
    }
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
            is_claimed: false,
        });
        Ok(token)
    }

    /// Signs in whoever has the token of a link. The link is used up by the commit that writes the
    /// session: if that fails, it can be used again.
    ///
    /// # Errors
    /// [`AccountsError::InvalidToken`], [`AccountsError::UserDisabled`], or the database's.
    pub async fn enter(&self, entering: Entering<'_>) -> Result<SignedIn, AccountsError> {
        let Entering { token, replaces, source } = entering;
        let hash = Token::read(Kind::Entry, token).map(|token| token.hash(&self.shared.pepper));
        let Some(claim) = hash.and_then(|hash| self.shared.entry.claim(hash, self.now())) else {
            ENTRY_UNKNOWN.tell_from(None, source.address);
            return Err(AccountsError::InvalidToken);
        };
        let (user, from) = (claim.user, source.address);
        let signed_in = self
            .change(async |tx| {
                tx.after_commit(move || claim.used());
                users::lock(tx, user).await?;
                let kept = users::find(tx, user).await?.ok_or(AccountsError::InvalidToken)?;
                if !kept.is_active() {
                    return Err(AccountsError::UserDisabled);
                }
                self.end_replaced(tx, replaces).await?;
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
        *self.lock() = Some(given);
    }

    /// The link of this hash, for one user of it at a time.
    fn claim(&self, hash: String, now: Timestamp) -> Option<Claim> {
        let mut given = self.lock();
        let is_free =
            |one: &&mut Given| one.hash == hash && one.expires_at > now && !one.is_claimed;
        let given = given.as_mut().filter(is_free)?;
        given.is_claimed = true;
        Some(Claim { entry: self.clone(), user: given.user, hash })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Given>> {
        // Nothing in here panics half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Claim {
    /// From here on it is nobody's. A newer one stays.
    fn used(self) {
        self.entry.lock().take_if(|one| one.hash == self.hash);
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(given) = self.entry.lock().as_mut().filter(|one| one.hash == self.hash) {
            given.is_claimed = false;
        }
    }
}
