//! Who shares the polling.

use serde_json::json;

use super::house::House;

#[tokio::test]
async fn instances_are_told_with_what_they_poll_and_what_nobody_polls() {
    let house = House::open().await;
    let admin = house.admin().await;
    let empty = admin.get("/api/instances").await.json();
    assert_eq!(empty, json!({"items": [], "shards": 64, "shards_unowned": 64}));
    let now = house.events.db().now().await.unwrap().as_millis();
    for (number, expires_in, gone) in
        [(1, 10_000, "NULL, NULL"), (2, -1, "NULL, NULL"), (3, -1, "7, 'lost'")]
    {
        house
            .execute(&format!(
                "INSERT INTO instances (id, name, version, started_at, renewed_at, expires_at, services,
                   lag_ms, gone_at, gone_why)
                 VALUES ('019a8b3c-0000-7000-8000-00000000000{number}', 'host-{number}:7373', '0.1.0',
                   {number}, {now} - 2000, {now} + {expires_in}, 5, 40, {gone})"
            ))
            .await;
        house
            .execute(&format!(
                "UPDATE poll_shards SET owner = '019a8b3c-0000-7000-8000-00000000000{number}'
                 WHERE shard >= {number} * 10 AND shard < {number} * 10 + 10"
            ))
            .await;
    }
    let told = admin.get("/api/instances").await.json();
    assert_eq!(told["shards_unowned"], 54, "only the first is alive: {told:#}");
    let states: Vec<_> =
        told["items"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["late", "alive", "lost"], "{told:#}");
    let alive = &told["items"][1];
    assert_eq!((&alive["name"], &alive["services"]), (&json!("host-1:7373"), &json!(5)));
    assert_eq!(alive["shards"], json!((10..20).collect::<Vec<_>>()));
    assert!(alive["lease_age_ms"].as_u64().unwrap() >= 2_000, "{alive:#}");
    let lost = &told["items"][2];
    assert_eq!((&lost["shards"], &lost["services"]), (&json!([]), &json!(0)), "it polls nothing");
}
