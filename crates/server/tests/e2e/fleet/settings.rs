//! Providers that are set up by half, wrongly, or not at all.

use serde_json::json;

use super::house::{House, NEVER};
use crate::process::mainstay;

#[test]
fn what_is_missing_or_wrong_is_named_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let token = ("FLY_API_TOKEN", "hunter2");
    for (given, words) in [
        (
            vec![token],
            "FLY_API_TOKEN is set but FLY_APP, FLY_IMAGE are not; set all of them or none",
        ),
        (
            vec![token, ("FLY_APP", "my-fleet")],
            "FLY_API_TOKEN, FLY_APP are set but FLY_IMAGE is not; set all of them or none",
        ),
        (
            vec![token, ("FLY_APP", "My Fleet"), ("FLY_IMAGE", "registry.fly.io/a:1")],
            "fly.app from FLY_APP: \"My Fleet\" is no name of an app",
        ),
        (
            vec![("SPRITES_TOKEN", "hunter2"), ("SPRITES_API_URL", "api.sprites.dev")],
            "sprites.base_url from SPRITES_API_URL: \"api.sprites.dev\" is no web address",
        ),
        (
            vec![("SPRITES_TOKEN", "hunter2\u{1}")],
            "sprites.token from SPRITES_TOKEN: the value is no",
        ),
    ] {
        let mut command = mainstay(folder.path());
        command.args(["serve", "--listen", "127.0.0.1:0"]).envs(given);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(words) && !text.contains("hunter2"), "{words}\n{text}");
    }
    assert!(!folder.path().join("mainstay-data").exists(), "nothing was made");
}

#[test]
fn a_provider_that_is_not_set_up_is_told_when_a_worker_is_made() {
    let house = House::new(NEVER);
    for (provider, words) in
        [("fly", "FLY_API_TOKEN, FLY_APP and FLY_IMAGE"), ("sprite", "SPRITES_TOKEN")]
    {
        let body = json!({"name": "w", "provider": provider, "category": "persistent"});
        let refused = house.post("/api/workers", &body);
        let told = refused.json();
        assert_eq!((refused.status, &told["code"]), (409, &json!("provider_not_configured")));
        assert!(told["detail"].as_str().unwrap().contains(words), "{told}");
    }
}
