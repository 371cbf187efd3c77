//! Signing in and out.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_store::Tx;
use serde_json::json;

use crate::accounts::Accounts;
use crate::decide::{counted_address, span_rest, span_start};
use crate::email::Email;
use crate::error::AccountsError;
use crate::model::{Actor, By, Caller, Identity, Means, SESSION_TIME, Source};
use crate::outcome::{
    Ending, LOGIN_ACCEPTED, LOGIN_BUSY, LOGIN_DISABLED, LOGIN_INVALID, LOGIN_THROTTLED_ACCOUNT,
    LOGIN_THROTTLED_ADDRESS, LOGOUT,
};
use crate::password::Password;
use crate::record::buckets::{self, Bucket};
use crate::record::sessions::{self, NewSession};
use crate::record::users::{self, Kept};
use crate::token::{Kind, Token};

/// The span in which attempts are counted.
pub const ATTEMPT_SPAN: Duration = Duration::from_mins(15);
/// Attempts on one account that may fail in it.
pub const ATTEMPTS_PER_ACCOUNT: i64 = 10;
/// Attempts from one address that may fail in it.
pub const ATTEMPTS_PER_ADDRESS: i64 = 100;

pub(crate) const ACCOUNT_SCOPE: &str = "login_account";
pub(crate) const ADDRESS_SCOPE: &str = "login_address";

/// A user who has just signed in.
#[derive(Debug)]
pub struct SignedIn {
    /// The user, by the new session.
    pub caller: Caller,
    /// What the cookie holds.
    pub token: Token,
}

/// An attempt to sign in.
pub struct Attempt<'a> {
    /// The e-mail address, as it was given.
    pub email: &'a str,
    /// The password, as it was given.
    pub password: &'a str,
    /// The session that the client had before, which the new one takes the place of.
    pub replaces: Option<&'a str>,
    /// Where it came from.
    pub source: Source,
}

impl fmt::Debug for Attempt<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Attempt").field("source", &self.source).finish_non_exhaustive()
    }
}

/// The counts that an attempt adds to.
pub(crate) struct Counted {
    account: String,
    address: Option<String>,
    start: Timestamp,
}

impl Counted {
    fn account(&self) -> Bucket<'_> {
        Bucket { scope: ACCOUNT_SCOPE, subject_hash: &self.account, start: self.start }
    }

    pub(crate) fn account_subject(&self) -> &str {
        &self.account
    }

    fn address(&self) -> Option<Bucket<'_>> {
        let subject_hash = self.address.as_deref()?;
        Some(Bucket { scope: ADDRESS_SCOPE, subject_hash, start: self.start })
    }
}

impl Accounts {
    /// Signs in with e-mail address and password.
    ///
    /// Each attempt is counted before the password is looked at and taken back when it was right, so
    /// that many at once can't try more than a few. An unknown address costs the same time as a
    /// wrong password.
    ///
    /// # Errors
    /// [`AccountsError::InvalidCredentials`], [`AccountsError::UserDisabled`],
    /// [`AccountsError::TooManyAttempts`], [`AccountsError::Busy`], or the database's.
    pub async fn sign_in(&self, attempt: Attempt<'_>) -> Result<SignedIn, AccountsError> {
        let email: Option<Email> = attempt.email.parse().ok();
        let counted = self.counted(email.as_ref(), attempt.source.address);
        self.count_attempt(&counted, attempt.source.address).await?;
        let from = attempt.source.address;
        let kept = match &email {
            Some(email) => users::by_email(self.db(), email).await?,
            None => None,
        };
        let given = Password::new(attempt.password).ok();
        let hash = kept.as_ref().map(|kept| kept.password_hash.clone());
        match (self.shared.gate.is_right(given, hash).await, kept) {
            (Ok(true), Some(kept)) => self.admit(&kept, &counted, attempt).await,
            (Ok(_), kept) => {
                LOGIN_INVALID.tell_from(kept.as_ref().map(|kept| &kept.user.id as _), from);
                Err(AccountsError::InvalidCredentials)
            }
            (Err(error), _) => {
                LOGIN_BUSY.tell_from(None, from);
                self.take_back(&counted).await?;
                Err(error.into())
            }
        }
    }

