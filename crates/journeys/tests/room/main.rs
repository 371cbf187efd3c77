//! The room of kept journeys on both databases, with real runners against a payment service.
#![cfg(test)]

mod crowd;
mod edits;
mod house;
mod live;
mod runs;
mod schedules;
mod turns;
