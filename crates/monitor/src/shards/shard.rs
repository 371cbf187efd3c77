//! Which part of all hosts a service belongs to.

use std::fmt;

use mainstay_kernel::HostKey;

/// Into how many parts all hosts are divided. It never changes: what is stored of a part would be of
/// other hosts then, and two versions side by side would disagree.
pub const SHARDS: u8 = 64;

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// A part of all hosts. Whoever owns it polls every service on them: the bound of a host and the
/// sharing of requests hold across instances, because no host is in two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard(u8);

impl Shard {
    /// The part that a host is in: FNV-1a of its key, folded. Written out here, so that it stays the
    /// same in every version and on every machine.
    #[must_use]
    pub fn of(host: &HostKey) -> Self {
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME);
        let hash = host.as_str().as_bytes().iter().fold(FNV_OFFSET, mix);
        // The low bits of FNV alone are its weakest.
        let [a, b, c, d, e, f, g, h] = hash.to_le_bytes();
        let folded = u32::from_le_bytes([a ^ e, b ^ f, c ^ g, d ^ h]);
        Self(u8::try_from(folded % u32::from(SHARDS)).unwrap_or_default())
    }

    /// The part of this number, if there is one.
    #[must_use]
    pub fn new(number: i64) -> Option<Self> {
        u8::try_from(number).ok().filter(|number| *number < SHARDS).map(Self)
    }

    /// Its number.
    #[must_use]
    pub fn number(self) -> i64 {
        self.0.into()
    }

    /// Every part.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..SHARDS).map(Self)
    }

    const fn bit(self) -> u64 {
        1 << self.0
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Some of the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShardSet(u64);

impl ShardSet {
    /// None of them.
    pub const NONE: Self = Self(0);

    /// Whether it is among them.
    #[must_use]
    pub const fn contains(self, shard: Shard) -> bool {
        self.0 & shard.bit() != 0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    #[must_use]
    pub fn len(self) -> usize {
        usize::try_from(self.0.count_ones()).unwrap_or_default()
    }

    /// Those that are here and not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Those that are in either.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those that are in both.
    #[must_use]
    pub const fn among(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Each of them, by number.
    pub fn iter(self) -> impl Iterator<Item = Shard> {
        Shard::all().filter(move |shard| self.contains(*shard))
    }

    /// Their numbers, as the database takes them.
    #[must_use]
    pub fn numbers(self) -> Vec<i64> {
        self.iter().map(Shard::number).collect()
    }
}

impl FromIterator<Shard> for ShardSet {
    fn from_iter<T: IntoIterator<Item = Shard>>(shards: T) -> Self {
        Self(shards.into_iter().fold(0, |bits, shard| bits | shard.bit()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_in_the_same_part_for_ever() {
        for (host, number) in [
            ("a", 0),
            ("example.org", 50),
            ("orders.example.org", 57),
            ("127.0.0.1", 15),
            ("localhost", 14),
            ("xn--bcher-kva.example", 3),
        ] {
            let key: HostKey = host.parse().unwrap();
            assert_eq!(Shard::of(&key).number(), number, "{host}");
        }
        let upper: HostKey = "Example.ORG:8080".parse().unwrap();
        assert_eq!(Shard::of(&upper).number(), 50, "neither case nor port matter");
    }

    #[test]
    fn hosts_are_spread_over_all_parts() {
        let mut count = [0_usize; 64];
        for number in 0..6_400 {
            let key: HostKey = format!("host-{number}.example.org").parse().unwrap();
            count[usize::try_from(Shard::of(&key).number()).unwrap()] += 1;
        }
        let (least, most) = (count.iter().min().unwrap(), count.iter().max().unwrap());
        assert!(*least > 60 && *most < 150, "{least} {most}");
    }

    #[test]
    fn a_set_is_what_it_was_made_of() {
        let shards = [0, 5, 63].map(|number| Shard::new(number).unwrap());
        let set: ShardSet = shards.into_iter().collect();
        assert_eq!((set.len(), set.numbers()), (3, vec![0, 5, 63]));
        let some: ShardSet = shards.into_iter().take(1).collect();
        assert_eq!(set.without(some).numbers(), [5, 63]);
        assert_eq!(some.among(set), some);
        assert_eq!(some.and(set), set);
        assert!(Shard::new(64).is_none() && Shard::new(-1).is_none());
        assert_eq!(Shard::all().collect::<ShardSet>().len(), 64);
    }
}
