//! How everything is at one moment: a function of the seed and the moment.

use std::collections::{BTreeMap, HashMap};

use crate::company::{Need, On, Service};
use crate::noise;
use crate::story::{Act, Story};

/// How well something works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// As it should.
    Fine,
    /// Badly.
    Poor,
    /// Not at all.
    Failing,
}

/// How the endpoint of a service behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Manner {
    /// It answers.
    Answers,
    /// It answers that it can't.
    Refuses,
    /// It takes the connection and never answers.
    Hangs,
}

/// What is wrong with a thing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trouble {
    /// How badly it works.
    pub grade: Grade,
    /// How many times longer a check takes.
    pub slower: f64,
    /// What those who notice say.
    pub says: Says,
}

/// What is said of a trouble, each in the words of its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// Nothing.
    Nothing,
    /// Connections to the database are scarce.
    PoolIsBusy,
    /// There are no connections to the database.
    PoolIsEmpty,
    /// A certificate has expired.
    CertificateExpired,
    /// The third party answers with an error.
    ThirdPartyFails,
    /// Messages wait.
    QueueLags,
    /// Writing takes long.
    StorageIsSlow,
}

/// How everything is.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    seed: u64,
    story_ms: i64,
    /// What is wrong now, in the middle, and in steps of [`NOTICE_MS`] before and after.
    steps: Vec<Troubles>,
}

/// Services notice each other's trouble so much later than those who have it, and its end so much
/// sooner: more than the time from poll to poll. Whoever polls all of them thus finds a cause before its
/// effects, and its end after theirs.
const NOTICE_MS: i64 = 7_000;
/// As many services as stand behind each other.
const REACH: usize = 5;
/// Where now stands among the steps.
const NOW: usize = REACH;

/// What is wrong at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
struct Troubles {
    things: BTreeMap<&'static str, Trouble>,
    manners: BTreeMap<&'static str, Manner>,
}

