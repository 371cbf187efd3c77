//! The summaries of all dependencies of a service over a span of time, packed.
//!
//! By slot: the distance to the slot before, the number of buckets, the least latency, the greatest
//! above it, the sum above as many of the least, and for each bucket its distance to the one before and
//! its count. The first bucket is that of the least latency, so that its distance is left out.

use std::collections::BTreeMap;

use super::points::{Damaged, MAX_POINTS};
use super::summary::{Summary, bucket_of};
use super::varint;

/// The summary of each slot.
pub(crate) type Summaries = BTreeMap<u32, Summary>;

/// The most buckets that a summary can have: ten for each doubling of a number of 64 bits.
const MAX_BUCKETS: u64 = 640;

/// Packs the summary of each slot.
pub(crate) fn pack(summaries: &Summaries) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut next = 0_u64;
    for (slot, summary) in summaries.iter().take(MAX_POINTS) {
        let slot = u64::from(*slot);
        varint::put(&mut packed, slot.saturating_sub(next));
        put(&mut packed, summary);
        next = slot.saturating_add(1);
    }
    packed
}

/// The summary of each slot.
pub(crate) fn unpack(packed: &[u8]) -> Result<Summaries, Damaged> {
    let mut rest = packed;
    let mut next = 0_u64;
    let mut summaries = Summaries::new();
    while !rest.is_empty() {
        if summaries.len() == MAX_POINTS {
            return Err(Damaged);
        }
        let slot = next.checked_add(varint::take(&mut rest)?).ok_or(Damaged)?;
        next = slot.saturating_add(1);
        summaries.insert(u32::try_from(slot).map_err(|_| Damaged)?, take(&mut rest)?);
    }
    Ok(summaries)
}

fn put(packed: &mut Vec<u8>, summary: &Summary) {
    let (min, max) = summary.bounds();
    let least = summary.count().saturating_mul(min);
    varint::put(packed, u64::try_from(summary.buckets().len()).unwrap_or(u64::MAX));
    varint::put(packed, min);
    varint::put(packed, max.saturating_sub(min));
    varint::put(packed, summary.sum().saturating_sub(least));
    let mut before = None;
    for (bucket, count) in summary.buckets() {
        if let Some(before) = before {
            varint::put(packed, u64::from(bucket.saturating_sub(before)));
        }
        varint::put(packed, *count);
        before = Some(*bucket);
    }
}

fn take(rest: &mut &[u8]) -> Result<Summary, Damaged> {
    let length = varint::take(rest)?;
    let min = varint::take(rest)?;
    let max = min.checked_add(varint::take(rest)?).ok_or(Damaged)?;
    let above = varint::take(rest)?;
    let (buckets, count) = take_buckets(rest, length, bucket_of(min))?;
    let least = count.checked_mul(min).ok_or(Damaged)?;
    let sum = least.checked_add(above).ok_or(Damaged)?;
    let is_possible = buckets.last().is_some_and(|(last, _)| *last == bucket_of(max))
        && u128::from(sum) <= u128::from(count) * u128::from(max);
    if !is_possible {
        return Err(Damaged);
    }
    Ok(Summary::from_parts((sum, min, max), buckets))
}

/// So many buckets from `first` on, and how many latencies they count.
fn take_buckets(
    rest: &mut &[u8],
    length: u64,
    first: u16,
) -> Result<(Vec<(u16, u64)>, u64), Damaged> {
    if length == 0 || length > MAX_BUCKETS {
        return Err(Damaged);
    }
    let mut buckets = Vec::new();
    let (mut bucket, mut all) = (first, 0_u64);
    for number in 0..length {
        if number > 0 {
            let gap = u16::try_from(varint::take(rest)?).map_err(|_| Damaged)?;
            bucket = bucket.checked_add(gap).filter(|_| gap > 0).ok_or(Damaged)?;
        }
        let count = varint::take(rest)?;
        all = all.checked_add(count).filter(|_| count > 0).ok_or(Damaged)?;
        buckets.push((bucket, count));
    }
    Ok((buckets, all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn summary(micros: &[u64]) -> Summary {
        let mut all = Summary::of_micros(micros[0]);
        micros[1..].iter().for_each(|us| all.add_micros(*us));
        all
    }

    #[test]
    fn a_dependency_of_five_minutes_takes_few_bytes() {
        let latencies: Vec<u64> = (0..60).map(|turn| 40_000 + turn * 173 % 9_000).collect();
        let packed = pack(&Summaries::from([(0, summary(&latencies))]));
        assert!(packed.len() <= 20, "{} bytes", packed.len());
        assert_eq!(pack(&Summaries::new()), Vec::<u8>::new());
    }

    #[test]
    fn what_no_latencies_add_up_to_is_damaged() {
        let good = pack(&Summaries::from([(0, summary(&[3, 3, 9]))]));
        assert_eq!(good, [0, 2, 3, 6, 6, 2, 16, 1]);
        // Cut short, no buckets, too great a sum, an empty bucket, twice the same bucket, a bucket
        // that the greatest is not in, too many buckets.
        let bad: [&[u8]; 7] = [
            &[0, 2, 3, 6, 6, 2, 16],
            &[0, 0, 3, 6, 6],
            &[0, 2, 3, 6, 60, 2, 16, 1],
            &[0, 2, 3, 6, 6, 0, 16, 1],
            &[0, 2, 3, 6, 6, 2, 0, 1],
            &[0, 2, 3, 6, 6, 2, 17, 1],
            &[0, 0xff, 0x7f, 3, 6, 6, 2, 16, 1],
        ];
        for bytes in bad {
            assert_eq!(unpack(bytes), Err(Damaged), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(
            latencies in proptest::collection::btree_map(
                any::<u32>(),
                proptest::collection::vec(1_u64..=86_400_000_000, 1..20),
                0..6,
            )
        ) {
            let summaries: Summaries =
                latencies.iter().map(|(slot, micros)| (*slot, summary(micros))).collect();
            prop_assert_eq!(unpack(&pack(&summaries)), Ok(summaries));
        }

        #[test]
        fn garbage_is_told_from_summaries(bytes in proptest::collection::vec(0_u8..24, 0..32)) {
            if let Ok(summaries) = unpack(&bytes) {
                for one in summaries.values() {
                    prop_assert!((one.min()..=one.max()).contains(&one.percentile(95)));
                    prop_assert!((one.min()..=one.max()).contains(&one.mean()));
                }
                prop_assert_eq!(unpack(&pack(&summaries)), Ok(summaries));
            }
        }

        #[test]
        fn any_bytes_are_read_without_harm(bytes in proptest::collection::vec(any::<u8>(), 0..256)) {
            let _ = unpack(&bytes);
        }
    }
}
