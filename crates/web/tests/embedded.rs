//! What is really embedded in this build: with Node the dashboard, without it the page.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails it by panicking")]

use std::str::from_utf8;

use mainstay_web::{Asset, all, built, find, index};

/// What the first load may weigh.
const FIRST_LOAD_LIMIT: usize = 120 * 1024;

fn page() -> &'static str {
    from_utf8(index().identity).unwrap()
}

#[test]
fn the_page_starts_a_hashed_script_or_names_what_was_missing() {
    if !built() {
        assert!(page().contains("this build has no dashboard"));
        return;
    }
    let script = all().iter().find(|asset| {
        asset.path.starts_with("/assets/index-")
            && asset.path.ends_with(".js")
            && page().contains(&format!("src=\"{}\"", asset.path))
    });
    assert!(script.is_some_and(|asset| asset.immutable && asset.brotli.is_some()));
}

#[test]
fn everything_the_page_names_is_there() {
    let named = page().split('"').filter(|part| part.starts_with("/assets/"));
    for path in named {
        assert!(find(path).is_some(), "{path}");
    }
}

#[test]
fn the_page_keeps_the_content_security_policy() {
    for forbidden in ["<style", "style=", "onclick=", "javascript:", "https://", "http://"] {
        assert!(!page().contains(forbidden), "{forbidden}");
    }
    for script in page().split("<script").skip(1) {
        let (opening, inside) = script.split_once('>').unwrap();
        assert!(opening.contains("src=") && inside.starts_with("</script>"), "{script}");
    }
}

#[test]
fn files_are_found_by_their_exact_path() {
    for asset in all() {
        assert_eq!(find(asset.path).map(|found| found.etag), Some(asset.etag));
    }
    for path in ["", "/", "/index.htm", "/index.html/", "index.html", "/../Cargo.toml"] {
        assert!(find(path).is_none(), "{path}");
    }
}

#[test]
fn only_hashed_names_are_immutable_and_tags_are_strong() {
    assert!(!index().immutable);
    for asset in all() {
        assert_eq!(asset.immutable, asset.path.starts_with("/assets/"));
        assert!(asset.etag.starts_with('"') && asset.etag.ends_with('"') && asset.etag.len() == 34);
        assert!(asset.content_type != "application/octet-stream", "{}", asset.path);
    }
}

#[test]
fn variants_are_smaller_and_the_first_load_is_light() {
    for asset in all() {
        let sizes = [asset.brotli, asset.gzip].map(|bytes| bytes.map(<[u8]>::len));
        assert!(sizes.iter().flatten().all(|size| *size < asset.identity.len()), "{}", asset.path);
    }
    // The page names all that it begins with; what comes later is asked for when it is needed.
    let named = page().split('"').filter(|part| part.starts_with("/assets/"));
    let first = named.map(|path| find(path).unwrap()).chain([index()]);
    let total: usize = first.map(weight).sum();
    assert!(total <= FIRST_LOAD_LIMIT, "{total}");
}

/// What comes over the wire.
fn weight(asset: &Asset) -> usize {
    let packed = [asset.brotli, asset.gzip].into_iter().flatten().map(<[u8]>::len).min();
    packed.unwrap_or(asset.identity.len())
}
