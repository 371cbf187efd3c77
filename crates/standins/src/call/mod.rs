//! The call about an incident of the story's past: what was said in it ([`Call::transcript`]), and what a
//! good model writes of that (`report`). Its times are those at which the past was looked at, so that it
//! tells what was recorded.

mod report;

use std::fmt::Write as _;

use mainstay_base::Timestamp;
use serde_json::Value;

use crate::story::{Act, Story};

/// How much before the incident and after it belongs to it.
const AROUND_MS: i64 = 3 * 60 * 1_000;
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
/// How long it takes to say one thing, and when the first is said.
const CUE_SECONDS: usize = 11;
const FIRST_SECOND: usize = 4;

/// The call about the time when the shared database had no connections left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    facts: Facts,
    cues: Vec<Cue>,
}

/// When what happened, as it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Facts {
    slows: Timestamp,
    fails: Timestamp,
    orders_refuses: Timestamp,
    orders_answers: Timestamp,
    answers: Timestamp,
    over: Timestamp,
}

/// Something that somebody said.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cue {
    second: usize,
    speaker: &'static str,
    text: String,
}

impl Call {
    /// The call about the incident in the past of a story whose zero is `now`.
    #[must_use]
    pub fn about(story: Story, now: Timestamp) -> Option<Self> {
        let incident = story.in_the_past(Act::DatabaseSlows)?;
        let looks = story.past();
        // Whatever happens is known from the next look on.
        let seen = |thousandths: i64| {
            let happened = incident.from + incident.length * thousandths / 1_000;
            let look = looks.iter().find(|look| **look >= happened).copied();
            Timestamp::from_millis(now.as_millis().saturating_add(look.unwrap_or(happened)))
        };
        let facts = Facts {
            slows: seen(0),
            fails: seen(220),
            orders_refuses: seen(330),
            orders_answers: seen(640),
            answers: seen(750),
            over: seen(1_000),
        };
        Some(Self { facts, cues: facts.cues() })
    }

    /// The time of the incident, with a little around it.
    #[must_use]
    pub const fn span(&self) -> (Timestamp, Timestamp) {
        let (from, to) = (self.facts.slows.as_millis(), self.facts.over.as_millis());
        (Timestamp::from_millis(from - AROUND_MS), Timestamp::from_millis(to + AROUND_MS))
    }

    /// What its file is called.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("incident-call-{}.vtt", date(self.facts.slows))
    }

    /// All that was said, as WebVTT.
    #[must_use]
    pub fn transcript(&self) -> String {
        let mut text = "WEBVTT\n".to_owned();
        for Cue { second, speaker, text: said } in &self.cues {
            let (from, to) = (timecode(*second), timecode(second + CUE_SECONDS - 1));
            // Writing to a text can't fail.
            let _ = write!(text, "\n{from}.000 --> {to}.000\n<v {speaker}>{said}\n");
        }
        text
    }

    /// Whether a question to a model holds all that was said in this call.
    #[must_use]
    pub fn is_asked_about(&self, question: &str) -> bool {
        self.cues.iter().all(|cue| question.contains(&cue.text))
    }

    /// The report that a good model writes of it.
    #[must_use]
    pub fn report(&self) -> Value {
        report::write(self)
    }
}

impl Facts {
    /// What was said. Ada is on call for the shop, Grace for the platform, Linus looks after Stock.
    fn cues(&self) -> Vec<Cue> {
        let [slows, fails, refuses, orders, answers, over] = [
            self.slows,
            self.fails,
            self.orders_refuses,
            self.orders_answers,
            self.answers,
            self.over,
        ]
        .map(clock);
        let minutes = self.minutes();
        let said = [
            ("Ada", "Let us go through it in order, for the record. Checkout and Storefront showed errors to everybody.".to_owned()),
            ("Grace", format!("At {slows} UTC PostgreSQL main got slow. Orders, Catalog, Payments, Ledger, Accounts and Stock all waited more than a second for a connection.")),
            ("Grace", format!("At {fails} it had no connections left. Mainstay showed eleven services in trouble and one root cause, PostgreSQL main, so nobody lost time on Checkout.")),
            ("Ada", format!("Orders gave up altogether at {refuses} and answered 503. From then on no order went through.")),
            ("Linus", "That was our export of stock levels. It opened a connection for every warehouse and kept them all, because its pool has no upper limit.".to_owned()),
            ("Grace", "We have no alert on free connections. We only noticed when the pools of the services were empty.".to_owned()),
            ("Linus", format!("I stopped the export, and at {orders} Orders answered again.")),
            ("Grace", format!("At {answers} everybody got connections, still slowly, and at {over} all was well.")),
            ("Ada", "The graph named the database at once, and nobody restarted the wrong service.".to_owned()),
            ("Ada", format!("Impact, for the record: nobody could order, pay or sign in for {minutes} minutes. No data was lost.")),
            ("Ada", "What I do not understand: why did Orders give up, when Catalog only got slow? They lean on the same database.".to_owned()),
            ("Linus", "I will give the export a pool of five connections, by tomorrow.".to_owned()),
            ("Grace", "I will limit every role of PostgreSQL main to 60 connections, by Friday.".to_owned()),
            ("Grace", "And I add an alert on free connections, by the end of next week.".to_owned()),
            ("Ada", "I will find out why Orders gave up, by Friday too. Thank you all.".to_owned()),
        ];
        let cue = |(place, (speaker, text)): (usize, (&'static str, String))| Cue {
            second: FIRST_SECOND + place * CUE_SECONDS,
            speaker,
            text,
        };
        said.into_iter().enumerate().map(cue).collect()
    }

    /// For how long there were no connections.
    fn minutes(&self) -> u64 {
        (self.answers.since(self.fails).as_secs() / 60).max(1)
    }
}

/// The time of day: `21:04`.
fn clock(at: Timestamp) -> String {
    at.to_string().get(11..16).unwrap_or_default().to_owned()
}

/// The day: `2026-11-15`.
fn date(at: Timestamp) -> String {
    at.to_string().get(..10).unwrap_or_default().to_owned()
}

/// The day so many days later.
fn days_after(at: Timestamp, days: i64) -> String {
    date(Timestamp::from_millis(at.as_millis().saturating_add(days.saturating_mul(DAY_MS))))
}

/// How many days later the next Friday is that leaves a day of work before it.
const fn days_to_friday(at: Timestamp) -> i64 {
    // The first day of 1970 was a Thursday.
    let weekday = at.as_millis().div_euclid(DAY_MS).rem_euclid(7);
    match weekday {
        0 => 8,
        1 => 7,
        later => 8 - later,
    }
}

fn timecode(second: usize) -> String {
    format!("00:{:02}:{:02}", second / 60, second % 60)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
