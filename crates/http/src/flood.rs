//! How often one address may ask: generous, so that only floods meet it.
//!
//! The table has a fixed number of places and never grows. An address can stand in one small set of
//! them, chosen by a hash that nobody outside can foresee, and each set has its own lock: a request
//! looks at [`PLACES_IN_SET`] places and allocates nothing.

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mainstay_base::Moment;
use mainstay_kernel::{Rate, Throttle};

use crate::code::Code;
use crate::error::Error;
use crate::limits::{Limits, MAX_ADDRESSES};

/// Places that an address can stand in.
const PLACES_IN_SET: usize = 8;

/// Who asked how often of late.
pub(crate) struct Flood {
    rate: Rate,
    sets: Box<[Mutex<Set>]>,
    hasher: RandomState,
}

type Set = [Place; PLACES_IN_SET];

/// One address. A place that nobody took yet is one whose address has never asked.
#[derive(Clone, Copy, Default)]
struct Place {
    address: u128,
    throttle: Throttle,
}

impl Flood {
    /// `None` when a limit of zero says that nothing is counted.
    pub(crate) fn new(limits: &Limits) -> Option<Self> {
        let (rate, burst) = (limits.address_rate, limits.address_burst);
        let rate = Rate::new(rate, Duration::from_secs(1), burst).ok()?;
        let sets = (0..MAX_ADDRESSES / PLACES_IN_SET).map(|_| Mutex::default()).collect();
        Some(Self { rate, sets, hasher: RandomState::new() })
    }

    /// Counts a request, or refuses it.
    pub(crate) fn check(&self, client: IpAddr, now: Moment) -> Result<(), Error> {
        let address = bits(client);
        let Some(set) = self.set(address) else { return Ok(()) };
        let mut set = set.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(place) = place(&mut set, address) else { return Ok(()) };
        let admitted = place.throttle.admit(&self.rate, now);
        drop(set);
        admitted.map_err(|throttled| refusal(throttled.retry_after))
    }

    /// The set of an address. There always is one.
    fn set(&self, address: u128) -> Option<&Mutex<Set>> {
        let hash = self.hasher.hash_one(address);
        let index = hash.checked_rem(u64::try_from(self.sets.len()).ok()?)?;
        self.sets.get(usize::try_from(index).ok()?)
    }
}

/// The place of an address. When it has none it gets that of whoever has been quiet for longest:
/// forgetting them gives the least away.
fn place(set: &mut Set, address: u128) -> Option<&mut Place> {
    let rank = |place: &&mut Place| (place.address != address, place.throttle.paid_off_at());
    let place = set.iter_mut().min_by_key(rank)?;
    if place.address != address {
        *place = Place { address, throttle: Throttle::default() };
    }
    Some(place)
}

/// What an address is known by. A household or a host has 2^64 addresses of IPv6, so only the
/// network counts there; its lower half is zero, which no IPv4 address inside IPv6 has.
fn bits(client: IpAddr) -> u128 {
    match client.to_canonical() {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits() & !u128::from(u64::MAX),
    }
}

fn refusal(wait: Duration) -> Error {
    let detail = "More requests come from your address than Mainstay takes from one. Wait as long as \
                  Retry-After says, then ask less often.";
    Error::new(Code::RateLimited, detail).retry_after(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flood(address_rate: u32, address_burst: u32) -> Flood {
        Flood::new(&Limits { address_rate, address_burst, ..Limits::default() }).unwrap()
    }

    fn at(seconds: u64) -> Moment {
        Moment::from_origin(Duration::from_secs(seconds))
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_may_ask_in_bursts_and_then_at_the_rate() {
        let flood = flood(2, 3);
        let client = ip("203.0.113.9");
        for _ in 0..3 {
            assert!(flood.check(client, at(1)).is_ok());
        }
        let refused = flood.check(client, at(1)).unwrap_err();
        assert_eq!(refused.code(), Code::RateLimited);
        assert!(flood.check(ip("203.0.113.10"), at(1)).is_ok(), "others are not held up");
        assert!(flood.check(client, at(2)).is_ok());
        assert!(flood.check(client, at(2)).is_ok());
        assert!(flood.check(client, at(2)).is_err());
    }

    #[test]
    fn an_ipv6_network_counts_as_one_and_an_ipv4_address_alone() {
        for (first, second, same) in [
            ("2001:db8::1", "2001:db8::ffff:2", true),
            ("2001:db8::1", "2001:db8:0:1::1", false),
            ("203.0.113.9", "203.0.113.10", false),
            ("203.0.113.9", "::ffff:203.0.113.9", true),
            ("0.0.0.0", "::", false),
            ("0.0.0.1", "::1", false),
        ] {
            assert_eq!(bits(ip(first)) == bits(ip(second)), same, "{first} {second}");
            let flood = flood(1, 1);
            assert!(flood.check(ip(first), at(1)).is_ok());
            assert_eq!(flood.check(ip(second), at(1)).is_err(), same, "{first} {second}");
        }
    }

    #[test]
    fn a_full_set_forgets_whoever_was_quiet_for_longest() {
        let rate = Rate::new(1, Duration::from_secs(1), 10).unwrap();
        let mut set = Set::default();
        for address in 1..=8 {
            // Address 3 came first, and the others after it in order.
            let now = at(if address == 3 { 1 } else { 10 + u64::try_from(address).unwrap() });
            place(&mut set, address).unwrap().throttle.admit(&rate, now).unwrap();
        }
        let newcomer = place(&mut set, 100).unwrap();
        assert_eq!(newcomer.throttle, Throttle::default(), "it starts with a clean sheet");
        newcomer.throttle.admit(&rate, at(50)).unwrap();
        let mut known: Vec<u128> = set.iter().map(|place| place.address).collect();
        known.sort_unstable();
        assert_eq!(known, [1, 2, 4, 5, 6, 7, 8, 100]);
        place(&mut set, 101).unwrap();
        assert!(!set.iter().any(|place| place.address == 1), "the next quietest");
    }

    #[test]
    fn a_flood_of_addresses_does_not_free_the_one_that_floods() {
        let flood = flood(1, 100);
        let client = ip("203.0.113.9");
        for _ in 0..100 {
            flood.check(client, at(1)).unwrap();
        }
        for number in 0..u32::try_from(MAX_ADDRESSES * 4).unwrap() {
            let other = std::net::Ipv4Addr::from_bits(number).into();
            assert!(flood.check(other, at(1)).is_ok());
        }
        assert!(flood.check(client, at(1)).is_err(), "it is the last to be forgotten");
    }

    #[test]
    fn all_addresses_together_have_a_fixed_number_of_places() {
        let places: usize = flood(1, 1).sets.iter().map(|set| set.lock().unwrap().len()).sum();
        assert_eq!(places, MAX_ADDRESSES);
    }
}
