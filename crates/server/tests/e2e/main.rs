//! The real binary, as a person or a supervisor meets it: `process` and `client` are the tools, each
//! other file is a theme.
#![cfg(test)]
#![expect(
    clippy::disallowed_methods,
    reason = "a test of a process waits for it on the wall clock"
)]

mod accounts;
mod agent;
mod bad_input;
mod check;
mod client;
mod config_as_code;
mod crowd;
mod data;
mod demo;
mod exits;
mod fleet;
mod flood;
mod instances;
mod journeys;
mod locations;
mod logs;
mod mail;
mod metrics;
mod people;
mod place;
mod pooler;
mod process;
mod reports;
mod signals;
mod site;
mod streams;
mod watching;
mod work;
