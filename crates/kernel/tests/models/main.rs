//! Each guard against a model that is too simple to be wrong, over sequences of chance.
#![cfg(test)]

mod backoff;
mod due;
mod flight;
mod host_slots;
mod throttle;
