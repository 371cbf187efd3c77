//! The surface as clients meet it: real sockets, through [`serve`](crate::serve).

mod assets;
mod bad_input;
mod client;
mod errors;
mod flood;
mod forms;
mod health;
mod house;
mod observed;
mod openapi;
mod origin;
mod protocols;
mod raw;
mod slow;
mod stop;
