use super::*;
use crate::company::On;
use crate::world::{Grade, Manner, World};

const NOW: Timestamp = Timestamp::from_millis(1_794_776_400_000);

fn call(seed: u64) -> Call {
    Call::about(Story { seed }, NOW).unwrap()
}

fn evidence(value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(object) => {
            if let (Some(quote), Some(at)) = (object.get("quote"), object.get("timecode")) {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                found.push((text(quote), text(at)));
            }
            object.values().for_each(|one| evidence(one, found));
        }
        Value::Array(items) => items.iter().for_each(|one| evidence(one, found)),
        _ => {}
    }
}

#[test]
fn it_tells_what_was_so_at_the_time_that_it_names() {
    for seed in 0..50 {
        let (story, facts) = (Story { seed }, call(seed).facts);
        let world = |at: Timestamp| World::at(story, at.as_millis() - NOW.as_millis());
        let postgres = |at: Timestamp| world(at).grade(On::Thing("postgres"));
        let orders = |at: Timestamp| world(at).manner("orders");
        assert_eq!(postgres(facts.slows), Grade::Poor, "{seed}");
        assert_eq!(postgres(facts.fails), Grade::Failing, "{seed}");
        assert_eq!(orders(facts.orders_refuses), Manner::Refuses, "{seed}");
        assert_eq!(orders(facts.orders_answers), Manner::Answers, "{seed}");
        assert_eq!(postgres(facts.answers), Grade::Poor, "{seed}");
        assert_eq!(postgres(facts.over), Grade::Fine, "{seed}");
        let (from, to) = call(seed).span();
        assert!(from < facts.slows && facts.over < to && to < NOW, "{seed}");
    }
}

#[test]
fn every_quote_was_said_when_the_report_says() {
    let call = call(7);
    let mut found = Vec::new();
    evidence(&call.report(), &mut found);
    assert!(found.len() > 15);
    for (quote, at) in found {
        let said = call.cues.iter().find(|cue| timecode(cue.second) == at);
        assert!(said.is_some_and(|cue| cue.text.contains(&quote)), "{at} {quote}");
    }
}

#[test]
fn what_is_to_be_done_is_due_after_the_call_and_by_a_friday() {
    for seed in 0..50 {
        let call = call(seed);
        let report = call.report();
        for action in report["actions"].as_array().unwrap() {
            assert!(action["due"].as_str() > Some(&date(call.facts.slows)), "{action}");
            assert!(action["owner"].is_string(), "{action}");
        }
    }
    for (day, days) in [(0, 8), (1, 7), (2, 6), (3, 5), (4, 4), (5, 3), (6, 2)] {
        let at = Timestamp::from_millis(day * DAY_MS);
        assert_eq!(days_to_friday(at), days, "{day}");
        assert_eq!((day + days).rem_euclid(7), 1, "{day} is a Thursday and so many days");
    }
    assert_eq!(days_after(NOW, 1), "2026-11-16");
}

#[test]
fn a_question_about_it_is_known_and_another_is_not() {
    let call = call(7);
    let transcript = call.transcript();
    assert!(transcript.starts_with("WEBVTT\n\n00:00:04.000 --> 00:00:14.000\n<v Ada>Let us"));
    assert!(call.is_asked_about(&transcript));
    assert!(!call.is_asked_about(&transcript.replace("export", "import")));
    assert!(!call.is_asked_about("WEBVTT"));
    assert_eq!(call.file_name(), format!("incident-call-{}.vtt", date(call.facts.slows)));
}
