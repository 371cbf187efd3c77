use super::*;
use crate::kept::Trigger;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000)
}

fn id(number: u32) -> Id {
    format!("019a8b3c-0000-7000-8000-{number:012}").parse().unwrap()
}

/// A run of a second for each letter, every ten seconds.
fn journey(runs: &str) -> JourneyView {
    let strip = runs.chars().enumerate().map(|(index, letter)| RunMark {
        id: id(1),
        status: match letter {
            'p' => RunStatus::Passed,
            'f' => RunStatus::Failed,
            's' => RunStatus::Skipped,
            'a' => RunStatus::Aborted,
            _ => RunStatus::Running,
        },
        at: at(i64::try_from(index).unwrap() * 10),
        duration_ms: "pf".contains(letter).then_some(1_000.0),
    });
    JourneyView {
        id: id(1),
        name: "Pay".to_owned(),
        generation: 1,
        is_enabled: true,
        every_ms: Some(10_000),
        touches: vec![],
        outcome: None,
        outcome_since: None,
        failed_message: None,
        failed_run_id: None,
        next_run_at: None,
        not_run_since: None,
        strip: strip.collect(),
        created_at: at(0),
        updated_at: at(0),
    }
}

/// What those runs say: each took a second.
fn past(journey: &JourneyView) -> Past {
    let judged = journey.strip.iter().rfind(|mark| mark.status.outcome().is_some());
    Past {
        judged_at: judged.map(|mark| mark.at.plus(std::time::Duration::from_secs(1))),
        first_at: journey.strip.first().map(|mark| mark.at),
    }
}

#[test]
fn a_journey_that_nothing_is_known_of_any_more_says_since_when() {
    for (runs, now, since) in [
        ("", 1_000, None),
        ("p", 5, None),
        ("pp", 45, None),
        ("pp", 47, Some(11)),
        ("pf", 47, Some(11)),
        ("ppss", 31, None),
        ("pprss", 41, None),
        ("pprsss", 52, Some(11)),
        ("pprsssp", 62, None),
        ("ppaaa", 41, Some(11)),
        ("r", 30, None),
        ("r", 36, Some(0)),
        ("rsss", 31, Some(0)),
    ] {
        let journey = journey(runs);
        let told = not_run_since(&journey, past(&journey), at(now));
        assert_eq!(told, since.map(at), "{runs} at {now}");
    }
}

#[test]
fn what_was_skipped_for_longer_than_the_strip_is_not_run_since_the_same_time() {
    let skips = journey(&"s".repeat(60));
    let known = Past { judged_at: Some(at(-5_000)), first_at: Some(at(-9_000)) };
    assert_eq!(not_run_since(&skips, known, at(600)), Some(at(-5_000)));
    let unjudged = Past { judged_at: None, ..known };
    assert_eq!(not_run_since(&skips, unjudged, at(600)), Some(at(-9_000)));
}

#[test]
fn what_was_skipped_while_a_run_was_under_way_is_not_missed_once_that_has_ended() {
    let journey = journey("psss");
    let ended = Past { judged_at: Some(at(31)), first_at: Some(at(0)) };
    assert_eq!(not_run_since(&journey, ended, at(35)), None);
}

#[test]
fn what_is_off_by_hand_or_just_edited_is_not_missed() {
    let off = JourneyView { is_enabled: false, ..journey("p") };
    let by_hand = JourneyView { every_ms: None, ..journey("p") };
    let edited = JourneyView { updated_at: at(990), ..journey("p") };
    for (journey, since) in [(off, None), (by_hand, None), (edited, None), (journey("p"), Some(1))]
    {
        assert_eq!(not_run_since(&journey, past(&journey), at(1_000)), since.map(at));
    }
}

#[test]
fn a_skipped_run_says_what_is_true_of_the_one_before() {
    let run = |status, started| RunView {
        id: id(1),
        journey_id: id(2),
        journey_name: "Pay".to_owned(),
        generation: 1,
        trigger: Trigger::Schedule,
        status,
        created_at: at(10),
        started_at: started,
        finished_at: None,
        duration_ms: None,
        message: None,
    };
    let running = skipped(Some(&run(RunStatus::Running, Some(at(12)))), at(42));
    assert!(running.contains("under way for 30 s") && running.contains("given up"), "{running}");
    let waiting = skipped(Some(&run(RunStatus::Queued, None)), at(42));
    assert!(waiting.contains("waits for a runner for 32 s"), "{waiting}");
    assert!(!waiting.contains("longer interval"), "{waiting}");
    assert!(skipped(None, at(0)).starts_with("the run before it had not ended"));
}

fn entry(number: u32, name: &str, is_enabled: bool, outcome: Option<RunOutcome>) -> Entry {
    let failed_message =
        (outcome == Some(RunOutcome::Failed)).then(|| "status: got 503".to_owned());
    let touches = vec![format!("Service {number}")];
    Entry { id: id(number), name: name.to_owned(), touches, is_enabled, outcome, failed_message }
}

fn entries() -> Vec<Entry> {
    let (passed, failed) = (Some(RunOutcome::Passed), Some(RunOutcome::Failed));
    vec![
        entry(1, "Old and failing", true, failed),
        entry(2, "Päy", true, passed),
        entry(3, "Off", false, failed),
        entry(4, "New", true, None),
        entry(5, "Sign in", true, passed),
    ]
}

#[test]
fn failing_journeys_come_first_over_all_pages() {
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let (ids, next) = page(&entries(), "", after, 2);
        seen.extend(ids);
        let Some(next) = next else { break };
        // As it goes to the caller and back.
        after = Some(next.to_string().parse().unwrap());
    }
    assert_eq!(seen, [1, 4, 5, 2, 3].map(id));
}

#[test]
fn every_word_of_a_search_must_be_seen_in_any_case() {
    for (search, found) in [
        ("PÄY", &[2][..]),
        ("service 4", &[4]),
        ("failing", &[1, 3]),
        ("failing off", &[3]),
        ("503 old", &[1]),
        ("nothing", &[]),
        ("  ", &[1, 4, 5, 2, 3]),
    ] {
        let expected: Vec<Id> = found.iter().map(|number| id(*number)).collect();
        assert_eq!(page(&entries(), search, None, 10), (expected, None), "{search}");
    }
}

#[test]
fn what_is_no_place_is_refused() {
    for text in ["", "0", "x.y", "0.x", &format!("300.{}", id(1))] {
        assert!(text.parse::<Place>().is_err(), "{text}");
    }
}

#[test]
fn only_a_journey_that_is_switched_on_is_shown_as_failing() {
    let (passed, failed) = (Some(RunOutcome::Passed), Some(RunOutcome::Failed));
    for (before, now, expected) in [
        ((true, None), (true, failed), Some(Turn::Fails)),
        ((true, passed), (true, failed), Some(Turn::Fails)),
        ((true, failed), (true, failed), None),
        ((true, failed), (true, passed), Some(Turn::Ends)),
        ((true, failed), (false, failed), Some(Turn::Ends)),
        ((false, failed), (true, failed), Some(Turn::Fails)),
        ((false, None), (false, failed), None),
        ((false, failed), (false, passed), None),
        ((true, passed), (false, passed), None),
        ((true, None), (false, None), None),
    ] {
        assert_eq!(turn(before, now), expected, "{before:?} {now:?}");
    }
}
