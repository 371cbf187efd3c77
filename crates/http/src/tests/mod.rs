//! The surface as clients meet it: real sockets, through [`serve`](crate::serve).

mod access;
mod account;
mod admin;
mod assets;
mod bad_input;
mod bodies;
mod client;
mod deeds;
mod errors;
mod flood;
mod forms;
mod health;
mod house;
mod login;
mod observed;
mod openapi;
mod origin;
mod pages;
mod people;
mod protocols;
mod raw;
mod setup;
mod slow;
mod stop;
mod strangers;
mod walk;
