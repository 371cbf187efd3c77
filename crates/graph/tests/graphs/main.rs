//! The graph against rules in tables, and against references that are too simple to be wrong.
#![cfg(test)]

mod around;
mod causes;
mod changes;
mod drawings;
mod house;
mod property;
mod reference;
mod sizes;
mod suggestions;
