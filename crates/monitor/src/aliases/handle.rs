//! The handle to aliases and links.

use mainstay_base::{Id, IdSource, Timestamp};
use mainstay_events::{Event, Events, Outbox, Stream};
use mainstay_store::{Snapshot, StoreError, Tx};
use serde::Serialize;
use serde_json::{Map, json};
use utoipa::ToSchema;

use super::error::AliasesError;
use super::name::{AliasName, CanonicalName};
use super::record::{links, names, rewrite};
use crate::names::compared;
use crate::record::revisions;
use crate::services::tell::tell;

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

/// A dependency that was linked or unlinked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linked {
    /// Its name.
    pub dependency_name: String,
    /// The name of the service that leans on it.
    pub service_name: String,
}

/// Dependencies that were linked together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedAll {
    /// The canonical name that they go by, as it is compared.
    pub key: String,
    /// The name of the service that they are.
    pub service_name: String,
    /// How many they are.
    pub count: usize,
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
        self.create_held(tx, out, alias, canonical).await
    }

    /// As [`Aliases::create`], when the aliases and the services that report them are held.
    pub(crate) async fn create_held(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        alias: AliasName,
        canonical: CanonicalName,
    ) -> Result<Alias, AliasesError> {
        let now = tx.now().await?;
        let made = Alias {
            id: self.ids.next(),
            alias: alias.as_str().to_owned(),
            canonical_name: canonical.as_str().to_owned(),
            created_at: now,
            updated_at: now,
        };
        names::insert(tx, &made).await?;
        rewrite::rewrite(tx, &made.alias, &made.alias, &made.canonical_name, now).await?;
        announce(out, &made.alias, Some(&made.canonical_name))?;
        Ok(made)
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
        self.change_held(tx, out, before, alias, canonical).await
    }

    /// As [`Aliases::change`], when the aliases and the services that report them are held.
    pub(crate) async fn change_held(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        before: Alias,
        alias: Option<AliasName>,
        canonical: Option<CanonicalName>,
    ) -> Result<Alias, AliasesError> {
        let mut after = before.clone();
        if let Some(alias) = alias {
            alias.as_str().clone_into(&mut after.alias);
        }
        if let Some(canonical) = canonical {
            canonical.as_str().clone_into(&mut after.canonical_name);
        }
        if after == before {
            return Ok(after);
        }
        after.updated_at = tx.now().await?;
        names::update(tx, &after).await?;
        if before.alias != after.alias {
            give_back(tx, &before, after.updated_at).await?;
            announce(out, &before.alias, None)?;
        }
        let old = if before.alias == after.alias { &before.canonical_name } else { &after.alias };
        rewrite::rewrite(tx, &after.alias, old, &after.canonical_name, after.updated_at).await?;
        announce(out, &after.alias, Some(&after.canonical_name))?;
        Ok(after)
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
        let alias = self.locked(tx, id, None).await?;
        self.delete_held(tx, out, alias).await
    }

    /// As [`Aliases::delete`], when the aliases and the services that report them are held.
    pub(crate) async fn delete_held(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        alias: Alias,
    ) -> Result<Alias, AliasesError> {
        names::delete(tx, alias.id).await?;
        let now = tx.now().await?;
        give_back(tx, &alias, now).await?;
        announce(out, &alias.alias, None)?;
        Ok(alias)
    }

    /// Up to `limit` aliases before `before`, newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list(&self, before: Option<Id>, limit: u32) -> Result<Vec<Alias>, StoreError> {
        names::list(self.events.db(), before, limit.into()).await
    }

    /// Says which service a dependency is, or with `None` that it is none.
    ///
    /// # Errors
    /// [`AliasesError::NoDependency`], [`AliasesError::NoService`], [`AliasesError::SelfLink`], or
    /// when the database fails.
    pub async fn link(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        dependency: Id,
        service: Option<Id>,
    ) -> Result<Linked, AliasesError> {
        revisions::hold(tx).await?;
        let to = match service {
            Some(id) => Some((links::hold(tx, id).await?.ok_or(AliasesError::NoService)?, id)),
            None => None,
        };
        let found = links::lock(tx, dependency).await?.ok_or(AliasesError::NoDependency)?;
        if to.is_some_and(|(number, _)| number == found.service_no) {
            return Err(AliasesError::SelfLink);
        }
        if found.linked != to {
            let now = tx.now().await?;
            links::link(tx, &found, to, now).await?;
            tell(out, "service:updated", (found.service_id, &found.service_name), [])?;
        }
        Ok(Linked { dependency_name: found.name, service_name: found.service_name })
    }

    /// Says which service every dependency of a canonical name is, unless somebody has said so of it,
    /// and but for what the service reports itself.
    ///
    /// # Errors
    /// [`AliasesError::NoService`], [`AliasesError::NoneNamed`], or when the database fails.
    pub async fn link_named(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        name: &str,
        service: Id,
    ) -> Result<LinkedAll, AliasesError> {
        revisions::hold(tx).await?;
        let number = links::hold(tx, service).await?.ok_or(AliasesError::NoService)?;
        let service_name = links::name(tx, number).await?;
        let key = compared(name);
        let now = tx.now().await?;
        let count = links::link_key(tx, &key, (number, service), now).await?;
        if count == 0 {
            return Err(AliasesError::NoneNamed);
        }
        // One event, however many dependencies are linked.
        let fields = [("canonical_key", json!(key)), ("count", json!(count))];
        tell(out, "link:updated", (service, &service_name), fields)?;
        Ok(LinkedAll { key, service_name, count })
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

    /// The alias of this id, as the transaction sees it.
    pub(crate) async fn find_held(&self, tx: &mut Tx, id: Id) -> Result<Alias, AliasesError> {
        names::find(tx, id).await?.ok_or(AliasesError::NotFound)
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
        let found = self.find_held(tx, id).await?;
        let held: Vec<String> =
            new_name.map(str::to_owned).into_iter().chain([found.alias.clone()]).collect();
        rewrite::hold(tx, &held).await?;
        names::lock(tx).await?;
        Ok(found)
    }
}

/// Dependencies of an alias go by their own name.
async fn give_back(tx: &mut Tx, alias: &Alias, now: Timestamp) -> Result<(), StoreError> {
    rewrite::rewrite(tx, &alias.alias, &alias.canonical_name, &alias.alias, now).await
}

/// One event, however many dependencies go by another name.
fn announce(out: &mut Outbox, alias: &str, canonical: Option<&str>) -> Result<(), AliasesError> {
    let mut fields = Map::new();
    fields.insert("alias".to_owned(), json!(alias));
    fields.insert("canonical_name".to_owned(), json!(canonical));
    out.add(Stream::Org, Event::new("alias:updated", &fields)?)?;
    Ok(())
}
