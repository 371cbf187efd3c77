//! Joins what the items of an answer say: each name once, each reason once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::bounds::{MAX_EXCERPT_CHARS, MAX_WARNINGS, clip};
use super::error::BadBody;
use crate::report::{DependencyStatus, Report, Reported, Warning};

/// Why an item is left out, or a part of it.
pub(crate) type Reason = Cow<'static, str>;

/// What was read so far.
#[derive(Debug)]
pub(crate) struct Collector {
    report: Report,
    /// Where in the report each name stands.
    places: HashMap<String, usize>,
    left_out: usize,
}

impl Collector {
    /// For so many items.
    pub(crate) fn with_capacity(items: usize) -> Self {
        let report = Report { dependencies: Vec::with_capacity(items), warnings: Vec::new() };
        Self { report, places: HashMap::with_capacity(items), left_out: 0 }
    }

    /// Takes the item at `index`, or notes why it is left out.
    pub(crate) fn add(&mut self, index: usize, item: Result<Reported, Reason>) {
        match item {
            Ok(reported) => self.keep(index, reported),
            Err(reason) => {
                self.left_out = self.left_out.saturating_add(1);
                self.warn(index, reason);
            }
        }
    }

    /// Notes what is odd about the item at `index`.
    pub(crate) fn warn(&mut self, index: usize, reason: Reason) {
        let warnings = &mut self.report.warnings;
        if let Some(warning) = warnings.iter_mut().find(|warning| warning.reason == reason) {
            warning.count = warning.count.saturating_add(1);
        } else if warnings.len() < MAX_WARNINGS {
            let reason = reason.into_owned();
            warnings.push(Warning { reason, first_index: index, count: 1 });
        }
    }

    /// The report; none when there were items and none of them could be read.
    pub(crate) fn finish(self) -> Result<Report, BadBody> {
        match self.report.warnings.first() {
            Some(first) if self.report.dependencies.is_empty() => {
                Err(BadBody::NothingReadable { items: self.left_out, first: first.clone() })
            }
            _ => Ok(self.report),
        }
    }

    /// Of items with one name the worst stays, and the first of equally bad ones.
    fn keep(&mut self, index: usize, reported: Reported) {
        let place = self.report.dependencies.len();
        match self.places.entry(reported.name.clone()) {
            Entry::Vacant(vacant) => {
                vacant.insert(place);
                self.report.dependencies.push(reported);
            }
            Entry::Occupied(occupied) => {
                let name = clip(occupied.key(), MAX_EXCERPT_CHARS);
                if let Some(kept) = self.report.dependencies.get_mut(*occupied.get())
                    && badness(&reported) > badness(kept)
                {
                    *kept = reported;
                }
                let reason = format!("{name:?} is named more than once; the worst state counts");
                self.warn(index, reason.into());
            }
        }
    }
}

/// What is left out of the judgement says the least; of two that look alike, the one that is called
/// unhealthy is worse.
const fn badness(reported: &Reported) -> (u8, bool) {
    let level = match reported.status() {
        DependencyStatus::Skipped | DependencyStatus::Unknown => 0,
        DependencyStatus::Healthy => 1,
        DependencyStatus::Degraded => 2,
        DependencyStatus::Down => 3,
    };
    (level, !reported.healthy)
}
