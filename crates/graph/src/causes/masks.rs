//! Who reaches whom, for 64 ends at once: one walk over the graph answers for all of them, and needs no
//! table of every pair.

/// How many ends one mask has.
pub(super) const MASK_BITS: usize = 64;

/// How high a counter can go, in bits: far more than there are nodes.
const PLANES: usize = 40;

/// For each component the marks that it reaches, itself included. `leading` says on which components of
/// lower numbers each one leans; bit n stands for the component that the n-th of `marks` names.
pub(super) fn reached(leading: &[Vec<usize>], marks: impl Iterator<Item = usize>) -> Vec<u64> {
    let mut masks = vec![0_u64; leading.len()];
    for (bit, component) in marks.take(MASK_BITS).enumerate() {
        if let Some(mask) = masks.get_mut(component) {
            *mask |= 1 << bit;
        }
    }
    for (component, next) in leading.iter().enumerate() {
        let found = next.iter().filter_map(|&next| masks.get(next)).fold(0, |all, mask| all | mask);
        if let Some(mask) = masks.get_mut(component) {
            *mask |= found;
        }
    }
    masks
}

/// How many of `masks` have each bit. The counters stand upright: bit n of all planes together is the
/// counter of bit n, so that one addition counts for all bits.
pub(super) fn counted(masks: impl Iterator<Item = u64>) -> Vec<usize> {
    let mut planes = [0_u64; PLANES];
    for mask in masks {
        let mut carry = mask;
        for plane in &mut planes {
            if carry == 0 {
                break;
            }
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
    }
    let of = |bit: usize| {
        planes.iter().rev().fold(0_usize, |count, plane| {
            count.saturating_mul(2).saturating_add(usize::from(plane & (1 << bit) != 0))
        })
    };
    (0..MASK_BITS).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_carried_to_whoever_leans() {
        let leading = [vec![], vec![], vec![0], vec![1, 2], vec![]];
        assert_eq!(reached(&leading, [0, 1].into_iter()), [1, 2, 1, 3, 0]);
    }

    #[test]
    fn every_bit_is_counted() {
        let masks = (0..1_000_u64).map(|n| u64::from(n % 2 == 0) | (u64::from(n % 3 == 0) << 63));
        let counts = counted(masks);
        assert_eq!((counts[0], counts[1], counts[63]), (500, 0, 334));
    }
}
