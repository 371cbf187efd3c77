//! Whole runs against the payment service that stands in, with real sockets and real time.
#![cfg(test)]

mod ends;
mod polls;
mod secrets;
mod settling;
mod steps;
mod travel;
