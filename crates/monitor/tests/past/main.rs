//! How everything was, on both databases.
#![cfg(test)]

mod clocks;
mod frames;
mod house;
mod late;
mod naive;
mod nodes;
mod random;
mod scrubber;
mod spans;
mod telling;
mod then;
mod working;
