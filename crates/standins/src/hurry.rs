//! The story in a hurry: what happens takes its time, and of the calm in between little is told.
//!
//! What happens can't be told faster without losing its effects: services are polled every few seconds,
//! and each notices the trouble of another one poll later.

use crate::story::{CYCLE_MS, Story};

/// How many times as fast the calm goes by.
const CALM: i64 = 4;
/// How long a cycle is in a hurry: more than the longest acts together with a quarter of the calm.
pub const HURRIED_CYCLE_MS: i64 = 480_000;

/// The moment of the story after so much was told of it.
#[must_use]
pub fn story_ms(story: Story, told_ms: i64) -> i64 {
    if told_ms < 0 {
        return told_ms;
    }
    let begin = told_ms.div_euclid(HURRIED_CYCLE_MS).saturating_mul(CYCLE_MS);
    let (mut left, mut at) = (told_ms.rem_euclid(HURRIED_CYCLE_MS), begin);
    for act in story.around(begin) {
        let calm = act.from.saturating_sub(at);
        if left.saturating_mul(CALM) < calm {
            break;
        }
        left = left.saturating_sub(calm / CALM);
        if left < act.length {
            return act.from.saturating_add(left);
        }
        left = left.saturating_sub(act.length);
        at = act.end();
    }
    // The last calm may end early: what comes next begins with the next cycle.
    at.saturating_add(left.saturating_mul(CALM)).min(begin.saturating_add(CYCLE_MS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::Act;

    const STORY: Story = Story { seed: 7 };

    #[test]
    fn it_never_goes_back_nor_skips_what_happens() {
        let told: Vec<i64> =
            (0..3 * HURRIED_CYCLE_MS).step_by(250).map(|at| story_ms(STORY, at)).collect();
        for pair in told.windows(2) {
            let step = pair[1] - pair[0];
            assert!((0..=1_000).contains(&step) || pair[1] % CYCLE_MS < 1_000, "{pair:?}");
            let busy = !STORY.under_way(pair[0]).is_empty() && !STORY.under_way(pair[1]).is_empty();
            assert!(!busy || step == 250, "{pair:?} is told faster than it happens");
        }
        for cycle in 0..3 {
            let acts = STORY.around(cycle * CYCLE_MS);
            for act in &acts {
                let looks = told.iter().filter(|at| act.progress(**at).is_some()).count();
                let looks = i64::try_from(looks).unwrap() * 250;
                assert!((looks - act.length).abs() <= 500, "{act:?} for {looks} ms");
            }
            assert_eq!(acts.len(), Act::ALL.len());
        }
    }

    #[test]
    fn the_first_incident_comes_soon_and_every_cycle_has_room() {
        let first = STORY.under_way(story_ms(STORY, 5_000));
        assert_eq!(first.first().map(|one| one.act), Some(Act::DatabaseSlows));
        assert!(STORY.under_way(story_ms(STORY, 4_000)).is_empty());
        for seed in 0..200 {
            let story = Story { seed };
            for cycle in 0..20 {
                let busy: i64 = story.around(cycle * CYCLE_MS).iter().map(|act| act.length).sum();
                assert!(busy + (CYCLE_MS - busy) / CALM <= HURRIED_CYCLE_MS, "{seed} {cycle}");
            }
        }
    }

    #[test]
    fn the_past_is_not_hurried_and_a_year_is_held() {
        assert_eq!(story_ms(STORY, -5), -5);
        let year = 365 * 24 * 3_600_000;
        assert!(story_ms(STORY, year) > year);
    }
}
