//! The handle to aliases and links.

use mainstay_base::{Id, IdSource, Timestamp};
use mainstay_events::{Event, Events, Outbox, Stream};
use mainstay_store::{Snapshot, StoreError, Tx};
use serde::Serialize;
use serde_json::{Map, json};
use utoipa::ToSchema;

use super::edit::{AliasEdit, Pair, Rename};
use super::error::AliasesError;
use super::name::{AliasName, CanonicalName};
use super::record::{names, rewrite};
use crate::record::revisions;

/// The most aliases there may be.
pub const MAX_ALIASES: usize = 10_000;

/// The aliases and links. A clone is the same handle.
#[derive(Debug, Clone)]
pub struct Aliases {
    events: Events,
    ids: IdSource,
}

/// A reported name, and the one that it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Alias {
    /// Its id.
    #[schema(value_type = String)]
    pub id: Id,
    /// The name, exactly as services report it.
    #[schema(example = "orders-db")]
    pub alias: String,
    /// The name that it stands for.
    #[schema(example = "Orders database")]
    pub canonical_name: String,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl Aliases {
    /// The aliases in the database of `events`.
    #[must_use]
    pub const fn new(events: Events, ids: IdSource) -> Self {
        Self { events, ids }
    }

    /// Maps a reported name to another one, for dependencies that are known and those to come.
    ///
    /// # Errors
    /// [`AliasesError::Taken`], [`AliasesError::TooMany`], or when the database fails.
    pub async fn create(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        alias: AliasName,
        canonical: CanonicalName,
    ) -> Result<Alias, AliasesError> {
        revisions::hold(tx).await?;
        rewrite::hold(tx, &[alias.as_str().to_owned()]).await?;
        self.hold(tx, 1).await?;
        self.edit_one(tx, out, AliasEdit::Add(alias, canonical)).await
    }

    /// Changes an alias; what is `None` stays.
    ///
    /// # Errors
    /// [`AliasesError::NotFound`], [`AliasesError::Taken`], or when the database fails.
    pub async fn change(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        id: Id,
        alias: Option<AliasName>,
        canonical: Option<CanonicalName>,
    ) -> Result<Alias, AliasesError> {
        let new_name = alias.as_ref().map(AliasName::as_str);
        let before = self.locked(tx, id, new_name).await?;
        self.edit_one(tx, out, AliasEdit::Change(before, alias, canonical)).await
    }

    /// Deletes an alias: its dependencies go by their own name again.
    ///
    /// # Errors
    /// [`AliasesError::NotFound`], or when the database fails.
    pub async fn delete(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        id: Id,
    ) -> Result<Alias, AliasesError> {
        let before = self.locked(tx, id, None).await?;
        self.edit_one(tx, out, AliasEdit::Remove(before)).await
    }

    /// Edits aliases, each of another name, when they and the services that report them are held.
    /// Tells each as it is now, or as it was.
    pub(crate) async fn edit_held(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        edits: Vec<AliasEdit>,
    ) -> Result<Vec<Alias>, AliasesError> {
        let now = tx.now().await?;
        let pairs: Vec<Pair> =
            edits.into_iter().map(|edit| edit.pair(|| self.ids.next(), now)).collect();
        let changed: Vec<&Pair> = pairs.iter().filter(|pair| pair.is_change()).collect();
        names::write(tx, &changed).await?;
        let renames: Vec<Rename> = changed.iter().flat_map(|pair| pair.renames()).collect();
        rewrite::rewrite(tx, &renames, now).await?;
        for (alias, canonical) in changed.iter().flat_map(|pair| pair.news()) {
            announce(out, alias, canonical)?;
        }
        Ok(pairs.into_iter().filter_map(Pair::shown).collect())
    }

    async fn edit_one(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        edit: AliasEdit,
    ) -> Result<Alias, AliasesError> {
        let mut edited = self.edit_held(tx, out, vec![edit]).await?;
        // Each that goes in comes out.
        edited.pop().ok_or(AliasesError::NotFound)
    }

    /// Up to `limit` aliases before `before`, newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list(&self, before: Option<Id>, limit: u32) -> Result<Vec<Alias>, StoreError> {
        names::list(self.events.db(), before, limit.into()).await
    }

    /// Waits until nobody else changes aliases nor records by them, and lets nobody begin. Whoever also
    /// holds services holds them before. `new` aliases are to come.
    ///
    /// # Errors
    /// [`AliasesError::TooMany`], or when the database fails.
    pub(crate) async fn hold(&self, tx: &mut Tx, new: usize) -> Result<(), AliasesError> {
        names::lock(tx).await?;
        let count = usize::try_from(names::count(tx).await?).unwrap_or(usize::MAX);
        if new > 0 && count.saturating_add(new) > MAX_ALIASES {
            return Err(AliasesError::TooMany);
        }
        Ok(())
    }

    /// Up to `limit` aliases in the order of their names.
    pub(crate) async fn all(
        &self,
        snapshot: &mut Snapshot,
        limit: i64,
    ) -> Result<Vec<Alias>, StoreError> {
        names::all(snapshot, limit).await
    }

    /// An alias that nobody else changes, nor records by; `new_name` is what it will be an alias of.
    async fn locked(
        &self,
        tx: &mut Tx,
        id: Id,
        new_name: Option<&str>,
    ) -> Result<Alias, AliasesError> {
        revisions::hold(tx).await?;
        let found = names::find(tx, id).await?.ok_or(AliasesError::NotFound)?;
        let held: Vec<String> =
            new_name.map(str::to_owned).into_iter().chain([found.alias.clone()]).collect();
        rewrite::hold(tx, &held).await?;
        names::lock(tx).await?;
        Ok(found)
    }
}

/// One event, however many dependencies go by another name.
fn announce(out: &mut Outbox, alias: &str, canonical: Option<&str>) -> Result<(), AliasesError> {
    let mut fields = Map::new();
    fields.insert("alias".to_owned(), json!(alias));
    fields.insert("canonical_name".to_owned(), json!(canonical));
    out.add(Stream::Org, Event::new("alias:updated", &fields)?)?;
    Ok(())
}
