//! Where a page of workers or nets begins.

use mainstay_base::Placed;
pub use mainstay_base::{BadPlace, Part, Place};

use crate::model::{Crew, Net};

/// The most workers or nets of one page.
pub const MAX_PAGE: u32 = 200;

impl Placed for Crew {
    fn place(&self) -> Place {
        Place { created_at: self.worker.created_at, id: self.worker.id }
    }
}

impl Placed for Net {
    fn place(&self) -> Place {
        Place { created_at: self.created_at, id: self.id }
    }
}
