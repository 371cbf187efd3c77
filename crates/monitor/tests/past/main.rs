//! How everything was, on both databases.
#![cfg(test)]

mod frames;
mod house;
mod late;
mod naive;
mod random;
mod spans;
mod then;
mod working;
