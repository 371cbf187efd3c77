//! Object storage: [`key`] (where a blob stands, checked) → [`place`] (a folder, or S3) → [`store`]
//! (one try, timed, guarded and measured) → `folder`, `s3` (over `wire`) → [`upload`] (what comes in
//! [`parts`], as many at once as the `budget` has room for) → [`error`] → [`measure`].

mod budget;
pub mod error;
mod folder;
mod guard;
pub mod key;
pub mod measure;
pub mod parts;
pub mod place;
mod s3;
pub mod store;
pub mod upload;
mod walk;
mod wire;

pub use error::{BlobError, BlobErrorKind, BlobsError};
pub use key::{BlobKey, BlobKeyError};
pub use place::{BlobOptions, BlobPlace, S3Settings};
pub use store::{BlobEntry, Blobs};
pub use upload::BlobUpload;
