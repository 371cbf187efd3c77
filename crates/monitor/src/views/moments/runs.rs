//! Facts of one thing that follow each other soon and in one direction are one run. Pure.

use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_graph::Status;

use super::facts::{Fact, Subject};

/// What follows so soon is of the same moment.
pub(super) const GAP: Duration = Duration::from_mins(1);

/// Which way something changed. What Mainstay itself did not know, or knows again, has no cause among
/// the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Way {
    Worse,
    Better,
    Unknown,
    Known,
}

/// What became of one thing within a short time.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// The name of the thing, as it is compared.
    pub(super) key: String,
    pub(super) way: Way,
    /// At least one, in the order of time.
    pub(super) facts: Vec<Fact>,
    /// When it changed another way.
    pub(super) over: Option<Timestamp>,
}

/// What became of a subject.
pub(super) fn runs(key: &str, subject: &Subject) -> Vec<Run> {
    let own = split(key, &subject.own);
    let reported = split(key, &subject.reported);
    let is_told = |run: &Run| own.iter().any(|own| own.way == run.way && own.is_near(run));
    let untold: Vec<Run> = reported.into_iter().filter(|run| !is_told(run)).collect();
    own.into_iter().chain(untold).collect()
}

impl Run {
    pub(super) fn start(&self) -> Timestamp {
        self.facts.first().map_or(Timestamp::from_millis(0), |fact| fact.at)
    }

    pub(super) fn last(&self) -> Timestamp {
        self.facts.last().map_or(Timestamp::from_millis(0), |fact| fact.at)
    }

    /// When it came to be what it was at the end.
    pub(super) fn settled(&self) -> Timestamp {
        let end = self.facts.last().map(|fact| fact.after);
        let same = self.facts.iter().rev().take_while(|fact| Some(fact.after) == end);
        same.last().map_or(Timestamp::from_millis(0), |fact| fact.at)
    }

    pub(super) fn number(&self) -> i64 {
        self.facts.first().map_or(0, |fact| fact.number)
    }

    /// Everything that it was, one after the other.
    pub(super) fn path(&self) -> Vec<Option<Status>> {
        let before = self.facts.first().and_then(|fact| fact.before);
        let mut path = vec![before];
        for fact in &self.facts {
            if path.last() != Some(&Some(fact.after)) {
                path.push(Some(fact.after));
            }
        }
        path
    }

    /// Whether it can be because of `cause`: within a short time, and while that held.
    pub(super) fn can_follow(&self, cause: &Self) -> bool {
        let held = |one: &Self, at: Timestamp| one.over.is_none_or(|over| over >= at);
        self.way == cause.way
            && self.is_near(cause)
            && held(cause, self.start())
            && held(self, cause.start())
    }

    /// Whether it lasted when `later` began, at whatever distance.
    pub(super) fn lasts_until(&self, later: &Self) -> bool {
        self.way == later.way
            && self.start() <= later.start()
            && self.over.is_none_or(|over| over > later.start())
    }

    /// How far apart both began.
    pub(super) fn distance(&self, other: &Self) -> Duration {
        self.start().since(other.start()).max(other.start().since(self.start()))
    }

    fn is_near(&self, other: &Self) -> bool {
        self.start().since(other.last()) <= GAP && other.start().since(self.last()) <= GAP
    }
}

fn split(key: &str, facts: &[Fact]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for fact in facts {
        let way = way(fact);
        match runs.last_mut() {
            Some(last) if last.way == way && fact.at.since(last.last()) <= GAP => {
                last.facts.push(*fact);
                continue;
            }
            _ => {}
        }
        let held = runs.iter_mut().rev().take_while(|run| run.over.is_none() && run.way != way);
        held.for_each(|run| run.over = Some(fact.at));
        runs.push(Run { key: key.to_owned(), way, facts: vec![*fact], over: None });
    }
    runs
}

fn way(fact: &Fact) -> Way {
    match (fact.before, fact.after) {
        (_, Status::Unknown) => Way::Unknown,
        (Some(Status::Down), Status::Degraded) => Way::Better,
        (_, Status::Degraded | Status::Down) => Way::Worse,
        (Some(Status::Unknown), _) => Way::Known,
        (_, Status::Healthy | Status::Skipped) => Way::Better,
    }
}
