//! What is left when serving ends.

use super::*;
use crate::config::testing::input;
use crate::config::{data, load};

#[tokio::test]
async fn whoever_cannot_be_told_leaves_nothing_running() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data").to_str().unwrap().to_owned();
    let flags = vec![(&data::DATA_DIR, path), (&http::LISTEN, "127.0.0.1:0".to_owned())];
    let config = load(input(flags, &[], "")).map_err(|error| error.to_string()).unwrap().config;
    let listener = listen::bind(&config.http.listen).await.unwrap();
    let stop = CancellationToken::new();
    let opening = Opening {
        is_demo: false,
        cookie: |_| CookieName::default(),
        prepare: async |_: &Rooms| Ok(()),
        announce: |(), _: &str| anyhow::bail!("nobody reads this"),
    };
    let served = serve_on(&config, Arc::new(SystemClock::new()), listener, &stop, opening).await;
    assert_eq!(served.map(drop).unwrap_err().to_string(), "nobody reads this");
    assert!(stop.is_cancelled());
    assert_eq!(mainstay_testkit::tasks_left().await, 0);
}
