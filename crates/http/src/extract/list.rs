//! Lists, a page at a time.

use mainstay_accounts::{PageAsk, Part};
use mainstay_base::BadPlace;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::code::Code;
use crate::error::Error;
use crate::limits::{DEFAULT_PAGE_ITEMS, MAX_CURSOR_CHARS, MAX_PAGE_ITEMS};

/// How many items of a list are wanted, and after which: the query of a list without filters. One
/// with filters holds the same two fields.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// How many items at most.
    #[serde(default)]
    #[param(value_type = u16, required = false, minimum = 1, maximum = 200, default = 50)]
    pub limit: Limit,
    /// Where the page begins: `next_cursor` of the page before it.
    #[param(value_type = Option<String>)]
    pub cursor: Option<Cursor>,
}

/// How many items a page has at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u16")]
pub struct Limit(u16);

/// Where a page begins, in words that only the list itself understands.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Cursor(String);

/// One page of a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// Where the next page begins; `null` on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// A number of items that no page has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no limit; give 1 to {MAX_PAGE_ITEMS}")]
pub struct LimitError(u16);

/// A text that no list gave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no cursor; give next_cursor of the page before, or none for the first page")]
pub struct CursorError;

impl From<BadPlace> for Error {
    fn from(error: BadPlace) -> Self {
        Self::new(Code::InvalidQuery, format!("The query is not as expected: {error}."))
    }
}

impl Limit {
    /// The number of items.
    #[must_use]
    pub fn items(self) -> usize {
        usize::from(self.0)
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(DEFAULT_PAGE_ITEMS)
    }
}

impl TryFrom<u16> for Limit {
    type Error = LimitError;

    fn try_from(items: u16) -> Result<Self, LimitError> {
        if (1..=MAX_PAGE_ITEMS).contains(&items) { Ok(Self(items)) } else { Err(LimitError(items)) }
    }
}

/// What a list of things with ids is asked for.
pub(crate) fn page_ask(limit: Limit, cursor: Option<&Cursor>) -> Result<PageAsk, Error> {
    let after = cursor.map(|cursor| cursor.0.parse()).transpose();
    let after = after.map_err(|_| {
        Error::new(Code::InvalidQuery, format!("The query is not as expected: {CursorError}."))
    })?;
    Ok(PageAsk { after, limit: limit.0.into() })
}

impl<T> From<Part<T>> for Page<T> {
    fn from(part: Part<T>) -> Self {
        Self { items: part.items, next_cursor: part.next.map(|id| id.to_string()) }
    }
}

impl Cursor {
    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Cursor {
    type Error = CursorError;

    fn try_from(text: String) -> Result<Self, CursorError> {
        let fits = (1..=MAX_CURSOR_CHARS).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text))
        } else {
            Err(CursorError)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Result<(usize, Option<String>), String> {
        let query: ListQuery =
            serde_urlencoded::from_str(query).map_err(|error| error.to_string())?;
        Ok((query.limit.items(), query.cursor.map(|cursor| cursor.0)))
    }

    #[test]
    fn a_page_has_fifty_items_unless_another_number_is_asked_for() {
        for (query, limit, cursor) in [
            ("", 50, None),
            ("limit=1", 1, None),
            ("limit=200", 200, None),
            ("cursor=abc", 50, Some("abc")),
            ("cursor=a%2Bb%3D&limit=7", 7, Some("a+b=")),
        ] {
            assert_eq!(read(query), Ok((limit, cursor.map(str::to_owned))), "{query}");
        }
    }

    #[test]
    fn what_is_no_page_is_refused() {
        let long = format!("cursor={}", "x".repeat(MAX_CURSOR_CHARS + 1));
        for (query, word) in [
            ("limit=0", "0 is no limit; give 1 to 200"),
            ("limit=201", "give 1 to 200"),
            ("limit=-1", "invalid digit"),
            ("limit=", "empty"),
            ("limit=x", "invalid digit"),
            ("limit=1&limit=2", "duplicate field"),
            ("cursor=", "no cursor"),
            ("cursor=a%20b", "no cursor"),
            ("cursor=a%00", "no cursor"),
            ("cursor=%C3%A4", "no cursor"),
            (&long, "no cursor"),
            ("offset=1", "unknown field `offset`"),
        ] {
            let told = read(query).unwrap_err();
            assert!(told.contains(word), "{query}: {told}");
        }
    }

    #[test]
    fn the_last_page_says_so() {
        let page = Page { items: vec![1, 2], next_cursor: None };
        assert_eq!(serde_json::to_string(&page).unwrap(), r#"{"items":[1,2],"next_cursor":null}"#);
    }
}
