//! What handlers take from a request: [`Path`], [`Query`], [`ListQuery`], [`Json`] and [`JsonOrForm`],
//! with [`SecretText`] inside them; who is calling and where from.
//! Each refuses what it cannot read with an [`Error`](crate::Error) that says what was expected.

mod body;
mod caller;
mod form;
mod json;
mod list;
mod media;
mod path;
mod query;
mod secret;
mod source;

pub(crate) use caller::{OldSession, SignedIn};
pub use form::JsonOrForm;
pub use json::Json;
pub use list::{Cursor, Limit, ListQuery, Page};
pub use media::Media;
pub use path::Path;
pub use query::Query;
pub use secret::SecretText;
pub(crate) use source::CameFrom;
