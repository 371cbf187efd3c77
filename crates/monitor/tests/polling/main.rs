//! The loop with real time, a scripted world and no database.
#![cfg(test)]

mod loops;
mod stage;
