//! What a good model writes of the call.

use serde_json::{Value, json};

use super::{Call, Facts, clock, date, days_after, days_to_friday, timecode};
use mainstay_base::Timestamp;

/// The report of a call, as `schemas/report/v1.json` has it.
pub(super) fn write(call: &Call) -> Value {
    let facts = &call.facts;
    let claim = |text: &str, words: &str| json!({ "text": text, "evidence": proof(call, words) });
    json!({
        "title": "PostgreSQL main ran out of connections: nobody could order, pay or sign in",
        "summary": summary(facts),
        "impact": claim(
            &format!("For {} minutes nobody could order, pay or sign in. No data was lost.", facts.minutes()),
            "nobody could order, pay or sign in for",
        ),
        "severity": "critical",
        "started_at": minute(facts.slows),
        "ended_at": minute(facts.over),
        "timeline": timeline(call),
        "root_causes": [claim(
            "The export of stock levels opened a connection for every warehouse and kept them: its pool has no upper limit.",
            "It opened a connection for every warehouse and kept them all, because its pool has no upper limit.",
        )],
        "contributing_factors": [claim(
            "Nothing warned of the connections running out: it was noticed when there were none.",
            "We have no alert on free connections.",
        )],
        "what_went_well": [
            claim(
                "Eleven services failed, and one cause was shown: nobody looked for it at Checkout.",
                "Mainstay showed eleven services in trouble and one root cause, PostgreSQL main",
            ),
            claim("Nobody restarted a service that only suffered.", "nobody restarted the wrong service"),
        ],
        "actions": actions(call),
        "affected_dependencies": affected(call),
        "open_questions": [{
            "question": "Why did Orders answer 503, when Catalog, which leans on the same database, only got slow?",
            "evidence": proof(call, "why did Orders give up, when Catalog only got slow?"),
        }],
    })
}

fn summary(facts: &Facts) -> String {
    let [slows, fails, answers, over] =
        [facts.slows, facts.fails, facts.answers, facts.over].map(clock);
    format!(
        "An export of stock levels took every connection of the shared PostgreSQL cluster. It was slow from {slows} UTC on and had \
         none left from {fails} to {answers} UTC. Six services lean on it by themselves and five more through those, so eleven \
         of fourteen were in trouble. Stopping the export brought it back; at {over} UTC all was well."
    )
}

fn timeline(call: &Call) -> Vec<Value> {
    let Facts { slows, fails, orders_refuses, orders_answers, answers, over } = call.facts;
    [
        (slows, "PostgreSQL main gets slow: six services wait for connections.", "PostgreSQL main got slow."),
        (fails, "It has no connections left. Eleven services are in trouble.", "it had no connections left."),
        (orders_refuses, "Orders gives up and answers 503.", "Orders gave up altogether"),
        (orders_answers, "The export is stopped, and Orders answers again.", "I stopped the export"),
        (answers, "Everybody gets connections again, slowly.", "everybody got connections, still slowly"),
        (over, "All is well.", "all was well."),
    ]
    .map(|(at, what, words)| {
        json!({ "at": minute(at), "what": what, "evidence": proof(call, words) })
    })
    .to_vec()
}

fn actions(call: &Call) -> Vec<Value> {
    let day = call.facts.slows;
    let friday = days_to_friday(day);
    [
        (
            "Linus",
            "Give the export of stock levels a pool of five connections.",
            1,
            "a pool of five connections",
        ),
        (
            "Grace",
            "Limit every role of PostgreSQL main to 60 connections.",
            friday,
            "I will limit every role",
        ),
        ("Ada", "Find out why Orders gave up.", friday, "I will find out why Orders gave up"),
        (
            "Grace",
            "Add an alert on free connections.",
            friday + 7,
            "And I add an alert on free connections",
        ),
    ]
    .map(|(owner, action, days, words)| {
        let due = days_after(day, days);
        json!({ "owner": owner, "action": action, "due": due, "evidence": proof(call, words) })
    })
    .to_vec()
}

fn affected(call: &Call) -> Vec<Value> {
    [
        ("PostgreSQL main", "Slow, then without connections: the cause of everything else.", "it had no connections left."),
        ("Orders", "Answered 503: nobody could order.", "answered 503"),
        ("Checkout", "Showed errors to everybody.", "Checkout and Storefront showed errors"),
        ("Storefront", "Showed errors to everybody.", "Checkout and Storefront showed errors"),
    ]
    .map(|(name, effect, words)| json!({ "name": name, "effect": effect, "evidence": proof(call, words) }))
    .to_vec()
}

/// Words of the call, with the time at which they were said.
fn proof(call: &Call, words: &str) -> Value {
    let said = call.cues.iter().find(|cue| cue.text.contains(words));
    let quote = said.map_or(words, |cue| sentence(&cue.text, words));
    json!([{ "quote": quote, "timecode": said.map(|cue| timecode(cue.second)) }])
}

/// The sentences that the words stand in, whole.
fn sentence<'a>(text: &'a str, words: &str) -> &'a str {
    let Some(begins) = text.find(words) else { return text };
    let ends = begins.saturating_add(words.len());
    let from = text.get(..begins).and_then(|before| before.rfind(". ")).map_or(0, |at| at + 2);
    let rest = text.get(ends..).unwrap_or_default();
    let to =
        if words.ends_with(['.', '?']) { Some(0) } else { rest.find(['.', '?']).map(|at| at + 1) };
    text.get(from..ends.saturating_add(to.unwrap_or(rest.len()))).unwrap_or(text)
}

/// To the minute, as people tell it.
fn minute(at: Timestamp) -> String {
    format!("{}T{}:00Z", date(at), clock(at))
}
