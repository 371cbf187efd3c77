//! Calls by HTTP: [`request`] (prepared once, sent often) → [`client`] (the whole way, in time) →
//! `target` (where to) → [`resolve`], `system` (which addresses) → `dial`, `tls`, `stream` (a
//! connection to what was judged) or `pool` (one that is kept) → `conversation` (question and answer)
//! → `body`, `redirect`, `retry_after` → [`answer`], [`error`] → [`measure`].
//!
//! Nothing here has a task of its own but the one that clears out the pool: a connection is driven by
//! whoever asks on it, and lies still in between. So a call that is dropped takes its connection with
//! it, and one that is kept costs little more than its socket.

pub mod answer;
mod body;
pub mod client;
mod conversation;
mod dial;
pub mod error;
pub mod measure;
pub mod options;
mod pool;
mod progress;
mod redirect;
pub mod request;
pub mod resolve;
mod retry_after;
mod stream;
mod system;
pub(crate) mod target;
mod tls;

pub use answer::WebAnswer;
pub use client::Web;
pub use error::{FetchError, FetchErrorKind, WebError};
pub use options::WebOptions;
pub use request::{RequestError, WebMethod, WebRequest, WebRequestBuilder};
pub use resolve::{Resolve, ResolveError, Resolving};
pub use system::SystemResolver;
pub use target::UrlError;
