//! The handle to services: define, change, remove, and tell the engine.

use std::sync::Arc;

use mainstay_base::{Id, IdSource, Timestamp};
use mainstay_events::{Events, Outbox};
use mainstay_store::{StoreError, Tx};
use serde_json::json;

use super::definition::Definition;
use super::edit::Effects;
use super::error::ServicesError;
use super::headers::Header;
use super::patch::Patch;
use super::record::{self, Kept, Sealed, Stored};
use super::seal::{self, Seal};
use super::tell::{tell, tell_unknown};
use super::watches::{self, Watches};
use crate::policy::MOST_SERVICES;
use crate::record::histories::{ChangeRow, write_changes};
use crate::status::ServiceStatus;

/// The most services there may be: as many as one instance polls.
pub const MAX_SERVICES: usize = MOST_SERVICES;

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
        let kept = self.kept(tx, definition, None).await?;
        let count = record::count(tx).await?;
        if usize::try_from(count).is_ok_and(|count| count >= MAX_SERVICES) {
            return Err(ServicesError::TooMany);
        }
        let id = self.ids.next();
        let number = record::insert(tx, id, &kept).await?;
        let name = definition.name.as_str();
        write_changes(tx, &[change(number, "added", kept.now, None, Some(name))]).await?;
        let kind = if definition.is_active { "service:started" } else { "service:updated" };
        tell(out, kind, (id, name), [])?;
        self.ring_after(tx);
        Ok(Edited { id, name: name.to_owned() })
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
        let stored = record::lock(tx, id).await?.ok_or(ServicesError::NotFound)?;
        let opened = seal::open(&*self.seal, stored.sealed.values.as_deref());
        let gives_headers = patch.headers.is_some();
        let (before, after) = revise(&stored, opened.as_deref(), patch)?;
        let headers_changed = match &opened {
            Some(_) => before.headers != after.headers,
            None => gives_headers,
        };
        let effects = Effects::of(&before, &after, headers_changed);
        let edited = Edited { id, name: after.name.clone() };
        if !effects.any {
            return Ok(edited);
        }
        let sealed = (!headers_changed).then(|| stored.sealed.clone());
        let kept = self.kept(tx, &after, sealed).await?;
        record::update(tx, stored.number, &kept, effects.outdates_polls()).await?;
        follow(tx, out, &stored, &after, effects, kept.now).await?;
        self.ring_after(tx);
        Ok(edited)
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
        let stored = record::lock(tx, id).await?.ok_or(ServicesError::NotFound)?;
        let revision = record::next_revision(tx).await?;
        let now = tx.now().await?;
        record::remove(tx, stored.number, revision, now).await?;
        record::unlink(tx, stored.number, id, now).await?;
        let name = stored.name.as_str();
        write_changes(tx, &[change(stored.number, "removed", now, Some(name), None)]).await?;
        tell(out, "service:stopped", (id, name), [("removed", json!(true))])?;
        self.ring_after(tx);
        Ok(Edited { id, name: stored.name })
    }

    /// Every service that was edited after `revision`, for the engine.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn watches(&self, revision: i64) -> Result<Watches, StoreError> {
        watches::since(self.events.db(), &*self.seal, revision).await
    }

    /// What is written of a definition. `sealed` keeps headers as they are sealed.
    async fn kept<'a>(
        &self,
        tx: &mut Tx,
        definition: &'a Definition,
        sealed: Option<Sealed>,
    ) -> Result<Kept<'a>, StoreError> {
        Ok(Kept {
            definition,
            sealed: sealed.unwrap_or_else(|| self.sealed(&definition.headers)),
            revision: record::next_revision(tx).await?,
            now: tx.now().await?,
        })
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

/// What follows from an edit, beside the definition itself.
async fn follow(
    tx: &mut Tx,
    out: &mut Outbox,
    stored: &Stored,
    after: &Definition,
    effects: Effects,
    now: Timestamp,
) -> Result<(), ServicesError> {
    let (number, service) = (stored.number, (stored.id, after.name.as_str()));
    if effects.renamed {
        let renamed = change(number, "renamed", now, Some(&stored.name), Some(&after.name));
        write_changes(tx, &[renamed]).await?;
    }
    if effects.moved {
        record::reset_guards(tx, number).await?;
        if !stored.is_circuit_closed {
            tell(out, "circuit:close", service, [])?;
        }
    }
    if effects.activated || effects.deactivated {
        // Without a plan it is due as soon as it is polled again.
        record::reschedule(tx, number, None).await?;
    } else if effects.polls_anew() && after.is_active {
        record::reschedule(tx, number, Some(now)).await?;
    }
    if effects.deactivated {
        forget(tx, out, stored, service, now).await?;
    }
    let kind = match (effects.activated, effects.deactivated) {
        (true, _) => "service:started",
        (_, true) => "service:stopped",
        _ => "service:updated",
    };
    tell(out, kind, service, [])?;
    Ok(())
}

/// Nobody looks any more, so nobody knows.
async fn forget(
    tx: &mut Tx,
    out: &mut Outbox,
    stored: &Stored,
    service: (Id, &str),
    now: Timestamp,
) -> Result<(), ServicesError> {
    let number = stored.number;
    record::forget_status(tx, number, now).await?;
    let mut changes = Vec::new();
    if stored.status != ServiceStatus::Unknown {
        let unknown = ServiceStatus::Unknown.name();
        changes.push(change(number, "service", now, Some(stored.status.name()), Some(unknown)));
        tell_unknown(out, service, stored.status)?;
    }
    if stored.stale_since.is_none() {
        changes.push(change(number, "stale", now, Some("fresh"), Some("stale")));
    }
    write_changes(tx, &changes).await?;
    Ok(())
}

fn change(
    number: i64,
    kind: &'static str,
    at: Timestamp,
    before: Option<&str>,
    after: Option<&str>,
) -> ChangeRow {
    ChangeRow {
        at: at.as_millis(),
        kind,
        service_no: Some(number),
        dependency_no: None,
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
    }
}

impl std::fmt::Debug for Services {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Services")
    }
}
