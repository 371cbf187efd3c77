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

/// What follows from a changed definition.
pub(super) async fn follow(
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
