//! Where Mainstay keeps its data.

use std::path::PathBuf;

use super::reader::{Reader, path};
use super::setting::{Fallback, Kind, Setting};

/// The folder for everything that Mainstay keeps.
pub const DATA_DIR: Setting = Setting {
    key: "data_dir",
    variables: &["MAINSTAY_DATA_DIR"],
    flag: Some("--data-dir"),
    kind: Kind::Text,
    fallback: Fallback::Fixed("./mainstay-data"),
    mask: None,
    help: "Folder for everything Mainstay keeps; made on first start",
};

/// Reads the data folder.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<PathBuf> {
    reader.required(&DATA_DIR, path)
}
