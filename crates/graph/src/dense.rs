//! Tables by node number.

/// A value for each node; what is out of range reads as the default and is not written.
#[derive(Debug, Clone)]
pub(crate) struct Table<T> {
    values: Vec<T>,
}

/// A list of nodes for each node, packed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Lists {
    /// Where the list of each node begins; one more than there are nodes.
    starts: Vec<usize>,
    items: Vec<usize>,
}

impl<T: Copy + Default> Table<T> {
    pub(crate) fn new(len: usize) -> Self {
        Self { values: vec![T::default(); len] }
    }

    pub(crate) fn get(&self, index: usize) -> T {
        self.values.get(index).copied().unwrap_or_default()
    }

    pub(crate) fn set(&mut self, index: usize, value: T) {
        if let Some(place) = self.values.get_mut(index) {
            *place = value;
        }
    }
}

impl Lists {
    /// The lists of `len` nodes from pairs of a node and what is in its list, which keep their order.
    pub(crate) fn new(len: usize, pairs: impl Iterator<Item = (usize, usize)> + Clone) -> Self {
        let mut counts = Table::<usize>::new(len);
        let mut total = 0_usize;
        for (node, _) in pairs.clone().filter(|&(node, _)| node < len) {
            counts.set(node, counts.get(node).saturating_add(1));
            total = total.saturating_add(1);
        }
        let mut starts = Vec::with_capacity(len.saturating_add(1));
        let mut start = 0_usize;
        for node in 0..len {
            starts.push(start);
            start = start.saturating_add(counts.get(node));
        }
        let mut next = Table { values: starts.clone() };
        starts.push(start);
        let mut items = Table::<usize>::new(total);
        for (node, item) in pairs.filter(|&(node, _)| node < len) {
            let place = next.get(node);
            items.set(place, item);
            next.set(node, place.saturating_add(1));
        }
        Self { starts, items: items.values }
    }

    /// The list of a node.
    pub(crate) fn of(&self, node: usize) -> &[usize] {
        self.items.get(self.range(node)).unwrap_or_default()
    }

    /// Where the list of a node stands among all lists.
    pub(crate) fn range(&self, node: usize) -> std::ops::Range<usize> {
        match (self.starts.get(node), self.starts.get(node.saturating_add(1))) {
            (Some(&start), Some(&end)) => start..end,
            _ => 0..0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_the_order_of_their_pairs() {
        let lists = Lists::new(3, [(2, 7), (0, 5), (2, 1), (9, 9)].into_iter());
        assert_eq!(lists.of(0), [5]);
        assert_eq!(lists.of(1), [] as [usize; 0]);
        assert_eq!(lists.of(2), [7, 1]);
        assert_eq!(lists.of(3), [] as [usize; 0]);
        assert_eq!((lists.range(2), lists.len()), (1..3, 3));
    }
}
