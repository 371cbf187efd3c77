//! Which service a dependency is: one by one, many at once, or by name.

use std::collections::HashMap;

use mainstay_base::Id;
use mainstay_events::Outbox;
use mainstay_store::{StoreError, Tx};
use serde_json::json;

use super::error::AliasesError;
use super::handle::Aliases;
use super::record::links::{self, Linkable};
use crate::names::compared;
use crate::record::revisions;
use crate::services::tell::tell;

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

/// A dependency that is held, and the service that it is to be.
#[derive(Debug)]
pub(crate) struct LinkEdit {
    found: Linkable,
    to: Option<(i64, Id)>,
}

impl Aliases {
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
        let mut held = self.hold_links(tx, &[(dependency, service)]).await?;
        let edit = held.pop().ok_or(AliasesError::NoDependency)??;
        self.link_held(tx, out, std::slice::from_ref(&edit)).await?;
        let Linkable { name, service_name, .. } = edit.found;
        Ok(Linked { dependency_name: name, service_name })
    }

    /// Holds dependencies and the services that they are to be, and tells of each, in this order,
    /// what can be done or why not.
    pub(crate) async fn hold_links(
        &self,
        tx: &mut Tx,
        asked: &[(Id, Option<Id>)],
    ) -> Result<Vec<Result<LinkEdit, AliasesError>>, StoreError> {
        let texts = |ids: &mut dyn Iterator<Item = Id>| -> Vec<String> {
            ids.map(|id| id.to_string()).collect()
        };
        let to = texts(&mut asked.iter().filter_map(|(_, to)| *to));
        let services: HashMap<Id, i64> = links::hold(tx, &to).await?;
        let dependencies = texts(&mut asked.iter().map(|(dependency, _)| *dependency));
        let mut found = links::lock(tx, &dependencies).await?;
        let edits = asked.iter().map(|(dependency, to)| {
            let to = match to {
                Some(id) => Some((*services.get(id).ok_or(AliasesError::NoService)?, *id)),
                None => None,
            };
            let found = found.remove(dependency).ok_or(AliasesError::NoDependency)?;
            if to.is_some_and(|(number, _)| number == found.service_no) {
                return Err(AliasesError::SelfLink);
            }
            Ok(LinkEdit { found, to })
        });
        Ok(edits.collect())
    }

    /// Links what is held.
    pub(crate) async fn link_held(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        edits: &[LinkEdit],
    ) -> Result<(), AliasesError> {
        let changed: Vec<_> = edits
            .iter()
            .filter(|edit| edit.found.linked != edit.to)
            .map(|edit| (&edit.found, edit.to))
            .collect();
        if changed.is_empty() {
            return Ok(());
        }
        let now = tx.now().await?;
        links::link(tx, &changed, now).await?;
        for (found, _) in changed {
            tell(out, "service:updated", (found.service_id, &found.service_name), [])?;
        }
        Ok(())
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
        let number = links::hold(tx, &[service.to_string()])
            .await?
            .remove(&service)
            .ok_or(AliasesError::NoService)?;
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
}
