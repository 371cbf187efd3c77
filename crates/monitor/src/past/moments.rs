//! At which moments of a span it is worth looking for root causes. Pure.
//!
//! Whoever fell is looked at while it was ill: at the last fall before anything recovers, or before a calm
//! minute. Where there are more such moments than can be looked at, the first of each outage comes first.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use mainstay_base::{Id, Timestamp};

use super::history::{ChangeKind, HistoryDependency, HistoryItem, HistoryService};

/// What is well for so long has recovered, as in the dashboard: two outages with it between them are two.
const CALM: Duration = Duration::from_mins(1);

/// A service, or one of its dependencies.
type Thing = (Id, Option<Id>);

/// What went bad and what recovered.
#[derive(Debug, Default)]
pub(super) struct Moments {
    /// Where the span begins, if something was bad then.
    beginning: Option<Timestamp>,
    /// What was bad then, and whether it was down.
    ill: HashMap<Thing, bool>,
    turns: BTreeMap<Timestamp, Vec<Turn>>,
}

/// Something that turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Down(Thing),
    Degraded(Thing),
    Well(Thing),
    /// A service, with all it leans on.
    Gone(Id),
}

/// The moments at which it is looked for root causes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    /// In order, each with whether something fell anew: then the same root causes are told again.
    pub(super) looks: Vec<(Timestamp, bool)>,
    /// How many there would have been, and the first that was left out.
    pub(super) cut: Option<(usize, Timestamp)>,
}

/// A moment at which it may be looked for root causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    at: Timestamp,
    /// Nothing had fallen in the minute before.
    is_first: bool,
    /// A service fell.
    is_of_service: bool,
    /// All was well before it for a minute, or this service was.
    is_anew: bool,
}

impl Moments {
    pub(super) fn begin<'a>(
        &mut self,
        at: Timestamp,
        services: impl Iterator<Item = &'a HistoryService>,
        dependencies: impl Iterator<Item = &'a HistoryDependency>,
    ) {
        let services = services.map(|one| ((one.id, None), one.status.name() == "down"));
        let dependencies =
            dependencies.map(|one| ((one.service_id, Some(one.id)), one.status.name() == "down"));
        self.ill = services.chain(dependencies).collect();
        self.beginning = (!self.ill.is_empty()).then_some(at);
    }

    /// Notes when something went bad or recovered, if this is such news.
    pub(super) fn note(&mut self, item: &HistoryItem) {
        let thing = (item.service_id, item.dependency_id);
        let turn = match (item.kind, item.dependency_id, item.after.as_deref()) {
            (ChangeKind::Removed, None, _) => Turn::Gone(item.service_id),
            (ChangeKind::Missing, Some(_), Some("missing")) => Turn::Well(thing),
            (ChangeKind::Service, None, Some(status))
            | (ChangeKind::Dependency | ChangeKind::Added, Some(_), Some(status)) => match status {
                "down" => Turn::Down(thing),
                "degraded" => Turn::Degraded(thing),
                _ => Turn::Well(thing),
            },
            _ => return,
        };
        self.turns.entry(item.at).or_default().push(turn);
    }

    /// The beginning, and at most so many moments after it.
    pub(super) fn chosen(self, most: usize) -> Chosen {
        let beginning = self.beginning.map(|at| (at, true));
        let looks = looks(self.ill, &self.turns);
        let picked = picked(&looks, most);
        let (mut chosen, mut is_anew, mut left_out) = (Vec::from_iter(beginning), false, None);
        for look in &looks {
            is_anew |= look.is_anew;
            if picked.contains(&look.at) {
                chosen.push((look.at, std::mem::take(&mut is_anew)));
            } else {
                left_out.get_or_insert(look.at);
            }
        }
        let whole = looks.len().saturating_add(usize::from(beginning.is_some()));
        Chosen { looks: chosen, cut: left_out.map(|at| (whole, at)) }
    }
}

fn looks(ill: HashMap<Thing, bool>, turns: &BTreeMap<Timestamp, Vec<Turn>>) -> Vec<Look> {
    let mut course = Course { ill, ..Course::default() };
    for (&at, turns) in turns {
        course.turn(at, turns);
    }
    course.looks.extend(course.falling);
    course.looks
}

