//! Why there is no board.

use mainstay_store::StoreError;

use crate::answer::AnswerError;
use crate::graph::GraphsError;

/// Why there is no board.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
    /// It could not be written out.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// The graph was not read yet.
    #[error(transparent)]
    Graph(#[from] GraphsError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
