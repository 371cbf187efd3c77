//! Everything that leaves Mainstay, guarded and bounded: [`guard`] (may this address be called) →
//! [`web`], by HTTP, and [`mail`], by SMTP.
//!
//! Nothing waits here: each call is one try, and whoever makes it keeps what is to be tried again.

mod authority;
pub mod guard;
pub mod mail;
pub mod web;

pub use guard::{AllowList, Blocked, OwnDoor, Policy};
pub use mail::{Mail, MailConfig, MailError, MailServer, Mailer, SendError};
pub use web::{FetchError, FetchErrorKind, Web, WebAnswer, WebError, WebOptions, WebRequest};
