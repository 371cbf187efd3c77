//! A stand-in for the provider of a language model: it speaks the OpenAI Responses API on loopback and
//! does as it is told, question by question. What a good model writes is told to it too: [`behaviour`] →
//! [`server`].

pub mod behaviour;
pub mod server;

pub use behaviour::Behaviour;
pub use server::{Asked, LlmServer};
