//! Where a page of a list begins that goes from the newest to the oldest.

use std::fmt;
use std::str::FromStr;

use crate::{Id, Timestamp};

/// The last one of the page before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// When it was made.
    pub created_at: Timestamp,
    /// Which it is, of those that were made then.
    pub id: Id,
}

/// A text that names no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no cursor; give next_cursor of the page before, or none for the first page")]
pub struct BadPlace;

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part<T> {
    /// What is in it, newest first.
    pub items: Vec<T>,
    /// Where the next part begins, if there is one.
    pub next: Option<Place>,
}

/// What a list is of.
pub trait Placed {
    /// Where it stands in its list.
    fn place(&self) -> Place;
}

impl<T: Placed> Part<T> {
    /// Made from one row more than was asked for.
    #[must_use]
    pub fn cut(mut items: Vec<T>, limit: u32) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| has_more).map(Placed::place);
        Self { items, next }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.created_at.as_millis(), self.id)
    }
}

impl FromStr for Place {
    type Err = BadPlace;

    /// Only what a list gave out is a place: one spelling for each.
    fn from_str(text: &str) -> Result<Self, BadPlace> {
        let (millis, id) = text.split_once('.').ok_or(BadPlace)?;
        let created_at = millis.parse().map(Timestamp::from_millis).map_err(|_| BadPlace)?;
        let place = Self { created_at, id: id.parse().map_err(|_| BadPlace)? };
        if place.to_string() == text { Ok(place) } else { Err(BadPlace) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a1e102-8087-7707-8707-070707070707";

    impl Placed for i64 {
        fn place(&self) -> Place {
            Place { created_at: Timestamp::from_millis(*self), id: ID.parse().unwrap() }
        }
    }

    #[test]
    fn a_place_is_read_back_and_nothing_else_is_one() {
        let text = format!("1794776400007.{ID}");
        assert_eq!(text.parse::<Place>().unwrap().to_string(), text);
        for bad in [
            "",
            ".",
            "1",
            ID,
            &format!("x.{ID}"),
            &format!("+1.{ID}"),
            &format!("01.{ID}"),
            &format!("1.{ID} "),
            &format!("99999999999999999999.{ID}"),
            "1.1",
        ] {
            assert_eq!(bad.parse::<Place>(), Err(BadPlace), "{bad}");
        }
    }

    #[test]
    fn one_row_too_many_tells_where_the_next_part_begins() {
        let part = Part::cut(vec![9_i64, 8, 7], 2);
        assert_eq!((part.items, part.next), (vec![9, 8], Some(8.place())));
        let last = Part::cut(vec![7_i64, 6], 2);
        assert_eq!((last.items, last.next), (vec![7, 6], None));
    }
}
