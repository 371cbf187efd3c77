//! What happens to the company, and when: a function of the seed.
//!
//! Time is in milliseconds of the story. Zero is where it begins to be told; before that lies its past.
//! The first act is the same for every seed, so that whoever looks for the first time knows what to
//! expect; what follows comes in cycles, each in another order.

use crate::noise;

/// How long a cycle is: every act happens in it once.
pub const CYCLE_MS: i64 = 600_000;
/// How far back the past goes.
pub const PAST_MS: i64 = 24 * HOUR_MS;

const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// In each chapter of the past one thing happened.
const CHAPTER_MS: i64 = 4 * HOUR_MS;
const CHAPTERS: i64 = 6;
const _: () = assert!(CHAPTER_MS * CHAPTERS == PAST_MS);
/// The part of a cycle in which one act has its place.
const SLOT_MS: i64 = 95 * SECOND_MS;
/// How late an act may begin in its place.
const LATEST_MS: i64 = 10 * SECOND_MS;
/// How often the past is looked at while nothing happens, and in its last hour.
const CALM_STEP_MS: i64 = 10 * MINUTE_MS;
const RECENT_STEP_MS: i64 = MINUTE_MS;
/// How many looks there are at one act of the past.
const LOOKS: i64 = 16;

/// Something that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    /// The shared database slows, takes down who leans on it, and comes back.
    DatabaseSlows,
    /// The certificate of a partner has expired.
    CertificateExpires,
    /// A host takes connections and never answers.
    HostHangs,
    /// A third party fails, comes back, and fails again.
    ThirdPartyFlaps,
    /// The queue falls behind.
    QueueLags,
    /// Object storage answers slowly.
    StorageSlows,
}

/// An act with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Happening {
    /// What happens.
    pub act: Act,
    /// From when on.
    pub from: i64,
    /// For how long.
    pub length: i64,
}

/// The story of one seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Story {
    /// What makes it differ from others.
    pub seed: u64,
}

/// The first cycle: calm, then the shared database, then one thing after the other.
const OPENING: [Happening; 6] = [
    happening(Act::DatabaseSlows, 18, 72),
    happening(Act::CertificateExpires, 125, 60),
    happening(Act::HostHangs, 215, 55),
    happening(Act::ThirdPartyFlaps, 320, 90),
    happening(Act::StorageSlows, 435, 55),
    happening(Act::QueueLags, 520, 55),
];

impl Act {
    /// Every act.
    pub const ALL: [Self; 6] = [
        Self::DatabaseSlows,
        Self::CertificateExpires,
        Self::HostHangs,
        Self::ThirdPartyFlaps,
        Self::QueueLags,
        Self::StorageSlows,
    ];

    /// How long it takes, more or less.
    const fn usual_ms(self) -> i64 {
        match self {
            Self::DatabaseSlows => 72 * SECOND_MS,
            Self::ThirdPartyFlaps => 80 * SECOND_MS,
            _ => 55 * SECOND_MS,
        }
    }
}

impl Happening {
    /// When it is over.
    #[must_use]
    pub const fn end(&self) -> i64 {
        self.from.saturating_add(self.length)
    }

    /// How far it has come, in thousandths; `None` before and after.
    #[must_use]
    pub fn progress(&self, story_ms: i64) -> Option<i64> {
        let since = story_ms.checked_sub(self.from)?;
        if !(0..self.length).contains(&since) {
            return None;
        }
        since.saturating_mul(1_000).checked_div(self.length)
    }
}

impl Story {
    /// What happens around a moment: everything that can be under way then, and its neighbours.
    #[must_use]
    pub fn around(&self, story_ms: i64) -> Vec<Happening> {
        if story_ms < 0 {
            let chapter = story_ms.div_euclid(CHAPTER_MS);
            return self.chapter(chapter).into_iter().collect();
        }
        self.cycle(story_ms.div_euclid(CYCLE_MS))
    }

    /// What is under way at a moment.
    #[must_use]
    pub fn under_way(&self, story_ms: i64) -> Vec<Happening> {
        let mut all = self.around(story_ms);
        all.retain(|one| one.progress(story_ms).is_some());
        all
    }

    /// The moments of the past at which it is looked at, oldest first: more often while something
    /// happens, and in the last hour.
    #[must_use]
    pub fn past(&self) -> Vec<i64> {
        let calm = (0..).map(|step| -PAST_MS + step * CALM_STEP_MS);
        let mut moments: Vec<i64> = calm.take_while(|at| *at < -HOUR_MS).collect();
        let recent = (0..).map(|step| -HOUR_MS + step * RECENT_STEP_MS);
        moments.extend(recent.take_while(|at| *at < 0));
        for one in (-CHAPTERS..0).filter_map(|chapter| self.chapter(chapter)) {
            // From just before the first sign until all is well again.
            let looks = (0..=LOOKS).map(|look| one.from + look * one.length / LOOKS);
            moments.extend(looks);
        }
        moments.sort_unstable();
        moments.dedup_by_key(|at| at.div_euclid(10 * SECOND_MS));
        moments
    }

    /// When an act happened in the past.
    #[must_use]
    pub fn in_the_past(&self, act: Act) -> Option<Happening> {
        (-CHAPTERS..0).filter_map(|chapter| self.chapter(chapter)).find(|one| one.act == act)
    }

