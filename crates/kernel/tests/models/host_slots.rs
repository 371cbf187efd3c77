//! The model is the list of slots that are held.

use mainstay_kernel::{HostKey, HostLimits, HostSlots, Slot, SlotRefusal, sort_least_recent_first};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Acquire(u8),
    /// Gives back one of those held, if any, by its number.
    Release(usize),
}

fn host(number: u8) -> HostKey {
    format!("host-{number}").parse().unwrap()
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..6_u8).prop_map(Step::Acquire),
        2 => any::<usize>().prop_map(Step::Release),
    ]
}

fn expected(held: &[Slot], host: &HostKey, per_host: usize, total: usize) -> Option<SlotRefusal> {
    if held.len() == total {
        return Some(SlotRefusal::AllFull { limit: total });
    }
    let of_host = held.iter().filter(|slot| slot.host() == host).count();
    (of_host == per_host).then(|| SlotRefusal::HostFull { host: host.clone(), limit: per_host })
}

proptest! {
    #[test]
    fn the_table_counts_what_is_held(
        steps in proptest::collection::vec(any_step(), 0..200),
        per_host in 1..5_usize,
        total in 1..12_usize,
    ) {
        let mut slots = HostSlots::new(HostLimits::new(per_host, total).unwrap());
        let mut held: Vec<Slot> = Vec::new();
        for step in steps {
            match step {
                Step::Acquire(number) => {
                    let refused = expected(&held, &host(number), per_host, total);
                    match slots.acquire(&host(number)) {
                        Ok(slot) => {
                            prop_assert_eq!(refused, None);
                            held.push(slot);
                        }
                        Err(refusal) => prop_assert_eq!(refused, Some(refusal)),
                    }
                }
                Step::Release(_) if held.is_empty() => {}
                Step::Release(number) => {
                    let slot = held.swap_remove(number % held.len());
                    prop_assert_eq!(slots.release(slot), Ok(()));
                }
            }
            let mut hosts = 0;
            for number in 0..6 {
                let taken = held.iter().filter(|slot| slot.host() == &host(number)).count();
                prop_assert_eq!(slots.taken(&host(number)), taken);
                hosts += usize::from(taken > 0);
            }
            prop_assert_eq!((slots.total(), slots.hosts()), (held.len(), hosts));
            prop_assert!(slots.hosts() <= total);
        }
    }

    #[test]
    fn nobody_is_overtaken_by_who_was_polled_later(
        polled in proptest::collection::vec(proptest::option::of(0..20_u32), 0..60),
    ) {
        let mut candidates: Vec<_> = polled.into_iter().enumerate().collect();
        let before = candidates.clone();
        sort_least_recent_first(&mut candidates, |(_, polled)| *polled);
        // Never polled counts as polled at 0, before all others; ties by their place before.
        let rank = |(place, polled): &(usize, Option<u32>)| (polled.map_or(0, |at| at + 1), *place);
        prop_assert!(candidates.is_sorted_by_key(rank));
        candidates.sort_unstable();
        prop_assert_eq!(candidates, before);
    }

    #[test]
    fn everyone_on_a_crowded_host_is_polled_in_turn(services in 1..40_usize, per_host in 1..6_usize) {
        let mut last_polled = vec![None; services];
        let ticks = services.div_ceil(per_host);
        for tick in 0..ticks {
            let mut slots = HostSlots::new(HostLimits::new(per_host, 100).unwrap());
            let mut candidates: Vec<usize> = (0..services).collect();
            sort_least_recent_first(&mut candidates, |service| last_polled[*service]);
            for service in candidates {
                if let Ok(slot) = slots.acquire(&host(0)) {
                    last_polled[service] = Some(tick);
                    std::mem::forget(slot);
                }
            }
        }
        prop_assert!(last_polled.iter().all(Option::is_some), "{last_polled:?}");
    }
}
