#![cfg(test)]
//! A circuit breaker in front of a poll.
