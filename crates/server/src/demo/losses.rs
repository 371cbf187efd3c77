//! When the fleet of the demo loses a machine: once in each cycle of the story, in the middle of an
//! incident, so that it takes as long in a hurry.

use mainstay_standins::story::CYCLE_MS;
use mainstay_standins::{Act, Happening, Story, noise};

/// How long after the incident's begin.
const AFTER_MS: i64 = 10_000;
/// For how long nobody brings it back: more than two sweeps.
const LENGTH_MS: i64 = 25_000;

/// A machine that is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Loss {
    /// From when on.
    pub(super) from: i64,
    /// Until it is brought back.
    pub(super) until: i64,
    /// Which one, of so many.
    pub(super) which: usize,
}

/// What is lost at a moment, of `count` machines.
pub(super) fn at(story: Story, story_ms: i64, count: usize) -> Option<Loss> {
    let cycle = story_ms.div_euclid(CYCLE_MS);
    of_cycle(story, cycle, count).filter(|loss| (loss.from..loss.until).contains(&story_ms))
}

/// The loss of a cycle. In the first one it is the first machine, during the second incident, for every
/// seed.
fn of_cycle(story: Story, cycle: i64, count: usize) -> Option<Loss> {
    if cycle < 0 {
        return None;
    }
    let mut acts = story.around(cycle.saturating_mul(CYCLE_MS));
    // The database is enough to look at.
    acts.retain(|one| one.act != Act::DatabaseSlows && one.length > AFTER_MS + LENGTH_MS);
    let turn = |subject: &str, of: usize| match cycle {
        0 => 0,
        _ => draw(story, subject, cycle, of),
    };
    let Happening { from, .. } = *acts.get(turn("loss", acts.len()))?;
    let which = (count > 0).then(|| turn("lost", count))?;
    let from = from.saturating_add(AFTER_MS);
    Some(Loss { from, until: from.saturating_add(LENGTH_MS), which })
}

fn draw(story: Story, subject: &str, cycle: i64, of: usize) -> usize {
    let of = u64::try_from(of).unwrap_or(u64::MAX);
    usize::try_from(noise::below(story.seed, subject, cycle, of)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const STORY: Story = Story { seed: 7 };

    #[test]
    fn the_first_loss_is_the_same_for_every_seed() {
        for seed in [0, 7, u64::MAX] {
            let story = Story { seed };
            let lost = |seconds: i64| at(story, seconds * 1_000, 3).map(|loss| loss.which);
            assert_eq!([lost(0), lost(50), lost(134), lost(160)], [None; 4], "{seed}");
            assert_eq!([lost(135), lost(159)], [Some(0); 2], "{seed}");
        }
    }

    #[test]
    fn every_cycle_loses_one_within_an_incident_and_each_has_its_turn() {
        let mut seen = BTreeSet::new();
        for cycle in 0..60 {
            let loss = of_cycle(STORY, cycle, 3).unwrap();
            let under_way = STORY.under_way(loss.from);
            assert!(under_way.iter().any(|one| one.end() >= loss.until), "{cycle} {loss:?}");
            assert!(under_way.iter().all(|one| one.act != Act::DatabaseSlows), "{cycle}");
            assert_eq!(at(STORY, loss.from, 3), Some(loss));
            assert_eq!(at(STORY, loss.until, 3), None);
            seen.insert(loss.which);
        }
        assert_eq!(seen, BTreeSet::from([0, 1, 2]));
        assert_eq!(of_cycle(STORY, 5, 3), of_cycle(Story { seed: 7 }, 5, 3));
    }

    #[test]
    fn the_past_and_an_empty_fleet_lose_none() {
        assert_eq!(at(STORY, -1, 3), None);
        assert_eq!(at(STORY, 140_000, 0), None);
    }
}
