//! Mail by SMTP: [`address`], [`message`] (what is sent, checked) → [`server`], [`config`] (where
//! to) → [`mailer`] (one try, or none while the server is left alone) → `transport` (one
//! conversation, over `stream` and `tls`) → [`failure`] (what a try says), [`error`] (what becomes
//! of the mail) → [`measure`].

pub mod address;
pub mod config;
pub mod error;
pub mod failure;
pub mod mailer;
pub mod measure;
pub mod message;
pub mod server;
mod stream;
mod tls;
mod transport;

pub use address::MailAddress;
pub use config::{MailConfig, Pace};
pub use error::{MailError, SendError, StartError};
pub use failure::Failure;
pub use mailer::Mailer;
pub use message::Mail;
pub use server::{MailServer, ServerError, TlsPolicy};
