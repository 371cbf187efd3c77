//! The file of a journey: `shape` is what may stand in it, `forms` are its small words, `build` makes a
//! journey of it and finds every mistake, `place` knows where, `problem` says what YAML could not be read.

mod build;
mod forms;
mod mistakes;
mod place;
mod problem;
mod shape;

pub use mistakes::Mistake;

use schemars::generate::SchemaSettings;

use crate::bounds::{MAX_DEPTH, MAX_FILE_BYTES, MAX_NODES};
use crate::model::Journey;
use mistakes::Mistakes;
use shape::JourneyFile;

impl Journey {
    /// Reads a file.
    ///
    /// # Errors
    /// Every mistake that was found, with its place. What can't be read at all is told alone.
    pub fn parse(text: &str) -> Result<Self, Vec<Mistake>> {
        let mut mistakes = Mistakes::default();
        let built = read(text).map(|file| build::journey(&file, &mut mistakes));
        match built {
            Err(mistake) => Err(vec![mistake]),
            Ok(Some(journey)) if mistakes.is_empty() => Ok(journey),
            Ok(_) => Err(mistakes.placed(text)),
        }
    }
}

/// The JSON Schema of a file, for editors.
#[must_use]
pub fn schema() -> String {
    let generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    let schema = generator.into_root_schema_for::<JourneyFile>();
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

fn read(text: &str) -> Result<JourneyFile, Mistake> {
    if text.len() > MAX_FILE_BYTES {
        let message = format!("the file is longer than {MAX_FILE_BYTES} bytes; split it");
        return Err(Mistake::at_start(message));
    }
    let mut path = Vec::new();
    let read = serde_saphyr::with_deserializer_from_str_with_options(text, options(), |reader| {
        serde_path_to_error::deserialize(reader).map_err(|error| {
            path = place::steps(error.path());
            error.into_inner()
        })
    });
    read.map_err(|error| problem::mistake(text, path, &error))
}

/// How YAML is read. No error carries a part of the text.
fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: MAX_NODES,
            max_events: MAX_NODES,
            max_depth: MAX_DEPTH,
            // Many may share one anchor: what they stand for is counted.
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_NODES },
        // `yes` and `on` are names that people give; true and false are what JSON says too.
        strict_booleans: true,
        with_snippet: false,
    }
}

#[cfg(test)]
#[path = "../file_tests.rs"]
mod tests;
