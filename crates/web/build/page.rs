//! The page that is embedded when the dashboard cannot be built.

use std::fs;
use std::path::{Path, PathBuf};

use super::files::{self, failed};
use super::plan::{BuildError, Missing};

const STYLE: &str = include_str!("page.css");

/// Writes the page and its style; their folder.
pub(crate) fn write(out: &Path, missing: &Missing) -> Result<PathBuf, BuildError> {
    let dist = out.join("page");
    files::remove(&dist)?;
    fs::create_dir_all(&dist).map_err(failed("create", &dist))?;
    for (name, text) in [("index.html", html(missing)), ("page.css", STYLE.to_owned())] {
        let path = dist.join(name);
        fs::write(&path, text).map_err(failed("write", &path))?;
    }
    Ok(dist)
}

fn html(missing: &Missing) -> String {
    let cause = escape(&missing.to_string());
    let cure = escape(&Missing::cure());
    format!(
        r#"<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Mainstay</title>
    <link rel="stylesheet" href="/page.css">
  </head>
  <body>
    <main>
      <h1>Mainstay runs, but this build has no dashboard.</h1>
      <p>What the build found: {cause}.</p>
      <p>{cure}</p>
      <p>The API is complete: <a href="/readyz">/readyz</a>, <a href="/metrics">/metrics</a>,
        <a href="/api/openapi.json">/api/openapi.json</a>.</p>
    </main>
  </body>
</html>
"#
    )
}

/// The cause can hold a version or a path that the machine made up.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
