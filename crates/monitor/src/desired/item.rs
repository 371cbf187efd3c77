//! Where in a document something stands.

use std::fmt;

use crate::formats::bounds::{MAX_EXCERPT_CHARS, clip};

/// A part of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// `services`
    Services,
    /// `aliases`
    Aliases,
    /// `links`
    Links,
}

/// One item of a document, or one that is stored and that no document names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The part that it belongs to.
    pub section: Section,
    /// Its place there, from 0.
    pub index: Option<usize>,
    /// Its name, as an error repeats it.
    name: String,
}

impl Section {
    /// The key of the part.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Services => "services",
            Self::Aliases => "aliases",
            Self::Links => "links",
        }
    }
}

impl Item {
    pub(super) fn new(section: Section, index: usize, name: &str) -> Self {
        Self { section, index: Some(index), name: clip(name, MAX_EXCERPT_CHARS) }
    }

    /// One that no document names.
    pub(super) fn stored(section: Section, name: &str) -> Self {
        Self { section, index: None, name: clip(name, MAX_EXCERPT_CHARS) }
    }

    /// The way to it in the document, such as `services[3]`.
    #[must_use]
    pub fn path(&self) -> String {
        let section = self.section.name();
        self.index.map_or_else(|| section.to_owned(), |index| format!("{section}[{index}]"))
    }
}

impl fmt::Display for Item {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {:?}", self.path(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_told_by_its_place_and_its_name() {
        let item = Item::new(Section::Services, 3, "Orders");
        assert_eq!(item.to_string(), "services[3] \"Orders\"");
        assert_eq!(item.path(), "services[3]");
        assert_eq!(Item::stored(Section::Aliases, "a\nb").to_string(), "aliases \"a\\nb\"");
        assert!(Item::new(Section::Links, 0, &"ä".repeat(10_000)).to_string().len() < 1_000);
    }
}
