//! The `mainstay` program: [`cli`] → [`config`] → [`telemetry`] → a command → [`exit`].

pub mod config;
