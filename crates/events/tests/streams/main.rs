//! The streams on both databases.

mod house;
mod writing;
