//! What handlers take from a request: [`Path`], [`Query`] and [`Json`]. Each refuses what it cannot
//! read with an [`Error`](crate::Error) that says what was expected.

mod body;
mod json;
mod path;
mod query;

pub use json::Json;
pub use path::Path;
pub use query::Query;
