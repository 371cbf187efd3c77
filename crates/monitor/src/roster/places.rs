//! Where each service stands: its place is found once by its number, and from then on without search.

use std::collections::HashMap;

use super::entry::Entry;
use crate::watch::ServiceNumber;

/// Where a service stands. Whoever comes after it is gone may get the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place(u32);

/// Every service in its place.
#[derive(Debug, Default)]
pub(super) struct Places {
    entries: Vec<Option<Entry>>,
    /// Places that somebody has left.
    free: Vec<Place>,
    by_number: HashMap<ServiceNumber, Place>,
}

impl Places {
    pub(super) fn get(&self, place: Place) -> Option<&Entry> {
        self.entries.get(place.index())?.as_ref()
    }

    pub(super) fn get_mut(&mut self, place: Place) -> Option<&mut Entry> {
        self.entries.get_mut(place.index())?.as_mut()
    }

    pub(super) fn find(&self, number: ServiceNumber) -> Option<Place> {
        self.by_number.get(&number).copied()
    }

    pub(super) fn find_entry(&self, number: ServiceNumber) -> Option<&Entry> {
        self.get(self.find(number)?)
    }

    /// Gives a service that has no place yet one; `None` when no more can be told apart.
    pub(super) fn insert(&mut self, entry: Entry) -> Option<Place> {
        let number = entry.watch.number;
        let place = match self.free.pop() {
            Some(place) => place,
            None => {
                let place = Place(u32::try_from(self.entries.len()).ok()?);
                self.entries.push(None);
                place
            }
        };
        *self.entries.get_mut(place.index())? = Some(entry);
        self.by_number.insert(number, place);
        Some(place)
    }

    pub(super) fn remove(&mut self, place: Place) -> Option<Entry> {
        let entry = self.entries.get_mut(place.index())?.take()?;
        self.by_number.remove(&entry.watch.number);
        self.free.push(place);
        Some(entry)
    }

    pub(super) fn len(&self) -> usize {
        self.by_number.len()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry> + '_ {
        self.entries.iter_mut().flatten()
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = ServiceNumber> + '_ {
        self.by_number.keys().copied()
    }
}

impl Place {
    fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}
