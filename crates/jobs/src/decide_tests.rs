use super::*;
use proptest::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

fn kind(name: &str) -> Kind {
    Kind::new(name).unwrap()
}

fn bucket(name: &str, priority: i64, due_for: Option<u64>, is_suspect: bool) -> Bucket {
    Bucket {
        kind: kind(name),
        priority,
        due_for: due_for.map(Duration::from_secs),
        due_in: if due_for.is_some() { Duration::ZERO } else { 9 * SECOND },
        is_suspect,
    }
}

fn load(held: u32) -> Load {
    Load { held, concurrency: 4, runs_suspect: false }
}

#[test]
fn the_waits_are_30_120_and_480_seconds_give_or_take_a_fifth() {
    for (attempt, least, most) in
        [(1, 24_000, 36_000), (2, 96_000, 144_000), (3, 384_000, 576_000), (9, 384_000, 576_000)]
    {
        assert_eq!(retry_wait(attempt, None, 0), Duration::from_millis(least));
        let reach = most - least;
        assert_eq!(retry_wait(attempt, None, reach), Duration::from_millis(most));
        assert_eq!(retry_wait(attempt, None, reach / 2), Duration::from_millis(least + reach / 2));
    }
}

#[test]
fn a_providers_retry_after_is_a_floor() {
    for (asked, waited) in [(5, 24), (24, 24), (300, 300), (u64::MAX, MAX_WAIT.as_secs())] {
        let wait = retry_wait(1, Some(Duration::from_secs(asked)), 0);
        assert_eq!(wait, Duration::from_secs(waited), "{asked}");
    }
}

#[test]
fn retriable_fatal_and_put_off_are_told_apart() {
    let retriable = JobError::retriable("s3_read_failed", "no answer");
    let fatal = JobError::fatal("empty_original_transcript", "nothing in it");
    let failure = text::failure("s3_read_failed", "no answer");
    assert_eq!(
        after_error(&retriable, 3, 4, 0),
        Verdict::Retry { wait: Duration::from_secs(384), failure: failure.clone() }
    );
    assert_eq!(after_error(&retriable, 4, 4, 0), Verdict::Fail { failure });
    assert!(matches!(after_error(&fatal, 1, 4, 0), Verdict::Fail { .. }));
    let put_off = JobError::PutOff { wait: 7 * SECOND };
    assert_eq!(after_error(&put_off, 4, 4, 0), Verdict::PutOff { wait: 7 * SECOND });
}

fn unknown(_: &Kind) -> Option<Duration> {
    None
}

#[test]
fn the_smallest_priority_comes_first_then_the_longest_due() {
    let buckets = [
        bucket("late", 0, Some(9), false),
        bucket("urgent", -5, Some(1), false),
        bucket("soon", -9, None, false),
        bucket("urgent_too", -5, Some(3), false),
    ];
    let Plan::Claim(plan) = plan(&buckets, load(1), unknown) else { panic!() };
    assert_eq!((plan.kind.as_str(), plan.limit, plan.alone), ("urgent_too", 3, false));
}

#[test]
fn a_runner_with_nothing_due_waits_for_the_next() {
    assert_eq!(plan(&[], load(0), unknown), Plan::Wait(None));
    let later = [bucket("a", 0, None, false)];
    assert_eq!(plan(&later, load(0), unknown), Plan::Wait(Some(9 * SECOND)));
    let due = [bucket("a", 0, Some(1), false)];
    assert_eq!(plan(&due, load(4), unknown), Plan::Full);
}

#[test]
fn a_suspect_is_claimed_alone_by_an_idle_runner() {
    let buckets = [bucket("a", 0, Some(1), true)];
    let Plan::Claim(alone) = plan(&buckets, load(0), unknown) else { panic!() };
    assert_eq!((alone.limit, alone.alone), (1, true));
    let with_suspect = Load { runs_suspect: true, ..load(1) };
    let others = [bucket("b", 0, Some(1), false)];
    assert_eq!(plan(&others, with_suspect, unknown), Plan::Full);
}

