//! What handlers take from a request: [`Path`], [`Query`], [`ListQuery`], [`Json`] and [`JsonOrForm`],
//! with [`SecretText`] inside them; who is calling, where from, and where
//! the site is.
//! Each refuses what it cannot read with an [`Error`](crate::Error) that says what was expected.

mod body;
mod caller;
mod disposition;
mod form;
mod if_match;
mod json;
mod list;
mod media;
mod multipart;
mod pace;
mod path;
mod query;
mod secret;
mod site;
mod source;
mod words;

pub(crate) use caller::{OldSession, SignedIn};
pub use form::JsonOrForm;
pub(crate) use if_match::IfMatch;
pub use json::Json;
pub(crate) use json::{LargeJson, NoBody};
pub(crate) use list::page_ask;
pub use list::{Cursor, Limit, ListQuery, Page};
pub use media::Media;
pub(crate) use multipart::{Multipart, Part, invalid as invalid_multipart};
pub use path::Path;
pub use query::Query;
pub use secret::SecretText;
pub(crate) use site::SiteAddress;
pub(crate) use source::CameFrom;
