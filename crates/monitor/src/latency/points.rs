//! The latencies that one poll has brought, in a few bytes for each.
//!
//! Points stand by slot, and each is one number most of the time: the latency with two bits below it.
//! The lowest tells whether it counts whole milliseconds, as most services do, or microseconds; the
//! other, whether slots were left out before it, whose count then follows.

use std::time::Duration;

use super::varint;

/// The most points of one poll; those with the highest slots are left out.
pub const MAX_POINTS: usize = 65_536;

/// The longest latency that is kept; a longer one counts as this.
pub const MAX_LATENCY: Duration = Duration::from_hours(24);

/// Bytes from the database that are no latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "packed latencies can't be read; the row was written by something else, and the others are not touched by it"
)]
pub struct Damaged;

const MICROS_PER_MILLI: u64 = 1_000;
const MAX_MICROS: u64 = 86_400_000_000;
const IS_MILLIS: u64 = 1;
const HAS_GAP: u64 = 2;
const FLAG_BITS: u32 = 2;

/// Packs the latency of each slot. A latency of zero is no point; of two for one slot the first counts.
#[must_use]
pub fn pack(points: &[(u32, Duration)]) -> Vec<u8> {
    let mut sorted: Vec<(u32, u64)> =
        points.iter().map(|(slot, latency)| (*slot, micros(*latency))).collect();
    sorted.retain(|(_, latency)| *latency > 0);
    sorted.sort_by_key(|(slot, _)| *slot);
    sorted.dedup_by_key(|(slot, _)| *slot);
    sorted.truncate(MAX_POINTS);
    let mut packed = Vec::with_capacity(sorted.len().saturating_mul(4));
    let mut next = 0_u64;
    for (slot, latency) in sorted {
        let slot = u64::from(slot);
        let gap = slot.saturating_sub(next);
        varint::put(&mut packed, told(latency) | if gap > 0 { HAS_GAP } else { 0 });
        if gap > 0 {
            varint::put(&mut packed, gap);
        }
        next = slot.saturating_add(1);
    }
    packed
}

/// The latency of each slot, by slot.
///
/// # Errors
/// [`Damaged`] when the bytes were not made by [`pack`].
pub fn unpack(packed: &[u8]) -> Result<Vec<(u32, Duration)>, Damaged> {
    read(packed).map(|point| point.map(|(slot, us)| (slot, Duration::from_micros(us)))).collect()
}

/// The points one after the other, in microseconds. Nothing follows the first that is damaged.
pub(crate) fn read(packed: &[u8]) -> Points<'_> {
    Points { rest: packed, next: 0, left: MAX_POINTS }
}

/// Reads packed points.
#[derive(Debug)]
pub(crate) struct Points<'a> {
    rest: &'a [u8],
    next: u64,
    left: usize,
}

impl Iterator for Points<'_> {
    type Item = Result<(u32, u64), Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let point = self.take();
        if point.is_err() {
            self.rest = &[];
        }
        Some(point)
    }
}

impl Points<'_> {
    fn take(&mut self) -> Result<(u32, u64), Damaged> {
        self.left = self.left.checked_sub(1).ok_or(Damaged)?;
        let told = varint::take(&mut self.rest)?;
        let gap = if told & HAS_GAP == 0 { 0 } else { varint::take(&mut self.rest)? };
        let slot = self.next.checked_add(gap).ok_or(Damaged)?;
        self.next = slot.saturating_add(1);
        Ok((u32::try_from(slot).map_err(|_| Damaged)?, heard(told)?))
    }
}

/// Rounded up, so that what took any time at all is a point.
fn micros(latency: Duration) -> u64 {
    let nanos = latency.min(MAX_LATENCY).as_nanos();
    u64::try_from(nanos.div_ceil(1_000)).unwrap_or(MAX_MICROS)
}

fn told(latency: u64) -> u64 {
    if latency.is_multiple_of(MICROS_PER_MILLI) {
        (latency / MICROS_PER_MILLI) << FLAG_BITS | IS_MILLIS
    } else {
        latency << FLAG_BITS
    }
}

fn heard(told: u64) -> Result<u64, Damaged> {
    let unit = if told & IS_MILLIS == 0 { 1 } else { MICROS_PER_MILLI };
    let latency = (told >> FLAG_BITS).checked_mul(unit).ok_or(Damaged)?;
    if latency == 0 || latency > MAX_MICROS { Err(Damaged) } else { Ok(latency) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_point_takes_up_to_four_bytes() {
        let whole: Vec<_> = (0..8).map(|slot| (slot, ms(40 + u64::from(slot)))).collect();
        assert_eq!(pack(&whole).len(), 8 * 2);
        let fine: Vec<_> = (0..8).map(|slot| (slot, Duration::from_micros(523_999))).collect();
        assert_eq!(pack(&fine).len(), 8 * 3);
        let slow: Vec<_> = (0..8).map(|slot| (slot, Duration::from_micros(9_999_999))).collect();
        assert_eq!(pack(&slow).len(), 8 * 4);
    }

    #[test]
    fn no_time_is_no_point_and_the_least_time_is_one() {
        let packed = pack(&[(3, Duration::ZERO), (4, Duration::from_nanos(1))]);
        assert_eq!(unpack(&packed), Ok(vec![(4, Duration::from_micros(1))]));
        assert_eq!(pack(&[(3, Duration::ZERO)]), Vec::<u8>::new());
        assert_eq!(unpack(&[]), Ok(vec![]));
    }

    #[test]
    fn points_come_out_by_slot_each_once() {
        let packed = pack(&[(9, ms(1)), (u32::MAX, ms(2)), (0, ms(3)), (9, ms(4))]);
        assert_eq!(unpack(&packed), Ok(vec![(0, ms(3)), (9, ms(1)), (u32::MAX, ms(2))]));
    }

    #[test]
    fn there_is_a_longest_latency_and_a_last_point() {
        let packed = pack(&[(0, Duration::MAX)]);
        assert_eq!(unpack(&packed), Ok(vec![(0, MAX_LATENCY)]));
        let many: Vec<_> = (0..=u32::try_from(MAX_POINTS).unwrap()).map(|n| (n, ms(1))).collect();
        assert_eq!(unpack(&pack(&many)).unwrap().len(), MAX_POINTS);
        let above = vec![5; MAX_POINTS + 1];
        assert_eq!(unpack(above.split_last().unwrap().1).unwrap().len(), MAX_POINTS);
        assert_eq!(unpack(&above), Err(Damaged));
    }

    #[test]
    fn what_is_no_point_is_damaged() {
        let mut long = vec![];
        varint::put(&mut long, (MAX_MICROS + 1) << FLAG_BITS);
        let mut far = vec![7];
        varint::put(&mut far, u64::from(u32::MAX) + 1);
        for bytes in [&[0][..], &[1], &[7], &[0x80], &[5, 2], &long, &far] {
            assert_eq!(unpack(bytes), Err(Damaged), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(
            points in proptest::collection::btree_map(any::<u32>(), 1..=MAX_MICROS, 0..50)
        ) {
            let points: Vec<_> =
                points.into_iter().map(|(slot, us)| (slot, Duration::from_micros(us))).collect();
            prop_assert_eq!(unpack(&pack(&points)), Ok(points));
        }

        #[test]
        fn garbage_is_told_from_points(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(points) = unpack(&bytes) {
                prop_assert_eq!(unpack(&pack(&points)), Ok(points));
            }
        }
    }
}
