//! What the documents say must be there.

use std::path::Path;

use crate::source::File;

/// Links of Markdown files that lead to no file of the repository.
#[must_use]
pub fn broken_links(root: &Path, files: &[File]) -> Vec<String> {
    files.iter().flat_map(|file| broken_links_in(root, file)).collect()
}

/// Crates that the map does not name.
#[must_use]
pub fn unmapped<'a>(map: &str, crates: &[&'a str]) -> Vec<&'a str> {
    crates.iter().copied().filter(|folder| !map.contains(&format!("`{folder}`"))).collect()
}

fn broken_links_in(root: &Path, file: &File) -> Vec<String> {
    let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
    let local = link_targets(&file.text).filter(|target| !target.contains("://"));
    local
        .filter_map(|target| {
            let path = target.split('#').next().unwrap_or_default();
            let there = path.is_empty() || root.join(folder).join(path).exists();
            (!there).then(|| format!("{}: {target} is not there", file.path))
        })
        .collect()
}

fn link_targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_nothing_is_told() {
        let text = "[a](b.md) [c](https://example.org/x) [d](#part) [e](Cargo.toml)".to_owned();
        let file = File { path: "README.md".to_owned(), text };
        let broken = broken_links(&crate::source::root(), &[file]);
        assert_eq!(broken, ["README.md: b.md is not there"]);
    }

    #[test]
    fn a_crate_that_the_map_forgets_is_told() {
        assert_eq!(unmapped("`base` stands below", &["base", "cellar"]), ["cellar"]);
    }
}
