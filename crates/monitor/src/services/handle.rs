//! The handle to services: define, change, remove, and tell the engine.

use std::sync::Arc;

use mainstay_base::{Id, IdSource, Timestamp};
use mainstay_events::{Events, Outbox};
use mainstay_store::{Db, Snapshot, StoreError, Tx};
use serde_json::json;

use super::definition::{Definition, Draft};
use super::edit::Effects;
use super::error::ServicesError;
use super::follow::{Follow, change, write_new};
use super::headers::Header;
use super::held::Held;
use super::patch::Patch;
use super::record::{self, Kept, Sealed, Stored};
use super::seal::{self, Seal};
use super::tell::tell;
use super::watches::{self, Watches};
use crate::policy::MOST_SERVICES;
use crate::record::histories::write_changes;
use crate::record::revisions;

/// The most services there may be: as many as one instance polls.
pub const MAX_SERVICES: usize = MOST_SERVICES;

/// How many services are added or changed with one statement.
const WRITE_TOGETHER: usize = 500;

/// The services. A clone is the same handle.
#[derive(Clone)]
pub struct Services {
    events: Events,
    ids: IdSource,
    seal: Arc<dyn Seal>,
    edited: Arc<dyn Fn() + Send + Sync>,
}

/// A service that was added or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// Its id.
    pub id: Id,
    /// Its name.
    pub name: String,
}

/// A service that was locked, and what it would be.
#[derive(Debug)]
pub(crate) struct Revised {
    stored: Stored,
    after: Definition,
    sealed: Sealed,
    effects: Effects,
}

impl Revised {
    fn edited(&self) -> Edited {
        Edited { id: self.stored.id, name: self.after.name.clone() }
    }

    fn kept(&self, revision: i64, now: Timestamp) -> Kept<'_> {
        let (sealed, outdates_polls) = (self.sealed.clone(), self.effects.outdates_polls());
        Kept { definition: &self.after, sealed, revision, now, outdates_polls }
    }
}

impl Services {
    /// The services in the database of `events`. `edited` is called after each edit, so that the
    /// engine looks at once.
    #[must_use]
    pub fn new(
        events: Events,
        ids: IdSource,
        seal: Arc<dyn Seal>,
        edited: Arc<dyn Fn() + Send + Sync>,
    ) -> Self {
        Self { events, ids, seal, edited }
    }

