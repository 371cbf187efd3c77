//! Which services are listed, and in which order.

use std::str::FromStr;

use serde::Deserialize;
use utoipa::ToSchema;

use crate::status::ServiceStatus;

/// The most items of one page.
pub const MAX_PAGE: u32 = 200;
/// The longest text to search for, in characters.
pub const MAX_SEARCH_CHARS: usize = 100;

/// Which services are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServiceFilter {
    /// Only those whose name, team or endpoint holds this, in any case.
    pub search: Option<String>,
    /// Only those that are so.
    pub status: Option<ServiceStatus>,
    /// Only those of this team, in any case.
    pub team: Option<String>,
}

/// The order of a list. Equal ones come by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, ToSchema)]
pub enum Sort {
    /// By name.
    #[default]
    #[serde(rename = "name")]
    Name,
    /// By name, backwards.
    #[serde(rename = "-name")]
    NameDown,
    /// The worst first: down, degraded, unknown, healthy.
    #[serde(rename = "status")]
    Status,
    /// The best first.
    #[serde(rename = "-status")]
    StatusDown,
    /// Never polled first, then those whose last poll is longest ago.
    #[serde(rename = "last_polled")]
    LastPolled,
    /// Those that were just polled first.
    #[serde(rename = "-last_polled")]
    LastPolledDown,
}

/// Where a part of a list begins: after this row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// What the row is sorted by before its name.
    pub(super) key: i64,
    /// The number of the row.
    pub(super) number: i64,
}

impl Place {
    /// The number of the row.
    #[must_use]
    pub const fn number(self) -> i64 {
        self.number
    }
}

/// A text that names no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no cursor; give next_cursor of the page before, or none for the first page")]
pub struct PlaceError;

/// Which part of the list is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListAsk {
    /// Which services.
    pub filter: ServiceFilter,
    /// In which order.
    pub sort: Sort,
    /// After which row.
    pub after: Option<Place>,
    /// How many, up to [`MAX_PAGE`].
    pub limit: u32,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Part<T> {
    /// The items.
    pub items: Vec<T>,
    /// Where the next part begins, if there is one.
    pub next: Option<Place>,
}

impl<T> Part<T> {
    /// Made of one row more than was asked for.
    pub(super) fn cut(mut rows: Vec<(Place, T)>, limit: u32) -> Self {
        let limit = usize::try_from(limit.clamp(1, MAX_PAGE)).unwrap_or_default();
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().map(|(place, _)| *place).filter(|_| has_more);
        Self { items: rows.into_iter().map(|(_, item)| item).collect(), next }
    }
}

/// One more than asked for: its presence tells that there is more.
pub(super) fn one_more(limit: u32) -> i64 {
    i64::from(limit.clamp(1, MAX_PAGE)).saturating_add(1)
}

/// `key.number`
impl std::fmt::Display for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{}", self.key, self.number)
    }
}

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let (key, number) = text.split_once('.').ok_or(PlaceError)?;
        let read = |text: &str| text.parse::<i64>().map_err(|_| PlaceError);
        Ok(Self { key: read(key)?, number: read(number)? })
    }
}

/// A pattern of LIKE, with `\` as its escape, that finds what holds `text` in any case.
pub(super) fn pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for character in crate::names::compared(text).chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_back_and_nothing_else_is_one() {
        for place in [Place { key: 0, number: 7 }, Place { key: i64::MAX, number: i64::MIN }] {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for text in ["", ".", "1", "1.", ".1", "a.b", "1.2.3", "1.99999999999999999999"] {
            assert_eq!(text.parse::<Place>(), Err(PlaceError), "{text}");
        }
    }

    #[test]
    fn what_is_searched_for_is_taken_word_by_word() {
        assert_eq!(pattern(" Ab_c% "), r"%ab\_c\%%");
        assert_eq!(pattern(r"a\b"), r"%a\\b%");
    }

    #[test]
    fn a_part_says_where_the_next_begins_only_if_there_is_one() {
        let rows = |count: i64| (0..count).map(|n| (Place { key: 0, number: n }, n)).collect();
        let whole = Part::cut(rows(2), 2);
        assert_eq!((whole.items, whole.next), (vec![0, 1], None));
        let part = Part::cut(rows(3), 2);
        assert_eq!((part.items, part.next), (vec![0, 1], Some(Place { key: 0, number: 1 })));
    }
}
