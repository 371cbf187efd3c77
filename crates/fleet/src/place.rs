//! Where a page of workers or nets begins.

use std::fmt;
use std::str::FromStr;

use mainstay_base::{Id, Timestamp};

use crate::model::{Crew, Net};

/// The most workers or nets of one page.
pub const MAX_PAGE: u32 = 200;

/// The last one of the page before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub(crate) created_at: Timestamp,
    pub(crate) id: Id,
}

/// A text that names no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no cursor; give next_cursor of the page before, or none for the first page")]
pub struct BadPlace;

/// A part of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Part<T> {
    /// What is in it, newest first.
    pub items: Vec<T>,
    /// Where the next part begins, if there is one.
    pub next: Option<Place>,
}

/// What a list is of.
pub(crate) trait Placed {
    fn place(&self) -> Place;
}

impl Placed for Crew {
    fn place(&self) -> Place {
        Place { created_at: self.worker.created_at, id: self.worker.id }
    }
}

impl Placed for Net {
    fn place(&self) -> Place {
        Place { created_at: self.created_at, id: self.id }
    }
}

/// Made from one row more than was asked for.
pub(crate) fn cut<T: Placed>(mut items: Vec<T>, limit: u32) -> Part<T> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| has_more).map(Placed::place);
    Part { items, next }
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

    #[test]
    fn a_place_is_read_back_and_nothing_else_is_one() {
        let id = "01a1e102-8087-7707-8707-070707070707";
        let text = format!("1794776400007.{id}");
        assert_eq!(text.parse::<Place>().unwrap().to_string(), text);
        for bad in [
            "",
            ".",
            "1",
            id,
            &format!("x.{id}"),
            &format!("+1.{id}"),
            &format!("01.{id}"),
            &format!("1.{id} "),
            &format!("99999999999999999999.{id}"),
            "1.1",
        ] {
            assert_eq!(bad.parse::<Place>(), Err(BadPlace), "{bad}");
        }
    }
}
