//! Where a page of files begins.

pub use mainstay_base::{BadPlace, Place};
use mainstay_base::{Part, Placed};

use crate::model::File;

/// The most files of one page.
pub const MAX_PAGE: u32 = 200;

/// A part of the list of files.
pub type Files = Part<File>;

impl Placed for File {
    fn place(&self) -> Place {
        Place { created_at: self.created_at, id: self.id }
    }
}