    /// The service of this name, as it is compared, or else the first that is asked at this address.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn named(
        tx: &mut Tx,
        name: &str,
        url: Option<&str>,
    ) -> Result<Option<Id>, StoreError> {
        record::named(tx, name, url).await
    }

    /// Adds a service.
    ///
    /// # Errors
    /// [`ServicesError::NameTaken`], [`ServicesError::TooMany`], or when the database fails.
    pub async fn create(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        definition: &Definition,
    ) -> Result<Edited, ServicesError> {
        let mut made = self.create_all(tx, out, &[definition]).await?;
        // Each that goes in comes out.
        made.pop().ok_or(ServicesError::NotFound)
    }

    /// Adds services, in this order.
    pub(crate) async fn create_all(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        definitions: &[&Definition],
    ) -> Result<Vec<Edited>, ServicesError> {
        let new = i64::try_from(definitions.len()).unwrap_or(i64::MAX);
        let last = revisions::next(tx, new).await?;
        let now = tx.now().await?;
        let count = record::count(tx).await?.saturating_add(new);
        if usize::try_from(count).is_ok_and(|count| count > MAX_SERVICES) {
            return Err(ServicesError::TooMany);
        }
        let mut revision = last.saturating_sub(new);
        let mut made = Vec::with_capacity(definitions.len());
        for portion in definitions.chunks(WRITE_TOGETHER) {
            let kept = portion.iter().map(|definition| {
                revision = revision.saturating_add(1);
                let sealed = self.sealed(&definition.headers);
                let kept = Kept { definition, sealed, revision, now, outdates_polls: false };
                (self.ids.next(), kept)
            });
            let kept: Vec<_> = kept.collect();
            write_new(tx, out, &kept).await?;
            made.extend(
                kept.into_iter()
                    .map(|(id, kept)| Edited { id, name: kept.definition.name.clone() }),
            );
        }
        self.ring_after(tx);
        Ok(made)
    }

    /// Changes a service. Headers that can't be opened any more stay as they are unless headers are
    /// given, which then take the place of all of them.
    ///
    /// # Errors
    /// [`ServicesError::Invalid`], [`ServicesError::NotFound`], [`ServicesError::NameTaken`], or
    /// when the database fails.
    pub async fn update(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        id: Id,
        patch: Patch,
    ) -> Result<Edited, ServicesError> {
        revisions::hold(tx).await?;
        let stored = record::lock(tx, id).await?.ok_or(ServicesError::NotFound)?;
        let revision = self.revise(stored, patch)?;
        let edited = revision.edited();
        self.update_all(tx, out, &[revision]).await?;
        Ok(edited)
    }

    /// Changes services that were locked.
    pub(crate) async fn update_all(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        revised: &[Revised],
    ) -> Result<(), ServicesError> {
        let changed: Vec<&Revised> = revised.iter().filter(|one| one.effects.any).collect();
        if changed.is_empty() {
            return Ok(());
        }
        let count = i64::try_from(changed.len()).unwrap_or(i64::MAX);
        let mut number = revisions::next(tx, count).await?.saturating_sub(count);
        let now = tx.now().await?;
        let mut follow = Follow::new(now);
        let mut kept = Vec::with_capacity(changed.len());
        for one in changed {
            number = number.saturating_add(1);
            kept.push((one.stored.id, one.kept(number, now)));
            follow.add(out, &one.stored, &one.after, one.effects)?;
        }
        for portion in kept.chunks(WRITE_TOGETHER) {
            record::update(tx, portion).await?;
        }
        follow.write(tx).await?;
        self.ring_after(tx);
        Ok(())
    }

    /// Removes a service: it is polled and shown no more, and its history stays.
    ///
    /// # Errors
    /// [`ServicesError::NotFound`], or when the database fails.
    pub async fn delete(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        id: Id,
    ) -> Result<Edited, ServicesError> {
        let mut gone = self.delete_all(tx, out, &[id]).await?;
        gone.pop().ok_or(ServicesError::NotFound)
    }

    /// Removes services, and tells of those that were there.
    pub(crate) async fn delete_all(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        ids: &[Id],
    ) -> Result<Vec<Edited>, ServicesError> {
        let count = i64::try_from(ids.len()).unwrap_or(i64::MAX);
        let first = revisions::next(tx, count).await?.saturating_sub(count).saturating_add(1);
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        record::hold(tx, &ids).await?;
        let all = record::lock_all(tx, &ids).await?;
        let now = tx.now().await?;
        let numbers: Vec<i64> = all.iter().map(|stored| stored.number).collect();
        record::remove(tx, &numbers, first, now).await?;
        let mut changes = record::unlink(tx, &numbers, now).await?;
        for stored in &all {
            let name = stored.name.as_str();
            changes.push(change(stored.number, "removed", now, Some(name), None));
            tell(out, "service:stopped", (stored.id, name), [("removed", json!(true))])?;
        }
        write_changes(tx, &changes).await?;
        self.ring_after(tx);
        Ok(all.into_iter().map(|stored| Edited { id: stored.id, name: stored.name }).collect())
    }

    /// Waits until nobody else edits services, and lets nobody begin until the transaction ends.
    pub(crate) async fn hold(&self, tx: &mut Tx) -> Result<(), StoreError> {
        revisions::hold(tx).await
    }

    /// The services of these ids, which nobody else writes until the transaction ends.
    pub(crate) async fn lock_all(
        &self,
        tx: &mut Tx,
        ids: &[String],
    ) -> Result<Vec<Stored>, StoreError> {
        record::lock_all(tx, ids).await
    }

    /// Up to `limit` services as they stand, in the order of their names.
    pub(crate) async fn all(
        &self,
        snapshot: &mut Snapshot,
        limit: i64,
    ) -> Result<Vec<Held>, StoreError> {
        let rows = record::list(snapshot, limit).await?;
        Ok(rows.into_iter().map(|(id, draft, sealed)| self.held(id, draft, &sealed)).collect())
    }

    pub(crate) fn db(&self) -> &Db {
        self.events.db()
    }

    /// Every service that was edited after `revision`, for the engine.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn watches(&self, revision: i64) -> Result<Watches, StoreError> {
        watches::since(self.events.db(), &*self.seal, revision).await
    }

    /// What a locked service would be.
    ///
    /// # Errors
    /// [`ServicesError::Invalid`].
    pub(crate) fn revise(&self, stored: Stored, patch: Patch) -> Result<Revised, ServicesError> {
        let opened = seal::open(&*self.seal, stored.sealed.values.as_deref());
        let gives_headers = patch.headers.is_some();
        let (before, after) = revise(&stored, opened.as_deref(), patch)?;
        let headers_changed = match &opened {
            Some(_) => before.headers != after.headers,
            None => gives_headers,
        };
        let effects = Effects::of(&before, &after, headers_changed);
        let sealed =
            if headers_changed { self.sealed(&after.headers) } else { stored.sealed.clone() };
        Ok(Revised { stored, after, sealed, effects })
    }

    fn held(&self, id: Id, mut draft: Draft, sealed: &Sealed) -> Held {
        let opened = seal::open(&*self.seal, sealed.values.as_deref());
        let names = || serde_json::from_str(&sealed.names).unwrap_or_default();
        let sealed = opened.is_none().then(names);
        draft.headers = opened.unwrap_or_default();
        Held { id, draft, sealed }
    }

    fn sealed(&self, headers: &[Header]) -> Sealed {
        let names: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
        Sealed { names: json!(names).to_string(), values: seal::seal(&*self.seal, headers) }
    }

    fn ring_after(&self, tx: &mut Tx) {
        let edited = Arc::clone(&self.edited);
        tx.after_commit(move || edited());
    }
}

/// The definition as it is and as it would be.
fn revise(
    stored: &Stored,
    headers: Option<&[Header]>,
    patch: Patch,
) -> Result<(Definition, Definition), ServicesError> {
    let mut draft = stored.draft.clone();
    draft.headers = headers.map(<[_]>::to_vec).unwrap_or_default();
    let after = Definition::check(patch.apply(draft.clone()))?;
    Ok((Definition::check(draft)?, after))
}

impl std::fmt::Debug for Services {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Services")
    }
}
