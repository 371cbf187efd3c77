//! Whole numbers in as few bytes as they need: seven bits in each, the lowest first.

use super::points::Damaged;

/// Seven bits in each of ten bytes are more than a number has.
const MAX_SHIFT: u32 = 63;

/// Appends `number`.
pub(crate) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(low_bits(number) | 0x80);
        number >>= 7;
    }
    bytes.push(low_bits(number));
}

/// Takes the next number from the front of `bytes`.
pub(crate) fn take(bytes: &mut &[u8]) -> Result<u64, Damaged> {
    let mut number = 0_u64;
    let mut shift = 0_u32;
    loop {
        let (first, rest) = bytes.split_first().ok_or(Damaged)?;
        *bytes = rest;
        let bits = u64::from(first & 0x7f);
        if shift == MAX_SHIFT && bits > 1 {
            return Err(Damaged);
        }
        number |= bits << shift;
        if first & 0x80 == 0 {
            return Ok(number);
        }
        if shift == MAX_SHIFT {
            return Err(Damaged);
        }
        shift += 7;
    }
}

fn low_bits(number: u64) -> u8 {
    u8::try_from(number & 0x7f).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_number_that_ends_early_or_is_too_large_is_damaged() {
        for bytes in [&[][..], &[0x80], &[0xff; 9], &[0xff; 11], &[0x80; 10]] {
            assert_eq!(take(&mut { bytes }), Err(Damaged), "{bytes:?}");
        }
        let mut above = vec![0xff; 9];
        above.push(2);
        assert_eq!(take(&mut above.as_slice()), Err(Damaged));
    }

    proptest! {
        #[test]
        fn what_is_put_is_taken(numbers in proptest::collection::vec(any::<u64>(), 0..20)) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|number| put(&mut bytes, *number));
            let mut rest = bytes.as_slice();
            for number in numbers {
                prop_assert_eq!(take(&mut rest), Ok(number));
            }
            prop_assert!(rest.is_empty());
        }
    }
}
