//! Writes the Rust source that embeds a folder: one sorted, static table.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::files::{self, failed};
use super::plan::BuildError;

/// Hexadecimal digits of a hash that are kept: 128 bits.
const HASH_DIGITS: usize = 32;

/// Vite puts what has a hash in its name here, and nothing else.
const HASHED_FOLDER: &str = "/assets/";

/// Every other page of the dashboard is reached through this one.
const INDEX: &str = "/index.html";

/// Writes the table of everything in `dist`.
pub(crate) fn write(dist: &Path, target: &Path, built: bool) -> Result<(), BuildError> {
    let mut assets: Vec<(String, PathBuf)> = all_files(dist)?
        .into_iter()
        .filter_map(|path| Some((served_name(dist, &path)?, path)))
        .collect();
    // The lookup is a binary search, so the order is that of the served names.
    assets.sort();
    let index = assets.iter().position(|(name, _)| name == INDEX);
    let index = index.ok_or_else(|| BuildError::NoIndex(dist.to_path_buf()))?;
    let mut source = format!(
        "pub(crate) const BUILT: bool = {built};\n\
         pub(crate) static INDEX: &Asset = &ASSETS[{index}];\n\
         pub(crate) static ASSETS: [Asset; {}] = [\n",
        assets.len()
    );
    for (name, path) in &assets {
        let bytes = fs::read(path).map_err(failed("read", path))?;
        push_asset(&mut source, name, path, &hash(&bytes));
    }
    source.push_str("];\n");
    fs::write(target, source).map_err(failed("write", target))
}

/// The first half of a SHA-256, in hexadecimal.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes).iter().take(HASH_DIGITS / 2) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn push_asset(source: &mut String, name: &str, path: &Path, hash: &str) {
    let include = |path: &Path| format!("include_bytes!({:?})", path.display().to_string());
    let variant = |extension: &str| {
        let mut encoded = path.as_os_str().to_owned();
        encoded.push(extension);
        let encoded = PathBuf::from(encoded);
        if encoded.is_file() { format!("Some({})", include(&encoded)) } else { "None".to_owned() }
    };
    let _ = writeln!(
        source,
        "    Asset {{ path: {name:?}, content_type: {:?}, etag: {:?}, immutable: {}, \
         identity: {}, brotli: {}, gzip: {} }},",
        content_type(name),
        format!("\"{hash}\""),
        name.starts_with(HASHED_FOLDER),
        include(path),
        variant(".br"),
        variant(".gz"),
    );
}

/// The path in an address; none for the precompressed variants, which are no files of their own.
fn served_name(dist: &Path, path: &Path) -> Option<String> {
    let relative = path.strip_prefix(dist).ok()?.to_str()?.replace('\\', "/");
    let variant = relative.ends_with(".br") || relative.ends_with(".gz");
    (!variant).then(|| format!("/{relative}"))
}

fn all_files(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let mut found = Vec::new();
    for path in files::entries(folder)? {
        if path.is_dir() {
            found.extend(all_files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
