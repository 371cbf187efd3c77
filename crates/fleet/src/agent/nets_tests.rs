//! What is loaded and kept, and what is refused.

use super::*;

fn id(number: u32) -> Id {
    format!("01a1e102-8087-7707-8707-{number:012x}").parse().unwrap()
}

fn loaded(generation: i64) -> Nets {
    let mut nets = Nets::default();
    assert_eq!(nets.load(id(1), generation, &json!({})), Ok(Loading::Anew));
    nets
}

fn seqs(found: &Found) -> Vec<u64> {
    found.results.iter().map(|one| one.seq).collect()
}

#[test]
fn a_net_is_loaded_once_and_anew_when_it_changes() {
    let mut nets = loaded(3);
    assert_eq!(nets.load(id(1), 3, &json!({})), Ok(Loading::Same));
    assert_eq!(nets.load(id(1), 3, &json!({ "services": [] })), Ok(Loading::Anew));
    assert_eq!(nets.load(id(1), 4, &json!({ "services": [] })), Ok(Loading::Anew));
    assert_eq!(nets.loaded(), [LoadedNet { id: id(1), generation: 4 }]);
}

#[test]
fn what_is_older_is_refused_even_after_the_net_has_gone() {
    let mut nets = loaded(3);
    let stale = |current| Err(NotDone::Stale { current });
    assert_eq!(nets.load(id(1), 2, &json!({})), stale(3).map(|()| Loading::Same));
    assert_eq!(nets.unload(id(1), 2), stale(3));
    nets.unload(id(1), 5).unwrap();
    assert_eq!(nets.load(id(1), 4, &json!({})), stale(5).map(|()| Loading::Same));
    assert_eq!(nets.load(id(1), 5, &json!({})), Ok(Loading::Anew));
    nets.unload(id(9), 1).expect("what is not loaded is fine");
}

#[test]
fn findings_are_kept_until_they_are_acknowledged() {
    let mut nets = loaded(1);
    for number in 0..3 {
        nets.keep(id(1), 1, json!({ "number": number }));
    }
    assert_eq!(seqs(&nets.results(id(1), 0).unwrap()), [1, 2, 3]);
    assert_eq!(seqs(&nets.results(id(1), 0).unwrap()), [1, 2, 3], "to be read is no receipt");
    assert_eq!(seqs(&nets.results(id(1), 2).unwrap()), [3]);
    assert_eq!(seqs(&nets.results(id(1), 0).unwrap()), [3]);
    assert_eq!(nets.results(id(2), 0), None);
}

#[test]
fn what_an_older_generation_found_is_dropped_and_numbers_go_on() {
    let mut nets = loaded(1);
    nets.keep(id(1), 1, json!(1));
    nets.load(id(1), 2, &json!({})).unwrap();
    nets.keep(id(1), 1, json!("late"));
    nets.keep(id(1), 2, json!(2));
    let found = nets.results(id(1), 0).unwrap();
    let kept: Vec<(u64, i64)> = found.results.iter().map(|one| (one.seq, one.generation)).collect();
    assert_eq!(kept, [(1, 1), (2, 2)]);
    nets.unload(id(1), 2).unwrap();
    nets.keep(id(1), 2, json!("later"));
    assert_eq!((nets.results(id(1), 0), nets.bytes), (None, 0));
}

#[test]
fn numbers_go_on_when_a_net_is_loaded_anew() {
    let mut nets = loaded(1);
    nets.keep(id(1), 1, json!(1));
    nets.unload(id(1), 2).unwrap();
    nets.load(id(1), 3, &json!({})).unwrap();
    nets.keep(id(1), 3, json!(2));
    assert_eq!(seqs(&nets.results(id(1), 1).unwrap()), [2], "who has the first sees the second");
}

#[test]
fn everything_has_a_bound() {
    let mut nets = loaded(1);
    for number in 0..MAX_KEPT + 10 {
        nets.keep(id(1), 1, json!(number));
    }
    let found = nets.results(id(1), 0).unwrap();
    assert_eq!((found.results.len(), found.results[0].seq, found.dropped), (MAX_PAGE, 11, 10));
    assert!(found.has_more);
    nets.keep(id(1), 1, json!("x".repeat(MAX_RESULT_BYTES)));
    let mut after = 0;
    loop {
        let page = nets.results(id(1), after).unwrap();
        after = page.results.last().unwrap().seq;
        if !page.has_more {
            assert!(page.results.last().unwrap().result["error"].is_string());
            break;
        }
    }
    nets.results(id(1), after).unwrap();
    assert_eq!(nets.bytes, 0);
    for _ in 0..600 {
        nets.keep(id(1), 1, json!("x".repeat(MAX_RESULT_BYTES - 10)));
    }
    assert!(nets.bytes <= MAX_KEPT_BYTES);
    let page = nets.results(id(1), 0).unwrap();
    assert!(page.results.len() < 20 && page.has_more, "a page is bounded in bytes too");
    for number in 2..=u32::try_from(MAX_NETS).unwrap() {
        nets.load(id(number), 1, &json!({})).unwrap();
    }
    assert_eq!(nets.load(id(5_000), 1, &json!({})), Err(NotDone::TooMany));
}

#[test]
fn when_all_of_them_keep_too_much_the_largest_gives_way() {
    let mut nets = loaded(1);
    nets.load(id(2), 1, &json!({})).unwrap();
    nets.keep(id(2), 1, json!("small and old"));
    for _ in 0..MAX_KEPT_BYTES / MAX_RESULT_BYTES + 9 {
        nets.keep(id(1), 1, json!("x".repeat(MAX_RESULT_BYTES - 10)));
    }
    for number in 0..9 {
        nets.keep(id(2), 1, json!(number));
    }
    assert!(nets.bytes <= MAX_KEPT_BYTES);
    let (large, small) = (nets.results(id(1), 0).unwrap(), nets.results(id(2), 0).unwrap());
    assert_eq!((small.results.len(), small.dropped), (10, 0));
    assert!(large.dropped >= 9, "{}", large.dropped);
    let kept = nets.nets.values().flat_map(|net| net.results.iter().map(|one| one.bytes));
    assert_eq!(nets.bytes, kept.sum::<usize>());
}

#[test]
fn what_was_dropped_is_told_until_it_is_acknowledged() {
    let mut nets = loaded(1);
    for number in 0..MAX_KEPT + 3 {
        nets.keep(id(1), 1, json!(number));
    }
    assert_eq!(nets.results(id(1), 0).unwrap().dropped, 3);
    let page = nets.results(id(1), 0).unwrap();
    assert_eq!(page.dropped, 3, "nobody has it yet");
    nets.keep(id(1), 1, json!("one more"));
    let next = nets.results(id(1), page.results.last().unwrap().seq).unwrap();
    assert_eq!(next.dropped, 1, "what was dropped since");
}
