//! The HTTP surface, in the order in which a request meets it:
//! `serve` (accepts) → `tls` → `protocol` → `connection` with `guarded` (its clocks) → `entry` with
//! `client` (whose request it is) → `router` → `observe` (one layer: `gate` with `flood`, `host`,
//! `origin` and `credential`; `request_id`, `flight`, `headers`) → `authenticate` with `access` (who may
//! call which route) and `cookie` → [`extract`] → `routes` with `probe`, `next` and `sse` (live streams) →
//! `error` with `error_of_accounts`, `error_of_fleet`, `error_of_jobs`,
//! `error_of_journeys`, `error_of_monitor` and `error_of_reports` on the way out. Every bound
//! stands in [`limits`], every metric in [`measure`], every error code in `code`; `surface` is what it
//! is all given.
//!
//! Only this crate names axum. It knows no SQL and no environment: `server` hands it a [`Surface`].

mod access;
mod authenticate;
mod client;
mod code;
mod connection;
mod cookie;
mod credential;
mod entry;
mod error;
mod error_of_accounts;
mod error_of_fleet;
mod error_of_jobs;
mod error_of_journeys;
mod error_of_monitor;
mod error_of_reports;
pub mod extract;
mod flight;
mod flood;
mod gate;
mod guarded;
mod headers;
mod host;
pub mod limits;
pub mod measure;
mod next;
mod observe;
mod openapi;
mod origin;
mod probe;
mod protocol;
mod request_id;
mod router;
mod routes;
mod serve;
mod settings;
mod sse;
mod surface;
mod tls;

#[cfg(test)]
mod tests;

pub use code::Code;
pub use cookie::CookieName;
pub use error::{Error, ErrorBody};
pub use headers::CONTENT_SECURITY_POLICY;
pub use limits::Limits;
pub use openapi::openapi;
pub use router::{Service, agent, service, vitals};
pub use serve::{Drained, serve};
pub use settings::{SettingSource, SettingView};
pub use sse::{Live, Proofs};
pub use surface::{
    Asset, Assets, BuildInfo, CheckStatus, DatabaseKind, Monitor, Probe, Site, Surface,
    SystemCheck, SystemDatabase, Vitals,
};
pub use tls::{Tls, TlsError};
