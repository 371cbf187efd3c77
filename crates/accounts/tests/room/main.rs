//! The room on both databases: every rule of accounts that a caller can see.
#![cfg(test)]

mod access_requests;
mod admin;
mod alive;
mod clean_up;
mod endings;
mod entry;
mod house;
mod invites;
mod late;
mod limits;
mod notices;
mod own_account;
mod sessions;
mod setup;
mod sign_in;
