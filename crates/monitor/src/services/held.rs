//! Services as they stand, with their headers opened: what a plan compares.

use mainstay_base::Id;

use super::definition::Draft;

/// A service as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) id: Id,
    /// Its definition, with its headers unless they can't be opened.
    pub(crate) draft: Draft,
    /// The names of headers that were sealed under another secret.
    pub(crate) sealed: Option<Vec<String>>,
}

impl Held {
    /// The names of its headers.
    pub(crate) fn header_names(&self) -> impl Iterator<Item = &str> {
        let open = self.draft.headers.iter().map(|(name, _)| name.as_str());
        open.chain(self.sealed.iter().flatten().map(String::as_str))
    }
}
