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

/// Metrics that a document names and no source tells.
#[must_use]
pub fn untold_metrics(document: &File, sources: &[File]) -> Vec<String> {
    let mut untold: Vec<_> = metric_names(&document.text)
        .filter(|name| {
            let told = format!("\"{name}\"");
            !sources.iter().any(|file| file.text.contains(&told))
        })
        .map(|name| format!("{}: {name} is told by nobody", document.path))
        .collect();
    untold.sort();
    untold.dedup();
    untold
}

/// The names of Mainstay's metrics in a text, without what a histogram adds to them.
fn metric_names(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    text.split(move |letter| !is_part(letter)).filter(|word| word.starts_with("mainstay_")).map(
        |word| {
            let ends = ["_bucket", "_sum", "_count"];
            ends.iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word)
        },
    )
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
    fn a_metric_that_nobody_tells_is_told() {
        let file = |text: &str| File { path: "a".to_owned(), text: text.to_owned() };
        let rules = file("rate(mainstay_a_bucket{le=\"1\"}) / mainstay_b_total > mainstay_a_count");
        let broken = untold_metrics(&rules, &[file("counter!(\"mainstay_a\")")]);
        assert_eq!(broken, ["a: mainstay_b_total is told by nobody"]);
    }

    #[test]
    fn a_crate_that_the_map_forgets_is_told() {
        assert_eq!(unmapped("`base` stands below", &["base", "cellar"]), ["cellar"]);
    }
}
