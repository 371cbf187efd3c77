//! The rules, pure: whether an operation may [`begin`], what becomes of a worker and its nets when it
//! [`end`]s, what a [`look`] at a worker means, what its provider has [`said`] of its machine,
//! what a page of findings does ([`gather`]) and how it is [`shown`], when a machine that nobody has is looked for no more ([`orders`]),
//! and when the health loop should [`brake`] and doubt itself.
//!
//! Each takes a crew as it stands and gives it as it will stand; `record` writes the difference, with an
//! event for each.

pub mod begin;
pub mod brake;
pub mod end;
#[cfg(test)]
pub(crate) mod fixture;
pub mod gather;
pub mod look;
pub mod orders;
pub mod said;
pub mod shown;

pub use begin::Refusal;
pub use brake::Brake;
pub use end::{NetEnd, WorkerEnd};
pub use look::{Look, Reconciled};

use mainstay_base::Timestamp;

use crate::model::{Crew, Failure, WorkerStatus};

/// The worker leaves where it was for `status`, and each of its nets drops off, but for `but`, which found
/// the failure.
fn lose(
    crew: &mut Crew,
    (status, reason): (WorkerStatus, Option<String>),
    failure: &Failure,
    now: Timestamp,
    but: Option<mainstay_base::Id>,
) {
    crew.worker.becomes(status, reason, now);
    if status == WorkerStatus::Error {
        // What its provider said of it is of before.
        crew.worker.provider_state = None;
    }
    for net in crew.nets.iter_mut().filter(|net| Some(net.id) != but) {
        net.drops_off(failure, now);
    }
}
