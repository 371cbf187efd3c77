//! Incident reports: a transcript is uploaded, a durable job has a language model make a report of it,
//! and the report is checked before anybody sees it.
//!
//! The way of a file: [`name`] and [`model`] say what it is → [`upload`] stores it and queues its job →
//! `record` (all SQL) writes down where it stands, `announce` tells its owner → [`maker`] has its report
//! written by a [`writer`], from [`timelines`] too, while the file follows its job (`follow`): from
//! [`transcript`] (what was said) to [`prompt`] → [`llm`] (who writes the report) → [`schema`] (whether
//! it is one) and [`quotes`] (whether its evidence is in what was `told`) → `keeping` (what of it is stored) →
//! [`decide`] (what becomes of the job and the file) →
//! [`reports`] answers what people ask, [`shares`] lets others read → [`sweep`] ends what nobody else
//! ends (`orphans`: what of the storage may go).
//!
//! Beside it: [`objects`] is the storage as this room asks for it, `keys` says where things are in it,
//! `artefacts` reads and removes them, [`place`] is where a page of a list begins, [`error`] says what
//! went wrong, `measure` tells the metrics, [`turns`] says how many
//! uploads may be under way.

mod announce;
mod artefacts;
mod blobs;
pub mod decide;
pub mod error;
mod follow;
mod keeping;
pub mod keys;
pub mod llm;
pub mod maker;
mod measure;
pub mod model;
pub mod name;
pub mod objects;
mod orphans;
pub mod place;
pub mod prompt;
pub mod quotes;
mod record;
pub mod reports;
pub mod schema;
pub mod shares;
pub mod sweep;
pub mod timelines;
mod told;
pub mod transcript;
pub mod turns;
pub mod upload;
pub mod writer;

pub use error::ReportsError;
pub use llm::{Llm, LlmAnswer, LlmError, LlmRequest};
pub use maker::{Pen, ReportMaker};
pub use measure::describe_metrics;
pub use model::{File, FileError, FileStatus, MAX_FILE_BYTES, MadeWith, Window};
pub use name::{Extension, FileName};
pub use objects::{ObjectEntry, ObjectError, ObjectErrorKind, ObjectUpload, Objects};
pub use place::{Files, Place};
pub use reports::{
    Beside, BesideError, LostReport, READ_TIME, Read, Removal, Reports, ReportsOptions, TokenHash,
};
pub use shares::{MadeShare, Share};
pub use sweep::Sweeper;
pub use timelines::{TimelineError, Timelines};
pub use upload::Upload;
pub use writer::{Draft, LlmWriter, Source, Writer};
