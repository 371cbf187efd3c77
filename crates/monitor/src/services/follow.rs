//! What follows from an edit, beside the definition itself.

use mainstay_base::{Id, Timestamp};
use mainstay_events::Outbox;
use mainstay_store::Tx;

use super::definition::Definition;
use super::edit::Effects;
use super::error::ServicesError;
use super::record::{self, Kept, Stored};
use super::tell::{tell, tell_unknown};
use crate::record::histories::{ChangeRow, write_changes};
use crate::status::ServiceStatus;

/// Writes new services with what follows.
pub(super) async fn write_new(
    tx: &mut Tx,
    out: &mut Outbox,
    new: &[(Id, Kept<'_>)],
) -> Result<(), ServicesError> {
    let numbers = record::insert(tx, new).await?;
    let mut changes = Vec::with_capacity(new.len());
    for (id, kept) in new {
        let name = kept.definition.name.as_str();
        let number = numbers.get(id).copied().unwrap_or_default();
        changes.push(change(number, "added", kept.now, None, Some(name)));
        let started = kept.definition.is_active;
        let kind = if started { "service:started" } else { "service:updated" };
        tell(out, kind, (*id, name), [])?;
    }
    write_changes(tx, &changes).await?;
    Ok(())
}

/// What follows from changed definitions, collected and then written together.
#[derive(Debug)]
pub(super) struct Follow {
    now: Timestamp,
    changes: Vec<ChangeRow>,
    moved: Vec<i64>,
    /// Without a plan they are due as soon as they are polled again.
    without_plan: Vec<i64>,
    due: Vec<i64>,
    forgotten: Vec<i64>,
}

impl Follow {
    pub(super) const fn new(now: Timestamp) -> Self {
        Self {
            now,
            changes: Vec::new(),
            moved: Vec::new(),
            without_plan: Vec::new(),
            due: Vec::new(),
            forgotten: Vec::new(),
        }
    }

    /// Takes what follows for one service, and tells of it.
    pub(super) fn add(
        &mut self,
        out: &mut Outbox,
        stored: &Stored,
        after: &Definition,
        effects: Effects,
    ) -> Result<(), ServicesError> {
        let (number, service) = (stored.number, (stored.id, after.name.as_str()));
        if effects.renamed {
            let names = (Some(stored.name.as_str()), Some(after.name.as_str()));
            self.changes.push(change(number, "renamed", self.now, names.0, names.1));
        }
        if effects.moved {
            self.moved.push(number);
            if !stored.is_circuit_closed {
                tell(out, "circuit:close", service, [])?;
            }
        }
        if effects.activated || effects.deactivated {
            self.without_plan.push(number);
        } else if effects.polls_anew() && after.is_active {
            self.due.push(number);
        }
        if effects.deactivated {
            self.forget(out, stored, service)?;
        }
        let kind = match (effects.activated, effects.deactivated) {
            (true, _) => "service:started",
            (_, true) => "service:stopped",
            _ => "service:updated",
        };
        tell(out, kind, service, [])?;
        Ok(())
    }

    /// Writes what was taken.
    pub(super) async fn write(self, tx: &mut Tx) -> Result<(), ServicesError> {
        record::reset_guards(tx, &self.moved).await?;
        record::reschedule(tx, &self.without_plan, None).await?;
        record::reschedule(tx, &self.due, Some(self.now)).await?;
        record::forget_status(tx, &self.forgotten, self.now).await?;
        write_changes(tx, &self.changes).await?;
        Ok(())
    }

    /// Nobody looks any more, so nobody knows.
    fn forget(
        &mut self,
        out: &mut Outbox,
        stored: &Stored,
        service: (Id, &str),
    ) -> Result<(), ServicesError> {
        let number = stored.number;
        self.forgotten.push(number);
        if stored.status != ServiceStatus::Unknown {
            let names = (Some(stored.status.name()), Some(ServiceStatus::Unknown.name()));
            self.changes.push(change(number, "service", self.now, names.0, names.1));
            tell_unknown(out, service, stored.status)?;
        }
        if stored.stale_since.is_none() {
            self.changes.push(change(number, "stale", self.now, Some("fresh"), Some("stale")));
        }
        Ok(())
    }
}

/// A row that tells of a service.
pub(super) fn change(
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
