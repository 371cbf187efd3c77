//! Mail by SMTP: [`address`], [`message`] (what is sent, checked) → [`server`], [`config`] (where
//! to, and at what pace) → [`queue`] (the caller's side) → `owner` (the one task that sends) →
//! `transport` (one attempt, over `stream` and `tls`) → `failure` (what an attempt says) →
//! [`measure`].

pub mod address;
pub mod config;
pub mod error;
mod failure;
mod job;
pub mod measure;
pub mod message;
mod owner;
pub mod queue;
pub mod server;
mod stream;
mod tls;
mod transport;

pub use address::MailAddress;
pub use config::{MailConfig, Pace};
pub use error::{MailError, StartError};
pub use message::Mail;
pub use queue::Mailer;
pub use server::{MailServer, ServerError, TlsPolicy};
