//! What people want to be watched, said as a whole: configuration as code.
//!
//! A [`Document`] is checked and becomes what is [`Wanted`] → `current` is what there is, read by
//! `record` (all SQL) → [`Plan`] is what has to change (pure) → [`Desired`] does it in one transaction,
//! by the handles of services and aliases.

mod check;
mod current;
mod document;
mod error;
mod handle;
mod headers;
mod item;
mod plan;
mod record;
mod view;

pub use check::{MAX_ITEMS, Wanted};
pub use document::{
    DesiredAlias, DesiredLink, DesiredService, Document, MAX_DOCUMENT_BYTES, VERSION,
};
pub use error::{DesiredError, Refusal};
pub use handle::Desired;
pub use headers::{HeaderText, read_headers};
pub use item::{Item, Section};
pub use plan::{MAX_CHANGES, Plan};
pub use view::{Action, Applied, FieldChange, PlanView, PlannedChange, Tally};