    /// Ends the session with this token, if there is one.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn sign_out(&self, text: &str, source: Source) -> Result<(), AccountsError> {
        let Some(token) = Token::read(Kind::Session, text) else { return Ok(()) };
        let hash = token.hash(&self.shared.pepper);
        let Some(held) = sessions::held(self.db(), &hash).await? else { return Ok(()) };
        let ended = self
            .change(async |tx| {
                let ended = sessions::end_by_hash(tx, &hash).await?;
                if let Some(id) = ended {
                    let means = Means::Session { id, expires_at: held.expires_at };
                    let by = By::caller(Caller { user: held.user.clone(), means }, source);
                    self.audit(tx, &by, "session.sign_out", ("session", Some(id)), json!({}))
                        .await?;
                }
                Ok(ended)
            })
            .await?;
        if let Some(id) = ended {
            LOGOUT.tell(Some(&id));
        }
        Ok(())
    }

    /// Writes a new session in the transaction that signs its user in.
    pub(crate) async fn open_session(
        &self,
        tx: &mut Tx,
        user: Identity,
        source: &Source,
    ) -> Result<SignedIn, AccountsError> {
        let token = Token::make(Kind::Session, &*self.shared.rng);
        let (id, now) = (self.next_id(), self.now());
        let expires_at = now.plus(SESSION_TIME);
        let hash = token.hash(&self.shared.pepper);
        let new = NewSession { id, hash: &hash, user_id: user.id, now, expires_at, source };
        sessions::insert(tx, &new).await?;
        users::signed_in(tx, user.id, now).await?;
        Ok(SignedIn { caller: Caller { user, means: Means::Session { id, expires_at } }, token })
    }

    pub(crate) fn account_subject(&self, email: &Email) -> String {
        self.shared.pepper.keyed("login-account", email.as_str().as_bytes())
    }

    pub(crate) fn counted(&self, email: Option<&Email>, address: Option<IpAddr>) -> Counted {
        let pepper = &self.shared.pepper;
        Counted {
            // What is no address at all shares one count: nobody has that account.
            account: email.map_or_else(
                || pepper.keyed("login-account", b""),
                |email| self.account_subject(email),
            ),
            address: address
                .map(|address| pepper.keyed("login-address", counted_address(address).as_bytes())),
            start: span_start(self.now(), ATTEMPT_SPAN),
        }
    }

    pub(crate) async fn count_attempt(
        &self,
        counted: &Counted,
        from: Option<IpAddr>,
    ) -> Result<(), AccountsError> {
        // Read first: once the limit is reached, an attempt costs no write.
        if buckets::count(self.db(), counted.account()).await? >= ATTEMPTS_PER_ACCOUNT {
            return Err(self.throttled(LOGIN_THROTTLED_ACCOUNT, from));
        }
        if let Some(bucket) = counted.address()
            && buckets::count(self.db(), bucket).await? >= ATTEMPTS_PER_ADDRESS
        {
            return Err(self.throttled(LOGIN_THROTTLED_ADDRESS, from));
        }
        // What is refused is rolled back: it was no attempt, and many at once who all know their
        // password must not close their account.
        self.db()
            .write(async |tx| {
                if buckets::add(tx, counted.account()).await? > ATTEMPTS_PER_ACCOUNT {
                    return Err(self.throttled(LOGIN_THROTTLED_ACCOUNT, from));
                }
                match counted.address() {
                    Some(bucket) if buckets::add(tx, bucket).await? > ATTEMPTS_PER_ADDRESS => {
                        Err(self.throttled(LOGIN_THROTTLED_ADDRESS, from))
                    }
                    _ => Ok(()),
                }
            })
            .await
    }

    fn throttled(&self, ending: Ending, from: Option<IpAddr>) -> AccountsError {
        ending.tell_from(None, from);
        AccountsError::TooManyAttempts { retry_after: span_rest(self.now(), ATTEMPT_SPAN) }
    }

    pub(crate) async fn take_back(&self, counted: &Counted) -> Result<(), AccountsError> {
        self.db().write(async |tx| take_back(tx, counted).await).await
    }

    /// The password was right.
    async fn admit(
        &self,
        kept: &Kept,
        counted: &Counted,
        attempt: Attempt<'_>,
    ) -> Result<SignedIn, AccountsError> {
        let (id, from) = (kept.user.id, attempt.source.address);
        let admitted = self
            .change(async |tx| {
                // Hashing took its time: the account may have been changed meanwhile, and must not be
                // until the session is there. Users are locked before counts, here and everywhere.
                users::lock(tx, id).await?;
                take_back(tx, counted).await?;
                let fresh = users::find(tx, id).await?;
                let Some(fresh) = fresh.filter(|now| now.password_hash == kept.password_hash)
                else {
                    return Ok(Err(AccountsError::InvalidCredentials));
                };
                if !fresh.is_active() {
                    return Ok(Err(AccountsError::UserDisabled));
                }
                self.end_replaced(tx, attempt.replaces).await?;
                let signed_in = self.open_session(tx, fresh.identity()?, &attempt.source).await?;
                self.audit_sign_in(tx, &signed_in, &attempt.source).await?;
                Ok(Ok(signed_in))
            })
            .await?;
        match &admitted {
            Ok(_) => LOGIN_ACCEPTED.tell_from(Some(&id), from),
            Err(AccountsError::UserDisabled) => LOGIN_DISABLED.tell_from(Some(&id), from),
            Err(_) => LOGIN_INVALID.tell_from(Some(&id), from),
        }
        admitted
    }

    /// The counts of a signed-in user who changes the password: of their own, so that a stranger who
    /// fails to sign in does not keep them from it.
    pub(crate) fn counted_password_change(&self, user: Id) -> Counted {
        Counted {
            account: self.shared.pepper.keyed("password-change", user.to_string().as_bytes()),
            address: None,
            start: span_start(self.now(), ATTEMPT_SPAN),
        }
    }

    pub(crate) async fn end_replaced(
        &self,
        tx: &mut Tx,
        text: Option<&str>,
    ) -> Result<(), AccountsError> {
        if let Some(token) = text.and_then(|text| Token::read(Kind::Session, text)) {
            sessions::end_by_hash(tx, &token.hash(&self.shared.pepper)).await?;
        }
        Ok(())
    }

    pub(crate) async fn audit_sign_in(
        &self,
        tx: &mut Tx,
        signed_in: &SignedIn,
        source: &Source,
    ) -> Result<(), AccountsError> {
        let caller = signed_in.caller.clone();
        let session = session_of(&caller);
        let by = By { actor: Actor::Caller(caller), source: source.clone() };
        self.audit(tx, &by, "session.sign_in", ("session", session), json!({})).await
    }
}

fn session_of(caller: &Caller) -> Option<Id> {
    match caller.means {
        Means::Session { id, .. } => Some(id),
        Means::Token { .. } => None,
    }
}

pub(crate) async fn take_back(tx: &mut Tx, counted: &Counted) -> Result<(), AccountsError> {
    buckets::take_back(tx, counted.account()).await?;
    if let Some(bucket) = counted.address() {
        buckets::take_back(tx, bucket).await?;
    }
    Ok(())
}
