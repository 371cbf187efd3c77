//! What the root causes were at the moments of a span that matter.

use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_graph::causes;

use super::handle::{Past, PastError};
use super::history::{ChangeKind, HistoryItem};
use super::state::PastMoment;
use super::telling::Told;
use crate::aside::aside;
use crate::graph::then;

/// Moments of services that went bad at which root causes are looked for, and as many of dependencies,
/// beside the beginning: each is a whole state.
const MOST_MOMENTS: usize = 6;
/// Root causes that are named at one moment.
const MOST_ROOTS: usize = 5;

/// When something went bad. The two kinds are kept apart, so that a dependency that keeps failing and coming
/// back does not crowd out the moments at which services fell.
#[derive(Debug, Default)]
pub(super) struct Moments {
    /// Where the span begins, if something was bad then.
    beginning: Option<Timestamp>,
    services: Vec<Timestamp>,
    dependencies: Vec<Timestamp>,
}

impl Moments {
    pub(super) fn begin(&mut self, at: Timestamp, is_bad: bool) {
        self.beginning = is_bad.then_some(at);
    }

    /// Notes when something went bad, if this is such news.
    pub(super) fn note(&mut self, item: &HistoryItem) {
        if !matches!(item.after.as_deref(), Some("down" | "degraded")) {
            return;
        }
        match (item.kind, item.dependency_id) {
            (ChangeKind::Service, _) => self.services.push(item.at),
            (ChangeKind::Dependency | ChangeKind::Added, Some(_)) => {
                self.dependencies.push(item.at);
            }
            _ => {}
        }
    }

    /// Those at which it is looked for root causes, in order.
    fn chosen(self) -> Vec<Timestamp> {
        let mut chosen: Vec<Timestamp> = self.beginning.into_iter().collect();
        for mut moments in [self.services, self.dependencies] {
            moments.sort_unstable();
            moments.dedup();
            moments.retain(|at| !chosen.contains(at));
            chosen.extend(spread(&moments, MOST_MOMENTS));
        }
        chosen.sort_unstable();
        chosen
    }
}

impl Past {
    /// The root causes at some of the moments, told where they differ from those before.
    pub(super) async fn roots(
        &self,
        moments: Moments,
        missing_for: Duration,
    ) -> Result<Vec<Told>, PastError> {
        let (mut told, mut before) = (Vec::new(), Vec::new());
        for at in moments.chosen() {
            let moment = self.at(at).await?;
            let roots = aside(move || named(&moment, missing_for)).await?;
            if roots != before && !roots.is_empty() {
                let word = if roots.len() == 1 { "root cause" } else { "root causes" };
                let what = format!("{word} then: {}", roots.join(", "));
                told.push(Told { at, what, matters: true });
            }
            before = roots;
        }
        Ok(told)
    }
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

fn named(moment: &PastMoment, missing_for: Duration) -> Vec<String> {
    let snapshot = then::graph(moment, missing_for).snapshot();
    let name = |place: usize| snapshot.node(place).map(|node| node.name.to_string());
    let roots = causes::find(&snapshot).roots;
    let named = roots.iter().take(MOST_ROOTS).map(|root| {
        let members: Vec<String> = root.members.iter().filter_map(|&place| name(place)).collect();
        let services = if root.hurts == 1 { "service" } else { "services" };
        format!("{} (hurts {} {services})", members.join(" and "), root.hurts)
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn moments_are_spread_from_the_first_to_the_last() {
        let many: Vec<Timestamp> = (0..100).map(at).collect();
        let few = spread(&many, 6);
        assert_eq!((few.len(), few[0], few[5]), (6, at(0), at(99)));
        assert_eq!(spread(&many[..3], 6), many[..3]);
        assert_eq!(spread(&[], 6), Vec::<Timestamp>::new());
    }

    #[test]
    fn of_each_kind_only_so_many_moments_are_chosen_beside_the_beginning() {
        let many = |from: i64| (from..from + 100).rev().map(at).collect::<Vec<_>>();
        let moments =
            Moments { beginning: Some(at(0)), services: many(10), dependencies: many(50) };
        let chosen = moments.chosen();
        assert_eq!(chosen.len(), 1 + 2 * MOST_MOMENTS);
        assert!(chosen.is_sorted() && chosen.windows(2).all(|two| two[0] < two[1]), "{chosen:?}");
        for wanted in [0, 10, 109, 149] {
            assert!(chosen.contains(&at(wanted)), "{wanted} of {chosen:?}");
        }
    }
}
