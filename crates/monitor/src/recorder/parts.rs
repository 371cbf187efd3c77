//! What is recorded together, how it is taken apart when that fails, and who is to blame. Pure.

use mainstay_base::Timestamp;
use mainstay_store::StoreError;

use super::batch::BatchError;
use crate::roster::Circuit;
use crate::sink::PollResult;

/// After so many errors that may be anybody's fault, and nothing that was written, the database is at
/// fault. To find the one bad result of a full batch takes fewer.
const MOST_UNCLEAR: usize = 16;

/// What is recorded together.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) results: Vec<PollResult>,
    pub(super) circuits: Vec<(Circuit, Timestamp)>,
}

/// The parts of a batch that was not recorded as a whole.
#[derive(Debug)]
pub(super) struct Round {
    /// What is to be tried, the next one last.
    parts: Vec<Part>,
    /// What can't be taken apart any more and was not recorded, by whose fault ever.
    suspects: Vec<(Part, BatchError)>,
    unclear: usize,
    /// Whether something was recorded: the database works.
    is_proven: bool,
}

/// What follows from an error.
#[derive(Debug)]
pub(super) enum Verdict {
    /// There is more to try.
    GoOn,
    /// This can't be recorded.
    Refuse(Part, BatchError),
    /// The database is in trouble: all of this is to be tried again.
    Keep(Part, BatchError),
}

/// What is left when everything was tried.
#[derive(Debug)]
pub(super) enum Ending {
    /// Others were recorded: who was not is at fault.
    Refuse(Vec<(Part, BatchError)>),
    /// Nothing was recorded, so nobody knows who is at fault.
    Keep(Part, BatchError),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blame {
    /// Something in the batch.
    Data,
    /// The database.
    Database,
    /// Something in the batch if others can be recorded, else the database.
    Unclear,
}

impl Part {
    /// All of these, in their order.
    pub(super) fn joined(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::default();
        for part in parts {
            all.results.extend(part.results);
            all.circuits.extend(part.circuits);
        }
        all
    }

    /// Whether there is nothing to take apart.
    pub(super) fn is_single(&self) -> bool {
        self.results.len().saturating_add(self.circuits.len()) <= 1
    }

    /// Two parts of it, the later one first: circuits before results, then the first half of either.
    pub(super) fn halves(self) -> [Self; 2] {
        let Self { mut results, mut circuits } = self;
        if !results.is_empty() && !circuits.is_empty() {
            let first = Self { circuits, ..Self::default() };
            return [Self { results, ..Self::default() }, first];
        }
        let later = Self {
            results: results.split_off(results.len() / 2),
            circuits: circuits.split_off(circuits.len() / 2),
        };
        [later, Self { results, circuits }]
    }
}

impl Round {
    pub(super) fn new(whole: Part) -> Self {
        Self { parts: vec![whole], suspects: Vec::new(), unclear: 0, is_proven: false }
    }

    /// What to try next.
    pub(super) fn next(&mut self) -> Option<Part> {
        self.parts.pop()
    }

    /// Something was recorded.
    pub(super) fn prove(&mut self) {
        self.is_proven = true;
    }

    /// A part was not recorded.
    pub(super) fn fail(&mut self, mut part: Part, error: BatchError) -> Verdict {
        if matches!(error, BatchError::Store(StoreError::CommitUnknown { .. })) {
            // If they are written, the results that came with them are too: written again they would
            // stand for what is over. The next result tells the state anew.
            part.circuits.clear();
        }
        let blame = blame(&error);
        self.unclear = self.unclear.saturating_add(usize::from(blame == Blame::Unclear));
        let is_hopeless = !self.is_proven && self.unclear >= MOST_UNCLEAR;
        match blame {
            Blame::Data if part.is_single() => Verdict::Refuse(part, error),
            Blame::Unclear if part.is_single() && !is_hopeless => {
                self.suspects.push((part, error));
                Verdict::GoOn
            }
            Blame::Database => Verdict::Keep(self.left(part), error),
            Blame::Unclear if is_hopeless => Verdict::Keep(self.left(part), error),
            Blame::Data | Blame::Unclear => {
                self.parts.extend(part.halves());
                Verdict::GoOn
            }
        }
    }

    pub(super) fn end(mut self) -> Ending {
        match self.suspects.pop() {
            Some((last, error)) if !self.is_proven => {
                let others = self.suspects.into_iter().map(|(part, _)| part);
                Ending::Keep(Part::joined(others.chain([last])), error)
            }
            last => {
                self.suspects.extend(last);
                Ending::Refuse(self.suspects)
            }
        }
    }

    /// Everything that is left. The largest part that was not tried yet comes first the next time: it
    /// is the most likely to show that the database works.
    fn left(&mut self, failed: Part) -> Part {
        let untried = std::mem::take(&mut self.parts).into_iter();
        let suspects = std::mem::take(&mut self.suspects).into_iter().map(|(part, _)| part);
        Part::joined(untried.chain([failed]).chain(suspects))
    }
}

/// Who is to blame for `error`.
fn blame(error: &BatchError) -> Blame {
    match error {
        BatchError::Event(_)
        | BatchError::Store(
            StoreError::NulInText { .. }
            | StoreError::Data { .. }
            | StoreError::NotANumber { .. }
            | StoreError::Unique { .. }
            | StoreError::Reference { .. }
            | StoreError::Check { .. }
            | StoreError::TooManyRows { .. },
        ) => Blame::Data,
        // A damaged file and a table that is gone look like a text that the database can't take.
        BatchError::Store(StoreError::Statement { .. } | StoreError::Column { .. }) => {
            Blame::Unclear
        }
        BatchError::Store(_) => Blame::Database,
    }
}

#[cfg(test)]
mod tests;
