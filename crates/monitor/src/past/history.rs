//! A span of the past, so that whoever shows it can go to and fro in it.

use std::str::FromStr;
use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::handle::PastError;
use super::state::{PastDependency, PastState};
use crate::report::DependencyStatus;
use crate::status::ServiceStatus;

/// The longest span.
pub const MAX_SPAN: Duration = Duration::from_hours(31 * 24);
/// The most changes of one page.
pub const MAX_CHANGES: usize = 2_000;
/// The most changes that a span can be shortened to.
pub const MAX_MOST: u32 = 100_000;

/// Which span is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Where it begins.
    pub from: Timestamp,
    /// Where it ends.
    pub to: Timestamp,
    /// After which change; `None` for the first page, which brings the state too.
    pub after: Option<Place>,
    /// Of more changes than these only the newest are wanted: the span begins later then.
    pub most: Option<u32>,
}

/// The change that a page ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(pub(super) i64);

/// A text that names no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no cursor; give next_cursor of the page before, or none for the first page")]
pub struct PlaceError;

/// A span of the past.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HistoryPage {
    /// Where the span begins: not before there are records, if those begin within it, and later where it had more
    /// changes than `most`.
    #[schema(value_type = String, format = DateTime)]
    pub from: Timestamp,
    /// Where it ends.
    #[schema(value_type = String, format = DateTime)]
    pub to: Timestamp,
    /// Since when there are records; `null` when there are none. What was before is not known.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub records_since: Option<Timestamp>,
    /// How everything was when the span begins; only on the first page.
    #[schema(required)]
    pub state: Option<WholeState>,
    /// What changed after that, by id: of two changes of the same, the later one holds. How it was at a
    /// moment of the span is told by those that are not dated after it, applied in this order. Few are
    /// not in the order of time, and those dated before the span are in the state already.
    pub items: Vec<HistoryItem>,
    /// Where the next page begins; `null` on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// How everything was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WholeState {
    /// The services, by name.
    pub services: Vec<HistoryService>,
    /// What they leaned on, by name, those included that were closed.
    pub dependencies: Vec<HistoryDependency>,
}

/// A service as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HistoryService {
    /// Its id.
    #[schema(value_type = String)]
    pub id: Id,
    /// Its name then.
    pub name: String,
    /// How it was.
    pub status: ServiceStatus,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub status_since: Timestamp,
    /// Since when nobody knew how its dependencies were.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub stale_since: Option<Timestamp>,
}

/// A dependency as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HistoryDependency {
    /// Its id.
    #[schema(value_type = String)]
    pub id: Id,
    /// The service that leaned on it.
    #[schema(value_type = String)]
    pub service_id: Id,
    /// Its name, as the service reported it.
    pub name: String,
    /// Its name by the aliases then.
    pub canonical_name: String,
    /// What its service last said of it: not to be believed while that is stale, or it is missing.
    pub status: DependencyStatus,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub status_since: Timestamp,
    /// Since when its service did not report it any more.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub missing_since: Option<Timestamp>,
    /// The service that it was, if somebody had said so.
    #[schema(value_type = Option<String>, required)]
    pub linked_service_id: Option<Id>,
    /// Whether it was missing for so long that it was not shown any more. It is if it is `present` again.
    pub is_closed: bool,
}

/// Something that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HistoryItem {
    /// Its number.
    #[schema(value_type = String, example = "4711")]
    #[serde(serialize_with = "crate::views::activity::as_text")]
    pub id: i64,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// What changed.
    pub kind: ChangeKind,
    /// The service.
    #[schema(value_type = String)]
    pub service_id: Id,
    /// The dependency; `null` when the service itself changed.
    #[schema(value_type = Option<String>, required)]
    pub dependency_id: Option<Id>,
    /// Its name, as its service reports it.
    #[schema(required)]
    pub dependency_name: Option<String>,
    /// The whole new value: a status (`service`, `dependency`, `added` of a dependency), a name (`added`
    /// of a service, `renamed`, `alias`), `stale` or `fresh`, `missing` or `present`, the id of a service
    /// (`link`), or `null` (`removed`, and a link that was taken away).
    #[schema(required)]
    pub after: Option<String>,
}

/// What can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// A service or a dependency came to be.
    Added,
    /// The status of a service.
    Service,
    /// The status of a dependency.
    Dependency,
    /// Whether anybody knows how the dependencies of a service are.
    Stale,
    /// Whether a service reports a dependency.
    Missing,
    /// Which service a dependency is.
    Link,
    /// The canonical name of a dependency.
    Alias,
    /// The name of a service.
    Renamed,
    /// A service was removed, or a dependency that had been missing for long.
    Removed,
}

impl ChangeKind {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "added" => Self::Added,
            "service" => Self::Service,
            "dependency" => Self::Dependency,
            "stale" => Self::Stale,
            "missing" => Self::Missing,
            "link" => Self::Link,
            "alias" => Self::Alias,
            "renamed" => Self::Renamed,
            "removed" => Self::Removed,
            _ => return None,
        })
    }
}

impl Asked {
    pub(super) fn check(self) -> Result<(), PastError> {
        let Self { from, to, most, .. } = self;
        if to < from || to.since(from) > MAX_SPAN {
            return Err(PastError::Span { from, to });
        }
        if let Some(most) = most.filter(|most| !(1..=MAX_MOST).contains(most)) {
            return Err(PastError::Most { most });
        }
        Ok(())
    }
}

impl HistoryPage {
    /// Made of one row more than a page has, if there is one.
    pub(super) fn cut(
        (from, to): (Timestamp, Timestamp),
        records_since: Option<Timestamp>,
        state: Option<WholeState>,
        mut rows: Vec<(Place, Option<HistoryItem>)>,
    ) -> Self {
        let has_more = rows.len() > MAX_CHANGES;
        rows.truncate(MAX_CHANGES);
        let last = rows.last().map(|(place, _)| place.to_string());
        let next_cursor = last.filter(|_| has_more);
        let items = rows.into_iter().filter_map(|(_, item)| item).collect();
        Self { from, to, records_since, state, items, next_cursor }
    }
}

impl WholeState {
    pub(super) fn of(state: &PastState) -> Self {
        let mut services: Vec<_> = state
            .services()
            .map(|(_, one)| HistoryService {
                id: one.id,
                name: one.name.clone(),
                status: one.status,
                status_since: one.status_since,
                stale_since: one.stale_since,
            })
            .collect();
        services.sort_by(|one, other| (&one.name, one.id).cmp(&(&other.name, other.id)));
        // Closed ones too: they come back with the names and links that they had.
        let all = state.dependencies.values();
        let mut dependencies: Vec<_> =
            all.filter_map(|one| HistoryDependency::of(state, one)).collect();
        dependencies.sort_by(|one, other| (&one.name, one.id).cmp(&(&other.name, other.id)));
        Self { services, dependencies }
    }
}

impl HistoryDependency {
    fn of(state: &PastState, one: &PastDependency) -> Option<Self> {
        Some(Self {
            id: one.id,
            service_id: state.service(one.service_no)?.id,
            name: one.name.clone(),
            canonical_name: one.canonical_name.clone(),
            status: one.said,
            status_since: one.said_since,
            missing_since: one.missing_since,
            linked_service_id: one.linked_service_id,
            is_closed: one.is_closed,
        })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        text.parse().map(Self).map_err(|_| PlaceError)
    }
}