/// What a runner with so many jobs does about a suspect that is due for so many seconds, beside
/// another kind that is due for one.
#[test]
fn a_busy_runner_leaves_a_suspect_for_a_while_and_goes_on() {
    let patience = SUSPECT_WAITS.as_secs();
    let others = |limit| Some(("a", limit, false));
    for (held, due_for, wanted) in [
        (0, 5, Some(("a", 1, true))),
        (0, patience, Some(("a", 1, true))),
        // The suspect's own bucket: what stands behind it, without the suspect.
        (1, 5, others(3)),
        (3, patience - 1, others(1)),
        (1, patience, None),
        (3, patience * 9, None),
    ] {
        let buckets = [bucket("a", 0, Some(due_for), true), bucket("b", 0, Some(1), false)];
        let claimed = match plan(&buckets, load(held), unknown) {
            Plan::Claim(plan) => Some((plan.kind.as_str().to_owned(), plan.limit, plan.alone)),
            Plan::Drain => None,
            other => panic!("{other:?}"),
        };
        let wanted = wanted.map(|(kind, limit, alone)| (kind.to_owned(), limit, alone));
        assert_eq!(claimed, wanted, "{held} {due_for}");
        let only_others = plan(&buckets[1..], load(held), unknown);
        assert!(matches!(only_others, Plan::Claim(plan) if !plan.alone), "{held}");
    }
}

#[test]
fn a_suspect_of_less_priority_stops_nobody() {
    let buckets = [bucket("a", 5, Some(9_999), true), bucket("b", 0, Some(1), false)];
    let Plan::Claim(first) = plan(&buckets, load(1), unknown) else { panic!() };
    assert_eq!((first.kind.as_str(), first.alone), ("b", false));
}

#[test]
fn only_quick_jobs_are_fetched_ahead() {
    for (mean, held, limit) in [
        (None, 0, 4),
        (Some(60 * SECOND), 0, 4),
        (Some(60 * SECOND), 3, 1),
        (Some(60 * SECOND), 4, 0),
        (Some(Duration::from_millis(10)), 0, 24),
        (Some(Duration::from_millis(10)), 23, 0),
        (Some(Duration::from_micros(1)), 0, MAX_BATCH),
        (Some(Duration::from_micros(1)), MAX_HELD, 0),
    ] {
        assert_eq!(claim_limit(load(held), mean), limit, "{mean:?} {held}");
    }
}

#[test]
fn what_is_marked_as_begun_is_begun_within_a_moment() {
    for (mean, limit) in [
        (None, 4),
        (Some(SECOND), 4),
        (Some(Duration::from_millis(1)), 12),
        (Some(Duration::from_nanos(1)), MAX_BATCH),
    ] {
        assert_eq!(start_limit(4, mean), limit, "{mean:?}");
    }
}

#[test]
fn a_lease_is_given_up_before_another_may_have_it() {
    let ttl = 300 * SECOND;
    assert_eq!(heartbeat_every(ttl), 100 * SECOND);
    assert_eq!(lease_trusted_for(ttl), 250 * SECOND);
    assert!(lease_trusted_for(ttl) + cancel_patience(ttl) < ttl);
    assert!(heartbeat_every(ttl) * 2 < lease_trusted_for(ttl), "one heartbeat may fail");
}

proptest! {
    #[test]
    fn every_wait_is_within_its_bounds(attempt in 0_u32..50, after in 0_u64..u64::MAX, chance: u64) {
        let wait = retry_wait(attempt, Some(Duration::from_secs(after)), chance);
        prop_assert!(wait >= Duration::from_secs(24) && wait <= MAX_WAIT);
    }

    #[test]
    fn a_claim_never_exceeds_the_room(held in 0_u32..2_000, concurrency in 1_u32..200, nanos: u64) {
        let load = Load { held, concurrency, runs_suspect: false };
        let limit = claim_limit(load, Some(Duration::from_nanos(nanos)));
        prop_assert!(limit <= MAX_BATCH);
        prop_assert!(limit == 0 || held + limit <= MAX_HELD.max(concurrency));
    }
}
