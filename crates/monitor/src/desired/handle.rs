//! The handle to what is wanted: read it, plan it, do it.

use std::collections::{HashMap, HashSet};

use mainstay_base::Id;
use mainstay_events::Outbox;
use mainstay_store::{Snapshot, Tx};

use super::check::{MAX_ITEMS, Wanted};
use super::current::Current;
use super::document::Document;
use super::error::DesiredError;
use super::item::Section;
use super::plan::{AliasStep, LinkStep, Plan, ServiceStep};
use super::record::{self, Asked, Touched};
use crate::aliases::Aliases;
use crate::services::{Definition, Patch, Services};

/// What is wanted, as a whole. A clone is the same handle.
#[derive(Debug, Clone)]
pub struct Desired {
    services: Services,
    aliases: Aliases,
}

impl Desired {
    /// What is wanted of these services and aliases.
    #[must_use]
    pub const fn new(services: Services, aliases: Aliases) -> Self {
        Self { services, aliases }
    }

    /// The document that says what there is. Headers stand in it by their names alone.
    ///
    /// # Errors
    /// [`DesiredError::TooManyItems`], or when the database fails.
    pub async fn export(&self) -> Result<Document, DesiredError> {
        let snapshot = self.services.db().snapshot(async |snapshot| {
            let current = self.current(snapshot, &Wanted::default()).await?;
            Ok::<_, DesiredError>(current.document())
        });
        snapshot.await
    }

    /// What would have to change now.
    ///
    /// # Errors
    /// [`DesiredError`] when the document can't be applied to what there is.
    pub async fn look(&self, wanted: &Wanted, prune: bool) -> Result<Plan, DesiredError> {
        let snapshot = self.services.db().snapshot(async |snapshot| {
            let current = self.current(snapshot, wanted).await?;
            Plan::new(&current, wanted, prune)
        });
        snapshot.await
    }

    /// Changes what has to change, all of it or nothing: an error must end the transaction. Only
    /// addresses that were `judged` are taken over. What is told is what was done.
    ///
    /// # Errors
    /// [`DesiredError`] with the item that could not be applied.
    pub async fn apply(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        wanted: &Wanted,
        prune: bool,
        judged: &HashSet<String>,
    ) -> Result<Plan, DesiredError> {
        self.services.hold(tx).await?;
        let current = self.current(tx, wanted).await?;
        let plan = Plan::new(&current, wanted, prune)?;
        if let Some((item, _)) = plan.addresses().find(|(_, url)| !judged.contains(*url)) {
            return Err(DesiredError::changed(item));
        }
        hold(tx, &plan).await?;
        let made = self.apply_services(tx, out, &plan.services).await?;
        self.apply_aliases(tx, out, &plan.aliases).await?;
        self.apply_links(tx, out, &plan.links, &made).await?;
        Ok(plan)
    }

    async fn current(
        &self,
        snapshot: &mut Snapshot,
        wanted: &Wanted,
    ) -> Result<Current, DesiredError> {
        // One more than there may be tells that there are too many.
        let limit = i64::try_from(MAX_ITEMS).unwrap_or(i64::MAX).saturating_add(1);
        let links = wanted.links.iter();
        let asked: Vec<_> =
            links.map(|link| Asked { service: &link.service, name: &link.dependency }).collect();
        let current = Current {
            services: self.services.all(snapshot, limit).await?,
            aliases: self.aliases.all(snapshot, limit).await?,
            dependencies: record::linkable(snapshot, &asked, limit).await?,
        };
        for (section, count) in [
            (Section::Services, current.services.len()),
            (Section::Aliases, current.aliases.len()),
            (Section::Links, current.dependencies.len()),
        ] {
            if count > MAX_ITEMS {
                return Err(DesiredError::TooManyItems(section));
            }
        }
        Ok(current)
    }

    /// Removes first, so that there is room; tells the ids of the new ones by their names.
    async fn apply_services(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        steps: &[ServiceStep],
    ) -> Result<HashMap<String, Id>, DesiredError> {
        let mut removed: HashMap<Id, &ServiceStep> = HashMap::new();
        let mut changed: HashMap<Id, (&ServiceStep, &Patch)> = HashMap::new();
        let mut added: Vec<(&ServiceStep, &Definition)> = Vec::new();
        for step in steps {
            match step {
                ServiceStep::Remove { id, .. } => drop(removed.insert(*id, step)),
                ServiceStep::Change { id, patch, .. } => {
                    changed.insert(*id, (step, &**patch));
                }
                ServiceStep::Add { definition, .. } => added.push((step, definition)),
            }
        }
        self.remove_services(tx, out, removed).await?;
        self.change_services(tx, out, changed).await?;
        self.add_services(tx, out, &added).await
    }