/// How well services work, by step, as far as it was asked.
type Known = HashMap<(&'static str, usize), Grade>;

impl World {
    /// The world of a story at one moment.
    #[must_use]
    pub fn at(story: Story, story_ms: i64) -> Self {
        let reach = i64::try_from(REACH).unwrap_or(0);
        let moments = (-reach..=reach).map(|step| story_ms.saturating_add(step * NOTICE_MS));
        let steps = moments.map(|at| Troubles::at(story, at)).collect();
        Self { seed: story.seed, story_ms, steps }
    }

    /// The moment.
    #[must_use]
    pub const fn story_ms(&self) -> i64 {
        self.story_ms
    }

    /// How the endpoint of a service behaves.
    #[must_use]
    pub fn manner(&self, slug: &str) -> Manner {
        self.step(NOW).and_then(|now| now.manners.get(slug)).copied().unwrap_or(Manner::Answers)
    }

    /// What is wrong with a thing, if something is.
    #[must_use]
    pub fn trouble(&self, slug: &str) -> Option<Trouble> {
        self.step(NOW)?.things.get(slug).copied()
    }

    /// How well something works for those who lean on it.
    #[must_use]
    pub fn grade(&self, on: On) -> Grade {
        self.grade_at(on, NOW, &mut Known::new())
    }

    /// How many times longer than usual a check takes that `service` makes.
    #[must_use]
    pub fn stretch(&self, service: &str, reported: &str) -> f64 {
        noise::stretch(self.seed, &format!("{service} {reported}"), self.story_ms)
    }

    fn grade_at(&self, on: On, step: usize, known: &mut Known) -> Grade {
        match on {
            On::Thing(slug) => self.step(step).map_or(Grade::Fine, |then| then.grade(slug)),
            On::Service(slug) => {
                let Some(service) = Service::find(slug) else { return Grade::Fine };
                let (from, to) = (step.saturating_sub(1), step.saturating_add(1));
                let noticed = (from..=to).map(|step| self.works_at(service, step, known));
                noticed.min().unwrap_or(Grade::Fine)
            }
        }
    }

    /// How well a service works.
    fn works_at(&self, service: &'static Service, step: usize, known: &mut Known) -> Grade {
        if let Some(known) = known.get(&(service.slug, step)) {
            return *known;
        }
        let is_silent = self.step(step).is_some_and(|then| then.manners.contains_key(service.slug));
        let grade = if is_silent {
            Grade::Failing
        } else {
            let felt = service.needs.iter().map(|need| self.felt_at(need, step, known));
            felt.max().unwrap_or(Grade::Fine)
        };
        known.insert((service.slug, step), grade);
        grade
    }

    /// What a service feels of something it leans on: without what is not vital it still works.
    fn felt_at(&self, need: &Need, step: usize, known: &mut Known) -> Grade {
        match (self.grade_at(need.on, step, known), need.is_vital) {
            (grade, true) => grade,
            (Grade::Failing, false) => Grade::Poor,
            (Grade::Poor | Grade::Fine, false) => Grade::Fine,
        }
    }

    fn step(&self, step: usize) -> Option<&Troubles> {
        self.steps.get(step).or(self.steps.last())
    }
}

impl Troubles {
    fn at(story: Story, story_ms: i64) -> Self {
        let mut troubles = Self::default();
        for happening in story.around(story_ms) {
            if let Some(progress) = happening.progress(story_ms) {
                let notice = (NOTICE_MS * 1_000).checked_div(happening.length);
                troubles.happen(happening.act, progress, notice.unwrap_or(0));
            }
        }
        troubles
    }

    /// How well a thing works.
    fn grade(&self, slug: &str) -> Grade {
        self.things.get(slug).map_or(Grade::Fine, |trouble| trouble.grade)
    }

    fn happen(&mut self, act: Act, progress: i64, notice: i64) {
        match act {
            Act::DatabaseSlows => self.database(progress, notice),
            Act::CertificateExpires => {
                self.worsen("bank", Grade::Failing, 0.3, Says::CertificateExpired);
            }
            Act::HostHangs => {
                self.manners.insert("search", Manner::Hangs);
            }
            // Down, up, down, up, down, up.
            Act::ThirdPartyFlaps if progress / 167 % 2 == 0 => {
                self.worsen("textline", Grade::Failing, 8.0, Says::ThirdPartyFails);
            }
            Act::ThirdPartyFlaps => {}
            Act::QueueLags => self.worsen("kafka", Grade::Poor, 25.0, Says::QueueLags),
            Act::StorageSlows => self.worsen("storage", Grade::Poor, 30.0, Says::StorageIsSlow),
        }
    }

    /// It slows, runs out of connections, one service gives up altogether, and it comes back slowly. Of
    /// that one it is known what it leans on before it gives up.
    fn database(&mut self, progress: i64, notice: i64) {
        match progress {
            0..220 => self.worsen("postgres", Grade::Poor, 60.0, Says::PoolIsBusy),
            220..750 => {
                self.worsen("postgres", Grade::Failing, 750.0, Says::PoolIsEmpty);
                let (from, to) = ((220 + notice).max(330), (750 - notice).min(640));
                if (from..to).contains(&progress) {
                    self.manners.insert("orders", Manner::Refuses);
                }
            }
            _ => self.worsen("postgres", Grade::Poor, 25.0, Says::PoolIsBusy),
        }
    }

    fn worsen(&mut self, slug: &'static str, grade: Grade, slower: f64, says: Says) {
        self.things.insert(slug, Trouble { grade, slower, says });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::company::SERVICES;

    const STORY: Story = Story { seed: 7 };

    fn world(seconds: i64) -> World {
        World::at(STORY, seconds * 1_000)
    }

    fn failing(world: &World) -> Vec<&'static str> {
        let slugs = SERVICES.iter().map(|one| one.slug);
        slugs.filter(|slug| world.grade(On::Service(slug)) == Grade::Failing).collect()
    }

    #[test]
    fn the_first_act_goes_from_calm_to_slow_to_down_and_back() {
        for (seconds, postgres, orders) in [
            (0, Grade::Fine, Manner::Answers),
            (17, Grade::Fine, Manner::Answers),
            (18, Grade::Poor, Manner::Answers),
            (33, Grade::Poor, Manner::Answers),
            (35, Grade::Failing, Manner::Answers),
            (45, Grade::Failing, Manner::Refuses),
            (68, Grade::Failing, Manner::Answers),
            (75, Grade::Poor, Manner::Answers),
            (90, Grade::Fine, Manner::Answers),
        ] {
            let world = world(seconds);
            let found = (world.grade(On::Thing("postgres")), world.manner("orders"));
            assert_eq!(found, (postgres, orders), "{seconds} s");
        }
    }

    #[test]
    fn who_leans_on_what_fails_fails_and_the_others_do_not() {
        assert_eq!(failing(&world(0)), Vec::<&str>::new());
        let hurt = failing(&world(53));
        for slug in ["catalog", "orders", "payments", "ledger", "accounts", "stock", "checkout"] {
            assert!(hurt.contains(&slug), "{slug} in {hurt:?}");
        }
        for slug in ["search", "fraud", "notifications", "payouts"] {
            assert!(!hurt.contains(&slug), "{slug} in {hurt:?}");
        }
        assert_eq!(failing(&world(150)), ["payouts"]);
        assert_eq!(failing(&world(240)), ["search"]);
        assert_eq!(failing(&world(335)), Vec::<&str>::new());
    }

    #[test]
    fn a_cause_is_noticed_before_its_effects_and_its_end_after_theirs() {
        for (seconds, own, noticed) in [
            (34, Grade::Failing, Grade::Poor),
            (42, Grade::Failing, Grade::Failing),
            (64, Grade::Failing, Grade::Failing),
            (68, Grade::Failing, Grade::Poor),
            (85, Grade::Poor, Grade::Fine),
        ] {
            let world = world(seconds);
            let found = (world.grade(On::Thing("postgres")), world.grade(On::Service("ledger")));
            assert_eq!(found, (own, noticed), "{seconds} s");
        }
    }

    #[test]
    fn a_poll_finds_a_cause_before_its_effects() {
        const END: i64 = 300;
        // From poll to poll.
        const POLL: i64 = 5;
        let told: Vec<World> = (-POLL..END + POLL).map(world).collect();
        let around = usize::try_from(2 * POLL).unwrap();
        let mut noticed = 0;
        for worlds in told.windows(around + 1) {
            let (before, now) = (&worlds[0], &worlds[around / 2]);
            for service in SERVICES {
                let grade = now.grade(On::Service(service.slug));
                if grade == Grade::Fine {
                    continue;
                }
                noticed += 1;
                let own = |world: &World| world.works_at(service, NOW, &mut Known::new());
                let at = now.story_ms() / 1_000;
                assert!(
                    worlds.iter().all(|world| own(world) >= grade),
                    "{} at {at} s",
                    service.slug
                );
            }
            if now.manner("orders") == Manner::Refuses {
                assert_eq!(before.grade(On::Thing("postgres")), Grade::Failing);
            }
        }
        assert!(noticed > 0);
    }

    #[test]
    fn the_third_party_flaps() {
        let grades: Vec<_> =
            (320..410).step_by(15).map(|at| world(at + 5).grade(On::Thing("textline"))).collect();
        let (down, up) = (Grade::Failing, Grade::Fine);
        assert_eq!(grades, [down, up, down, up, down, up]);
    }

    #[test]
    fn the_same_seed_and_moment_make_the_same_world() {
        for seconds in (-86_000..3_000).step_by(37) {
            assert_eq!(world(seconds), world(seconds));
            let same = world(seconds).stretch("a", "b");
            assert!((same - world(seconds).stretch("a", "b")).abs() < f64::EPSILON);
        }
        let other = World::at(Story { seed: 8 }, 0);
        assert_ne!(other.stretch("a", "b"), world(0).stretch("a", "b"));
    }
}