    /// The acts of a cycle, in their order.
    fn cycle(&self, number: i64) -> Vec<Happening> {
        if number == 0 {
            return OPENING.to_vec();
        }
        let begin = number.saturating_mul(CYCLE_MS);
        let places = (0_i64..).map(|place| 10 * SECOND_MS + place * SLOT_MS);
        let acts = self.shuffled("cycle", number).into_iter().zip(places);
        acts.map(|(act, place)| {
            let turn = number.saturating_mul(100).saturating_add(place / SLOT_MS);
            let late = self.between("late", turn, 0, LATEST_MS);
            let length = act.usual_ms() * self.between("length", turn, 800, 1_150) / 1_000;
            Happening { act, from: begin + place + late, length }
        })
        .collect()
    }

    /// What happened in a chapter of the past.
    fn chapter(&self, number: i64) -> Option<Happening> {
        if !(-CHAPTERS..0).contains(&number) {
            return None;
        }
        let index = usize::try_from(number + CHAPTERS).unwrap_or(0);
        let act = self.shuffled("past", 0).get(index).copied()?;
        let from = number * CHAPTER_MS + self.between("from", number, 30, 150) * MINUTE_MS;
        let length = self.between("minutes", number, 8, 25) * MINUTE_MS;
        Some(Happening { act, from, length })
    }

    /// All acts in an order of this turn.
    fn shuffled(&self, subject: &str, turn: i64) -> Vec<Act> {
        let mut acts = Act::ALL;
        acts.sort_by_cached_key(|act| {
            noise::below(self.seed, &format!("{subject} {act:?}"), turn, u64::MAX)
        });
        acts.to_vec()
    }

    fn between(&self, subject: &str, turn: i64, from: i64, to: i64) -> i64 {
        let range = u64::try_from(to.saturating_sub(from)).unwrap_or(0);
        let drawn = noise::below(self.seed, subject, turn, range);
        from.saturating_add(i64::try_from(drawn).unwrap_or(0))
    }
}

const fn happening(act: Act, from: i64, length: i64) -> Happening {
    Happening { act, from: from * SECOND_MS, length: length * SECOND_MS }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const STORY: Story = Story { seed: 7 };

    fn acts(story: Story, seconds: i64) -> Vec<Act> {
        story.under_way(seconds * SECOND_MS).into_iter().map(|one| one.act).collect()
    }

    #[test]
    fn the_first_cycle_is_the_same_for_every_seed() {
        for (seconds, expected) in [
            (0, None),
            (17, None),
            (18, Some(Act::DatabaseSlows)),
            (89, Some(Act::DatabaseSlows)),
            (90, None),
            (130, Some(Act::CertificateExpires)),
            (200, None),
            (230, Some(Act::HostHangs)),
            (280, None),
            (330, Some(Act::ThirdPartyFlaps)),
            (440, Some(Act::StorageSlows)),
            (530, Some(Act::QueueLags)),
            (599, None),
        ] {
            for seed in [0, 7, u64::MAX] {
                let found = acts(Story { seed }, seconds);
                assert_eq!(found, Vec::from_iter(expected), "{seconds} s of {seed}");
            }
        }
    }

    #[test]
    fn later_cycles_hold_every_act_within_themselves_in_another_order() {
        let mut orders = BTreeSet::new();
        for number in 1..40 {
            let cycle = STORY.cycle(number);
            let begin = number * CYCLE_MS;
            assert!(cycle.iter().all(|one| one.from > begin && one.end() < begin + CYCLE_MS));
            let order: Vec<_> = cycle.iter().map(|one| one.act).collect();
            assert_eq!(order.iter().copied().collect::<BTreeSet<_>>().len(), Act::ALL.len());
            orders.insert(order);
        }
        assert!(orders.len() > 20, "{}", orders.len());
        assert_ne!(STORY.cycle(1), Story { seed: 8 }.cycle(1));
        assert_eq!(STORY.cycle(1), Story { seed: 7 }.cycle(1));
    }

    #[test]
    fn each_chapter_of_the_past_has_its_act_and_the_last_hour_is_calm() {
        for seed in 0..50 {
            let story = Story { seed };
            let past: Vec<_> =
                (-CHAPTERS..0).filter_map(|chapter| story.chapter(chapter)).collect();
            let acts: BTreeSet<_> = past.iter().map(|one| one.act).collect();
            assert_eq!((past.len(), acts.len()), (6, 6));
            assert!(past.windows(2).all(|pair| pair[0].end() < pair[1].from));
            assert!(past.iter().all(|one| one.from > -PAST_MS && one.end() < -HOUR_MS));
            assert_eq!(story.under_way(past[2].from), [past[2]]);
            assert!(story.under_way(past[2].end()).is_empty());
        }
        assert!(STORY.around(-PAST_MS - 1).is_empty());
    }

    #[test]
    fn the_past_is_looked_at_in_order_and_in_every_phase() {
        let moments = STORY.past();
        assert!(moments.is_sorted() && moments.len() < 400, "{}", moments.len());
        assert!(moments.first() == Some(&-PAST_MS) && moments.last() < Some(&0));
        for chapter in -CHAPTERS..0 {
            let one = STORY.chapter(chapter).unwrap();
            let looks = moments.iter().filter(|at| one.progress(**at).is_some()).count();
            assert!(looks >= 15, "{looks}");
        }
    }

    #[test]
    fn progress_is_told_in_thousandths() {
        let one = happening(Act::HostHangs, 10, 20);
        for (seconds, expected) in
            [(9, None), (10, Some(0)), (20, Some(500)), (29, Some(950)), (30, None)]
        {
            assert_eq!(one.progress(seconds * SECOND_MS), expected, "{seconds}");
        }
    }
}
