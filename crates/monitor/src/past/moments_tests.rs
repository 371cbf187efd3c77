//! When it is looked for root causes: tables of what fell and recovered.

use super::*;

const SECOND: i64 = 1_000;

/// `S1 down` and `D1 well` are turns of a service and of a dependency, `-1` takes a service away.
fn moments(ill: &[&str], turns: &[(i64, &str)]) -> Moments {
    let mut moments = Moments { beginning: None, ..Moments::default() };
    moments.ill = ill.iter().map(|name| (thing(name), true)).collect();
    moments.beginning = (!ill.is_empty()).then_some(at(0));
    for (seconds, text) in turns {
        let (name, word) = text.split_once(' ').unwrap();
        let turn = match word {
            "down" => Turn::Down(thing(name)),
            "degraded" => Turn::Degraded(thing(name)),
            "gone" => Turn::Gone(thing(name).0),
            _ => Turn::Well(thing(name)),
        };
        moments.turns.entry(at(*seconds)).or_default().push(turn);
    }
    moments
}

fn thing(name: &str) -> Thing {
    let id = |number: u32| format!("01a1e102-8087-7707-8707-{number:012}").parse::<Id>().unwrap();
    let number: u32 = name[1..].parse().unwrap();
    if name.starts_with('S') { (id(number), None) } else { (id(99), Some(id(number))) }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * SECOND)
}

fn seconds(moments: Moments, most: usize) -> Vec<(i64, bool)> {
    let looks = moments.chosen(most).looks.into_iter();
    looks.map(|(at, is_anew)| (at.as_millis() / SECOND, is_anew)).collect()
}

#[test]
fn whoever_fell_is_looked_at_while_it_is_ill() {
    for (told, ill, turns, wanted) in [
        ("nothing", &[][..], &[][..], &[][..]),
        ("what is ill at the beginning", &["S1"], &[], &[(0, true)]),
        (
            "who falls one after the other is looked at once, when all have fallen",
            &[],
            &[(10, "D1 down"), (20, "S1 degraded"), (30, "S2 down"), (200, "D1 well")],
            &[(30, false)],
        ),
        (
            "what recovers before others fall was looked at before",
            &[],
            &[(10, "S1 down"), (15, "S1 well"), (20, "S2 down")],
            &[(10, false), (20, false)],
        ),
        (
            "one recovers at the moment at which another falls",
            &[],
            &[(10, "D1 down"), (20, "D1 well"), (20, "D2 down")],
            &[(10, false), (20, false)],
        ),
        (
            "a calm minute parts two, though the first still lasts",
            &[],
            &[(10, "S1 down"), (70, "S2 down")],
            &[(10, false), (70, false)],
        ),
        (
            "the same again, after a calm minute in which all was well",
            &[],
            &[(10, "D1 down"), (20, "D1 well"), (80, "D1 down"), (90, "D1 well")],
            &[(10, false), (80, true)],
        ),
        (
            "the same again, while something else was ill all the time",
            &["S9"],
            &[(10, "S1 down"), (20, "S1 well"), (80, "S1 down")],
            &[(0, true), (10, false), (80, true)],
        ),
        (
            "what fails and comes back within the minute goes on",
            &["S9"],
            &[(10, "S1 down"), (20, "S1 well"), (30, "S1 down")],
            &[(0, true), (10, false), (30, false)],
        ),
        (
            "a dependency that flaps says nothing anew of what else is ill",
            &["S9"],
            &[(10, "D1 down"), (20, "D1 well"), (99, "D1 down")],
            &[(0, true), (10, false), (99, false)],
        ),
        (
            "a service that is taken away is not ill any more",
            &["S1"],
            &[(10, "S1 gone"), (80, "S2 down")],
            &[(0, true), (80, true)],
        ),
        (
            "worse is news",
            &[],
            &[(10, "S1 degraded"), (99, "S1 down")],
            &[(10, false), (99, false)],
        ),
        ("better is none", &[], &[(10, "S1 down"), (99, "S1 degraded")], &[(10, false)]),
        ("up and down at once is neither", &[], &[(10, "S1 down"), (10, "S1 well")], &[]),
    ] {
        assert_eq!(seconds(moments(ill, turns), 40), wanted, "{told}");
    }
}

#[test]
fn where_there_are_too_many_the_outages_of_services_come_first_and_that_is_told() {
    let mut turns = Vec::new();
    // Every minute and a half a dependency fails for a moment, and in between six outages of services.
    for index in 0..60 {
        turns.extend([(index * 90, "D1 down"), (index * 90 + 5, "D1 well")]);
    }
    let outages = [1_000, 1_500, 2_000, 2_500, 3_000, 3_500];
    for outage in outages {
        turns.extend([(outage, "S1 down"), (outage + 7, "S1 well")]);
    }
    let whole = moments(&[], &turns).chosen(100);
    assert_eq!((whole.looks.len(), whole.cut), (66, None));
    let chosen = moments(&[], &turns).chosen(10);
    assert_eq!(chosen.looks.len(), 10);
    for outage in outages {
        assert!(chosen.looks.iter().any(|(moment, _)| *moment == at(outage)), "{outage}");
    }
    assert!(chosen.looks.is_sorted(), "{chosen:?}");
    let (count, first) = chosen.cut.unwrap();
    assert_eq!(count, 66);
    assert!(!chosen.looks.iter().any(|(moment, _)| *moment == first), "{chosen:?}");
}

#[test]
fn moments_are_spread_from_the_first_to_the_last() {
    let many: Vec<Timestamp> = (0..100).map(at).collect();
    let few = spread(&many, 6);
    assert_eq!((few.len(), few[0], few[5]), (6, at(0), at(99)));
    assert_eq!(spread(&many[..3], 6), many[..3]);
    for (most, wanted) in [(0, 0), (1, 1), (2, 2)] {
        assert_eq!(spread(&many, most).len(), wanted);
    }
    assert_eq!(spread(&[], 6), Vec::<Timestamp>::new());
}
