//! What handlers take from a request: [`Path`], [`Query`], [`ListQuery`], [`Json`] and [`JsonOrForm`].
//! Each refuses what it cannot read with an [`Error`](crate::Error) that says what was expected.

mod body;
mod form;
mod json;
mod list;
mod media;
mod path;
mod query;

pub use form::JsonOrForm;
pub use json::Json;
pub use list::{Cursor, Limit, ListQuery, Page};
pub use media::Media;
pub use path::Path;
pub use query::Query;
