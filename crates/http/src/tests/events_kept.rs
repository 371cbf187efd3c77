//! What is kept of the streams: whose it is, where it begins, and its pages.

use mainstay_store::Sql;
use serde_json::Value;

use super::*;

#[tokio::test]
async fn nobody_reads_the_stream_of_another_and_no_admin_does() {
    let house = House::open().await;
    let admin = house.admin().await;
    let viewer = house.user(&admin, "viewer@example.com", Role::Viewer).await;
    let mut of_admin = house.follow(&admin, "/api/events").await;
    let mut of_viewer = house.follow(&viewer, "/api/events").await;
    let begin = first_event(&mut of_admin).await.id.unwrap();
    first_event(&mut of_viewer).await;
    house.tell(Stream::User(viewer.id()), "own", 0..1).await;
    house.tell(Stream::Org, "told", 1..2).await;
    assert_eq!(of_admin.numbers(1).await, [1]);
    let mut numbers = of_viewer.numbers(2).await;
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1]);
    for (person, query, wanted) in [
        (&admin, "", vec![1]),
        (&admin, "streams=user&", vec![]),
        (&viewer, "", vec![0, 1]),
        (&viewer, "streams=user&", vec![0]),
    ] {
        let page = person.get(&format!("/api/events/history?{query}after={begin}")).await.json();
        assert_eq!(page["reset"], Value::Null, "{page}");
        let items = page["items"].as_array().unwrap();
        let mut numbers: Vec<_> =
            items.iter().map(|item| item["number"].as_u64().unwrap()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, wanted, "{query} {page}");
    }
}

#[tokio::test]
async fn a_position_below_what_is_kept_resets() {
    let house = House::open().await;
    let admin = house.admin().await;
    let mut follower = house.follow(&admin, "/api/events").await;
    let begin = first_event(&mut follower).await.id.unwrap();
    let epoch = begin.split_once('.').unwrap().0;
    house.tell(Stream::Org, "told", 0..5).await;
    let raise = Sql::same("test.raise_floor", "UPDATE event_streams SET floor_seq = 3");
    house.events.db().write(async |tx| tx.execute(&raise, &[]).await).await.unwrap();
    let (below, at, now) = (format!("{epoch}.2.0"), format!("{epoch}.3.0"), format!("{epoch}.5.0"));
    let mut follower = house.resume(&admin, "/api/events", &below).await;
    let reset = first_event(&mut follower).await;
    assert_eq!(reset.event.as_deref(), Some("reset"));
    assert_eq!(reset.json(), json!({ "reason": "floor", "position": now }));
    let page = admin.get(&format!("/api/events/history?after={below}")).await.json();
    assert_eq!((&page["reset"], &page["items"]), (&json!("floor"), &json!([])));
    let mut follower = house.resume(&admin, "/api/events", &at).await;
    assert_eq!(follower.numbers(2).await, [3, 4]);
}

#[tokio::test]
async fn the_history_is_read_in_pages_and_leads_to_the_stream() {
    let house = House::open().await;
    let admin = house.admin().await;
    let begin = admin.get("/api/events/history").await.json();
    assert_eq!((&begin["items"], &begin["next_cursor"]), (&json!([]), &Value::Null));
    let mut position = begin["position"].as_str().unwrap().to_owned();
    house.tell(Stream::Org, "told", 0..5).await;
    house.tell(Stream::User(admin.id()), "own", 5..7).await;
    let mut numbers = Vec::new();
    loop {
        let target = format!("/api/events/history?after={position}&limit=3");
        let page = admin.get(&target).await.json();
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 3, "{page}");
        numbers.extend(items.iter().map(|item| item["number"].as_u64().unwrap()));
        position = page["position"].as_str().unwrap().to_owned();
        if page["next_cursor"].is_null() {
            break;
        }
        assert_eq!(page["next_cursor"], page["position"]);
    }
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..7).collect::<Vec<_>>());
    house.tell(Stream::Org, "told", 7..8).await;
    let mut follower = house.follow(&admin, &format!("/api/events?after={position}")).await;
    assert_eq!(follower.numbers(1).await, [7]);
    let reset = admin.get("/api/events/history?after=garbage").await.json();
    assert_eq!((&reset["reset"], &reset["items"]), (&json!("garbage"), &json!([])));
}
