//! Everything that leaves Mainstay, guarded and bounded: [`mail`], by SMTP.
//!
//! Mail waits in the memory of its process for now, so that what a killed process had not sent is
//! lost; it moves onto the durable job queue when that exists.

pub mod mail;

pub use mail::{Mail, MailConfig, MailError, MailServer, Mailer};
