//! A stand-in for a payment service: authorisations are created at once and settle later, or not at
//! all, as it is told. [`ledger`] decides, [`server`] speaks HTTP on loopback.

pub mod ledger;
pub mod server;

pub use ledger::Settling;
pub use server::PaymentServer;