    async fn remove_services(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        mut removed: HashMap<Id, &ServiceStep>,
    ) -> Result<(), DesiredError> {
        let Some(first) = removed.values().next().map(|step| step.item()) else { return Ok(()) };
        let ids: Vec<Id> = removed.keys().copied().collect();
        let removing = self.services.delete_all(tx, out, &ids).await;
        for gone in removing.map_err(|error| DesiredError::of_service(error, first))? {
            removed.remove(&gone.id);
        }
        match removed.into_values().next() {
            Some(step) => Err(DesiredError::changed(step.item())),
            None => Ok(()),
        }
    }

    async fn change_services(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        mut changed: HashMap<Id, (&ServiceStep, &Patch)>,
    ) -> Result<(), DesiredError> {
        let Some(first) = changed.values().next().map(|(step, _)| step.item()) else {
            return Ok(());
        };
        let ids: Vec<String> = changed.keys().map(ToString::to_string).collect();
        let mut revised = Vec::with_capacity(ids.len());
        for stored in self.services.lock_all(tx, &ids).await? {
            let Some((step, patch)) = changed.remove(&stored.id) else { continue };
            let revising = self.services.revise(stored, patch.clone());
            revised.push(revising.map_err(|error| DesiredError::of_service(error, step.item()))?);
        }
        if let Some((step, _)) = changed.into_values().next() {
            return Err(DesiredError::changed(step.item()));
        }
        let changing = self.services.update_all(tx, out, &revised).await;
        changing.map_err(|error| DesiredError::of_service(error, first))
    }

    async fn add_services(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        added: &[(&ServiceStep, &Definition)],
    ) -> Result<HashMap<String, Id>, DesiredError> {
        let Some((first, _)) = added.first() else { return Ok(HashMap::new()) };
        let definitions: Vec<&Definition> =
            added.iter().map(|(_, definition)| *definition).collect();
        let adding = self.services.create_all(tx, out, &definitions).await;
        let made = adding.map_err(|error| DesiredError::of_service(error, first.item()))?;
        let keys = definitions.iter().map(|definition| definition.name_key());
        Ok(keys.zip(made).map(|(key, made)| (key, made.id)).collect())
    }

    async fn apply_aliases(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        steps: &[AliasStep],
    ) -> Result<(), DesiredError> {
        let Some(first) = steps.first() else { return Ok(()) };
        let new = steps.iter().filter(|step| matches!(step, AliasStep::Add { .. })).count();
        let holding = self.aliases.hold(tx, new).await;
        holding.map_err(|error| DesiredError::of_alias(error, first.item()))?;
        let edits = steps.iter().map(AliasStep::edit).collect();
        let editing = self.aliases.edit_held(tx, out, edits).await;
        editing.map(drop).map_err(|error| DesiredError::of_alias(error, first.item()))
    }

    async fn apply_links(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        steps: &[LinkStep],
        made: &HashMap<String, Id>,
    ) -> Result<(), DesiredError> {
        let Some(first) = steps.first() else { return Ok(()) };
        let mut asked = Vec::with_capacity(steps.len());
        for step in steps {
            let to = match &step.to {
                Some(target) => {
                    let id = target.id.or_else(|| made.get(&target.key).copied());
                    Some(id.ok_or_else(|| DesiredError::changed(step.item()))?)
                }
                None => None,
            };
            asked.push((step.dependency, to));
        }
        let mut edits = Vec::with_capacity(steps.len());
        for (step, held) in steps.iter().zip(self.aliases.hold_links(tx, &asked).await?) {
            edits.push(held.map_err(|error| DesiredError::of_alias(error, step.item()))?);
        }
        let linking = self.aliases.link_held(tx, out, &edits).await;
        linking.map_err(|error| DesiredError::of_alias(error, first.item()))
    }
}

/// Holds every service that the plan writes, or that reports what it renames, links or unlinks.
async fn hold(tx: &mut Tx, plan: &Plan) -> Result<(), DesiredError> {
    let mut touched = Touched::default();
    for step in &plan.services {
        match step {
            ServiceStep::Change { id, .. } => touched.services.push(id.to_string()),
            ServiceStep::Remove { id, .. } => {
                touched.services.push(id.to_string());
                touched.removed.push(id.to_string());
            }
            ServiceStep::Add { .. } => {}
        }
    }
    let linked = plan.links.iter().filter_map(|step| step.to.as_ref()?.id);
    touched.services.extend(linked.map(|id| id.to_string()));
    touched.dependencies = plan.links.iter().map(|step| step.dependency.to_string()).collect();
    touched.names = plan.aliases.iter().map(|step| step.alias().to_owned()).collect();
    if plan.is_empty() {
        return Ok(());
    }
    Ok(record::hold(tx, &touched).await?)
}