/// What is ill, as time goes on.
#[derive(Default)]
struct Course {
    ill: HashMap<Thing, bool>,
    /// Since when services are well that were ill.
    well_since: HashMap<Thing, Timestamp>,
    all_well_since: Option<Timestamp>,
    last_fall: Option<Timestamp>,
    /// What fell and has not been followed by a recovery or by a calm minute.
    falling: Option<Look>,
    looks: Vec<Look>,
}

impl Course {
    fn turn(&mut self, at: Timestamp, turns: &[Turn]) {
        let all_well_since = self.all_well_since.filter(|_| self.ill.is_empty());
        let (fell, has_recovered) = self.apply(at, turns);
        if self.ill.is_empty() && has_recovered {
            self.all_well_since = Some(at);
        }
        let is_first = self.last_fall.is_none_or(|last| at.since(last) >= CALM);
        if has_recovered || (is_first && !fell.is_empty()) {
            self.looks.extend(self.falling.take());
        }
        if fell.is_empty() {
            return;
        }
        let was_well = |since: &Timestamp| at.since(*since) >= CALM;
        let look = Look {
            at,
            is_first,
            is_of_service: fell.iter().any(|(_, dependency)| dependency.is_none()),
            is_anew: all_well_since.as_ref().is_some_and(was_well)
                || fell.iter().any(|thing| self.well_since.get(thing).is_some_and(was_well)),
        };
        self.falling = Some(self.falling.map_or(look, |before| before.and(look)));
        self.last_fall = Some(at);
    }

    /// Tells what fell, and whether anything recovered.
    fn apply(&mut self, at: Timestamp, turns: &[Turn]) -> (Vec<Thing>, bool) {
        let (mut fell, mut has_recovered) = (Vec::new(), false);
        for turn in turns {
            match *turn {
                Turn::Down(thing) if self.ill.insert(thing, true) != Some(true) => fell.push(thing),
                Turn::Degraded(thing) if self.ill.insert(thing, false).is_none() => {
                    fell.push(thing);
                }
                Turn::Down(_) | Turn::Degraded(_) => {}
                Turn::Well(thing) => has_recovered |= self.recover(thing, at),
                Turn::Gone(service) => {
                    let count = self.ill.len();
                    self.ill.retain(|(of, _), _| *of != service);
                    has_recovered |= self.ill.len() < count;
                }
            }
        }
        fell.retain(|thing| self.ill.contains_key(thing));
        (fell, has_recovered)
    }

    /// Tells whether it was ill.
    fn recover(&mut self, thing: Thing, at: Timestamp) -> bool {
        let was_ill = self.ill.remove(&thing).is_some();
        // A dependency that keeps failing and coming back is no new outage of what else is ill meanwhile.
        if was_ill && thing.1.is_none() {
            self.well_since.insert(thing, at);
        }
        was_ill
    }
}

impl Look {
    /// Both, looked at when the second is.
    const fn and(self, later: Self) -> Self {
        Self {
            at: later.at,
            is_first: self.is_first || later.is_first,
            is_of_service: self.is_of_service || later.is_of_service,
            is_anew: self.is_anew || later.is_anew,
        }
    }

    /// Those of a lower rank are looked at first.
    const fn rank(&self) -> usize {
        match (self.is_of_service, self.is_first || self.is_anew) {
            (true, true) => 0,
            (true, false) => 1,
            (false, true) => 2,
            (false, false) => 3,
        }
    }
}

/// When is looked, of all that could be.
fn picked(looks: &[Look], most: usize) -> Vec<Timestamp> {
    let mut picked = Vec::new();
    for rank in 0..=3 {
        let of_rank = looks.iter().filter(|look| look.rank() == rank);
        let of_rank: Vec<Timestamp> = of_rank.map(|look| look.at).collect();
        picked.extend(spread(&of_rank, most.saturating_sub(picked.len())));
    }
    picked
}

/// At most so many of the moments, the first and the last among them.
fn spread(moments: &[Timestamp], most: usize) -> Vec<Timestamp> {
    if moments.len() <= most {
        return moments.to_vec();
    }
    let last = moments.len().saturating_sub(1);
    let steps = most.saturating_sub(1).max(1);
    let places = (0..most).filter_map(|step| moments.get(step.saturating_mul(last) / steps));
    places.copied().collect()
}

#[cfg(test)]
#[path = "moments_tests.rs"]
mod tests;
