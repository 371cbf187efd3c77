//! Where a page of workers or nets begins.

use mainstay_base::Placed;
pub use mainstay_base::{BadPlace, Part, Place};

use crate::model::{Crew, DefinedNet};

/// The most workers or nets of one page.
pub const MAX_PAGE: u32 = 200;

impl Placed for Crew {
    fn place(&self) -> Place {
        Place { created_at: self.worker.created_at, id: self.worker.id }
    }
}

impl Placed for DefinedNet {
    fn place(&self) -> Place {
        Place { created_at: self.net.created_at, id: self.net.id }
    }
}
