//! Why there is no board.

use mainstay_store::StoreError;

use crate::answer::AnswerError;

/// Why there is no board.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
    /// It could not be written out.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
