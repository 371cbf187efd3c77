//! Everything that leaves Mainstay, guarded and bounded: [`guard`] (may this address be called) →
//! [`web`], by HTTP, [`mail`], by SMTP, and [`blobs`], to a folder or an object storage.
//!
//! Nothing waits here: each call is one try, and whoever makes it keeps what is to be tried again.

mod authority;
pub mod blobs;
pub mod guard;
pub mod mail;
pub mod pace;
pub mod web;

pub use blobs::{
    BlobEntry, BlobError, BlobErrorKind, BlobKey, BlobKeyError, BlobOptions, BlobPlace, BlobUpload,
    Blobs, BlobsError, S3Settings,
};
pub use guard::{AllowList, Blocked, OwnDoor, Policy};
pub use mail::{Mail, MailConfig, MailError, MailServer, Mailer, SendError};
pub use web::{FetchError, FetchErrorKind, Web, WebAnswer, WebError, WebOptions, WebRequest};
