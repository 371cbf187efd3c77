//! The loop with real time and no database, in a scripted world or against servers on loopback.
#![cfg(test)]

mod hostile;
mod loops;
mod shares;
mod stage;
