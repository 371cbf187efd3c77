//! How names are compared.

/// A name as it is compared with others, in the tables as in the graph: trimmed, in lower case.
#[must_use]
pub fn compared(name: &str) -> String {
    mainstay_graph::change::compared(name).as_ref().to_owned()
}
