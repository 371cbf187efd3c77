use super::*;
use proptest::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

fn kind(name: &str) -> Kind {
    Kind::new(name).unwrap()
}

fn bucket(name: &str, priority: i64, due_for: Option<u64>, crashes: u32) -> Bucket {
    Bucket {
        kind: kind(name),
        priority,
        due_for: due_for.map(Duration::from_secs),
        due_in: if due_for.is_some() { Duration::ZERO } else { 9 * SECOND },
        crashes,
    }
}

fn load(held: u32) -> Load {
    Load { held, concurrency: 4, runs_alone: false }
}

#[test]
fn what_waits_long_leaves_a_place_to_the_others_where_there_are_two() {
    for (concurrency, most) in [(1, 1), (2, 1), (3, 2), (500, 499)] {
        assert_eq!(long_places(concurrency), most, "{concurrency}");
    }
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
        bucket("late", 0, Some(9), 0),
        bucket("urgent", -5, Some(1), 0),
        bucket("soon", -9, None, 0),
        bucket("urgent_too", -5, Some(3), 0),
    ];
    let Plan::Claim(plan) = plan(&buckets, load(1), unknown) else { panic!() };
    assert_eq!((plan.kind.as_str(), plan.limit), ("urgent_too", 3));
    assert_eq!(plan.suspects, Suspects::Left);
}

#[test]
fn a_runner_with_nothing_due_waits_for_the_next() {
    assert_eq!(plan(&[], load(0), unknown), Plan::Wait(None));
    let later = [bucket("a", 0, None, 0)];
    assert_eq!(plan(&later, load(0), unknown), Plan::Wait(Some(9 * SECOND)));
    let due = [bucket("a", 0, Some(1), 0)];
    assert_eq!(plan(&due, load(4), unknown), Plan::Full);
}

#[test]
fn what_is_to_be_run_alone_is_claimed_by_an_idle_runner() {
    let buckets = [bucket("a", 0, Some(1), ALONE_FROM)];
    let Plan::Claim(alone) = plan(&buckets, load(0), unknown) else { panic!() };
    assert_eq!((alone.limit, alone.suspects), (1, Suspects::Any));
    let busy_with_it = Load { runs_alone: true, ..load(1) };
    let others = [bucket("b", 0, Some(1), 0)];
    assert_eq!(plan(&others, busy_with_it, unknown), Plan::Full);
}

#[test]
fn what_crashed_once_is_claimed_by_itself_and_runs_beside_others() {
    let buckets = [bucket("a", 0, Some(9_999), 1), bucket("b", 0, Some(1), 0)];
    for held in 0..4 {
        let Plan::Claim(first) = plan(&buckets, load(held), unknown) else { panic!("{held}") };
        let wanted = ("a", 1, Suspects::BesideOthers);
        assert_eq!((first.kind.as_str(), first.limit, first.suspects), wanted, "{held}");
    }
    assert_eq!(plan(&buckets, load(4), unknown), Plan::Full);
}

#[test]
fn a_claim_takes_no_job_that_a_runner_died_of_more_often() {
    for (suspects, most) in
        [(Suspects::Left, 0), (Suspects::BesideOthers, 1), (Suspects::Any, u32::MAX)]
    {
        assert_eq!(suspects.most_crashes(), most);
    }
}

/// What a runner with so many jobs does about one that is to be run alone and is due for so many
/// seconds, beside another kind that is due for one.
#[test]
fn a_busy_runner_leaves_what_is_to_be_run_alone_for_a_while_and_goes_on() {
    let patience = SUSPECT_WAITS.as_secs();
    let others = |limit| Some(("a", limit, Suspects::Left));
    for (held, due_for, wanted) in [
        (0, 5, Some(("a", 1, Suspects::Any))),
        (0, patience, Some(("a", 1, Suspects::Any))),
        // Its own bucket: what stands behind it.
        (1, 5, others(3)),
        (3, patience - 1, others(1)),
        (1, patience, None),
        (3, patience * 9, None),
    ] {
        let buckets = [bucket("a", 0, Some(due_for), ALONE_FROM), bucket("b", 0, Some(1), 0)];
        let claimed = match plan(&buckets, load(held), unknown) {
            Plan::Claim(plan) => Some((plan.kind.as_str().to_owned(), plan.limit, plan.suspects)),
            Plan::Drain => None,
            other => panic!("{other:?}"),
        };
        let wanted = wanted.map(|(kind, limit, suspects)| (kind.to_owned(), limit, suspects));
        assert_eq!(claimed, wanted, "{held} {due_for}");
        let only_others = plan(&buckets[1..], load(held), unknown);
        assert!(
            matches!(only_others, Plan::Claim(plan) if plan.suspects == Suspects::Left),
            "{held}"
        );
    }
}

#[test]
fn what_is_to_be_run_alone_with_less_priority_stops_nobody() {
    let buckets = [bucket("a", 5, Some(9_999), ALONE_FROM), bucket("b", 0, Some(1), 0)];
    let Plan::Claim(first) = plan(&buckets, load(1), unknown) else { panic!() };
    assert_eq!((first.kind.as_str(), first.suspects), ("b", Suspects::Left));
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
        let load = Load { held, concurrency, runs_alone: false };
        let limit = claim_limit(load, Some(Duration::from_nanos(nanos)));
        prop_assert!(limit <= MAX_BATCH);
        prop_assert!(limit == 0 || held + limit <= MAX_HELD.max(concurrency));
    }
}
