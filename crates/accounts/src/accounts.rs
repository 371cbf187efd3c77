//! The handle that the HTTP surface and the command line work with.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use mainstay_base::{Clock, Id, IdSource, Rng, Timestamp};
use mainstay_store::{Db, Tx};
use serde_json::Value;

use crate::cache::SessionCache;
use crate::entry::Entry;
use crate::error::AccountsError;
use crate::limits::SlidingLimits;
use crate::model::{By, Caller, Means, Role, Source, UserStatus};
use crate::password::{HashingFailed, HashingLimits, PasswordGate};
use crate::post::Post;
use crate::record::audit::{self, Deed};
use crate::record::{sessions, tokens, users};
use crate::seen::{Seen, SeenQueue};
use crate::token::Pepper;

/// What the room works with.
pub struct Options {
    /// The database.
    pub db: Db,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where ids come from.
    pub ids: IdSource,
    /// Where tokens and salts come from.
    pub rng: Arc<dyn Rng>,
    /// The key of every hash.
    pub pepper: Pepper,
    /// How much hashing there may be at once.
    pub hashing: HashingLimits,
    /// Who queues mail.
    pub post: Arc<dyn Post>,
    /// Called after each committed change of who may do what: sessions may have ended with it.
    pub changed: Arc<dyn Fn() + Send + Sync>,
}

/// Users, sessions, tokens, invites and requests. A clone is another handle to the same.
#[derive(Clone)]
pub struct Accounts {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdSource,
    pub(crate) rng: Arc<dyn Rng>,
    pub(crate) pepper: Pepper,
    pub(crate) gate: PasswordGate,
    pub(crate) post: Arc<dyn Post>,
    changed: Arc<dyn Fn() + Send + Sync>,
    pub(crate) cache: SessionCache,
    pub(crate) seen: Seen,
    pub(crate) limits: SlidingLimits,
    pub(crate) entry: Entry,
    /// Requests for access so far: every hundredth cleans up.
    pub(crate) asked: AtomicU64,
}

impl Accounts {
    /// The room on an open, migrated database, and the queue of its
    /// [`engine`](crate::engine::run).
    ///
    /// # Errors
    /// When Argon2 can't work on this machine.
    pub fn new(options: Options) -> Result<(Self, SeenQueue), HashingFailed> {
        let Options { db, clock, ids, rng, pepper, hashing, post, changed } = options;
        let (seen, queue) = Seen::new();
        let shared = Shared {
            gate: PasswordGate::new(hashing, Arc::clone(&rng))?,
            cache: SessionCache::new(db.dialect(), Arc::clone(&clock)),
            limits: SlidingLimits::new(db.clone(), Arc::clone(&clock)),
            entry: Entry::default(),
            db,
            clock,
            ids,
            rng,
            pepper,
            post,
            changed,
            seen,
            asked: AtomicU64::new(0),
        };
        Ok((Self { shared: Arc::new(shared) }, queue))
    }

    /// The sliding limits that routes ask for.
    #[must_use]
    pub fn limits(&self) -> &SlidingLimits {
        &self.shared.limits
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    pub(crate) fn db(&self) -> &Db {
        &self.shared.db
    }

    pub(crate) fn next_id(&self) -> Id {
        self.shared.ids.next()
    }

    /// Runs `work` in a write transaction; once it is committed, no request is answered from what
    /// was known before, and whoever waits for changes is told.
    pub(crate) async fn change<T, F>(&self, work: F) -> Result<T, AccountsError>
    where
        F: AsyncFnOnce(&mut Tx) -> Result<T, AccountsError>,
    {
        let (cache, changed) = (self.shared.cache.clone(), Arc::clone(&self.shared.changed));
        self.shared
            .db
            .write(async |tx| {
                tx.after_commit(move || {
                    cache.forget();
                    changed();
                });
                work(tx).await
            })
            .await
    }

    /// The same for a caller, of whom it is made sure inside the transaction that the session or token
    /// is alive and the role still `least`: a request may take its time between the look-up and this.
    pub(crate) async fn change_as<T, F>(
        &self,
        caller: &Caller,
        least: Role,
        work: F,
    ) -> Result<T, AccountsError>
    where
        F: AsyncFnOnce(&mut Tx) -> Result<T, AccountsError>,
    {
        self.change(async |tx| {
            users::alone(tx).await?;
            self.confirm(tx, caller, least).await?;
            work(tx).await
        })
        .await
    }

    /// Makes sure that the caller may still do what needs the role `least`. Role and status stay so
    /// until the end of the transaction; who signs out in that moment may do so just after it.
    ///
    /// # Errors
    /// [`AccountsError::NotSignedIn`], [`AccountsError::NotAllowed`], or the database's.
    pub async fn confirm(
        &self,
        tx: &mut Tx,
        caller: &Caller,
        least: Role,
    ) -> Result<(), AccountsError> {
        let user = caller.user.id;
        let Some((role, UserStatus::Active)) = users::lock(tx, user).await? else {
            return Err(AccountsError::NotSignedIn);
        };
        let is_alive = match caller.means {
            Means::Session { id, .. } => sessions::is_alive(tx, id, user, self.now()).await?,
            Means::Token { id, .. } => tokens::is_alive(tx, id, user, self.now()).await?,
        };
        match is_alive {
            false => Err(AccountsError::NotSignedIn),
            true if role < least => Err(AccountsError::NotAllowed),
            true => Ok(()),
        }
    }

    /// Writes a line of the audit log for a caller of another room, in the transaction of the change.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn note(
        &self,
        tx: &mut Tx,
        caller: &Caller,
        source: Source,
        action: &'static str,
        target: (&'static str, Option<Id>),
        detail: Value,
    ) -> Result<(), AccountsError> {
        let by = By::caller(caller.clone(), source);
        self.audit(tx, &by, action, target, detail).await
    }

    pub(crate) async fn audit(
        &self,
        tx: &mut Tx,
        by: &By,
        action: &'static str,
        target: (&'static str, Option<Id>),
        detail: Value,
    ) -> Result<(), AccountsError> {
        let deed = Deed { action, target, by, detail };
        Ok(audit::write(tx, self.next_id(), self.now(), deed).await?)
    }
}

impl fmt::Debug for Accounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Accounts")
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Options").field("db", &self.db).finish_non_exhaustive()
    }
}
