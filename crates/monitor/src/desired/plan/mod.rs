//! What has to change so that there is what is wanted. Pure.

mod aliases;
mod headers;
mod links;
mod services;
#[cfg(test)]
mod tests;

use super::check::Wanted;
use super::current::Current;
use super::document::DesiredLink;
use super::error::DesiredError;
use super::item::{Item, Section};
use super::view::{Action, FieldChange, PlanView, PlannedChange, Tally};

pub(super) use aliases::AliasStep;
pub(super) use links::LinkStep;
pub(super) use services::ServiceStep;

/// The most changes that are applied at once: with their events they fit into one write, and nobody
/// else waits long for it.
pub const MAX_CHANGES: usize = 2_000;

/// What has to change.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    pub(super) services: Vec<ServiceStep>,
    pub(super) aliases: Vec<AliasStep>,
    pub(super) links: Vec<LinkStep>,
    waiting: Vec<DesiredLink>,
    unchanged: Tally,
}

impl Plan {
    /// Compares what there is with what is wanted. With `prune`, what the document does not name is
    /// removed, part by part: a part without items removes nothing.
    pub(super) fn new(
        current: &Current,
        wanted: &Wanted,
        prune: bool,
    ) -> Result<Self, DesiredError> {
        let mut plan = Self::default();
        services::plan(&mut plan, current, wanted, prune)?;
        aliases::plan(&mut plan, current, wanted, prune);
        links::plan(&mut plan, current, wanted, prune)?;
        let count = plan.count();
        if count > MAX_CHANGES { Err(DesiredError::TooManyChanges { count }) } else { Ok(plan) }
    }

    /// How many changes there are.
    #[must_use]
    pub fn count(&self) -> usize {
        [self.services.len(), self.aliases.len(), self.links.len()].iter().sum()
    }

    /// Whether everything is as it should be, as far as it can be now.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Every address that is asked anew, of which item it is.
    pub fn addresses(&self) -> impl Iterator<Item = (Item, &str)> {
        self.services.iter().filter_map(|step| Some((step.item(), step.address()?)))
    }

    /// As it is shown.
    #[must_use]
    pub fn view(&self) -> PlanView {
        let services = self.services.iter().map(ServiceStep::view);
        let aliases = self.aliases.iter().map(AliasStep::view);
        let links = self.links.iter().map(LinkStep::view);
        PlanView {
            changes: services.chain(aliases).chain(links).collect(),
            waiting: self.waiting.clone(),
            unchanged: self.unchanged,
        }
    }
}

fn change(action: Action, kind: &str, name: String, fields: Vec<FieldChange>) -> PlannedChange {
    PlannedChange { action, kind: kind.to_owned(), name, fields }
}

/// The item of the document, or the one that is stored and that it does not name.
fn item(section: Section, at: Option<usize>, name: &str) -> Item {
    at.map_or_else(|| Item::stored(section, name), |index| Item::new(section, index, name))
}
