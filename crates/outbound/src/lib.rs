//! Everything that leaves Mainstay, guarded and bounded: [`mail`], by SMTP.
//!
//! Nothing waits here: each call is one try, and whoever makes it keeps what is to be tried again.

pub mod mail;

pub use mail::{Mail, MailConfig, MailError, MailServer, Mailer, SendError};
