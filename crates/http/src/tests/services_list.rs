//! The list of services, by every filter and in every order.

use serde_json::Value;

use super::house::House;

fn names(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn services_are_filtered_sorted_and_cut_into_pages() {
    let house = House::open().await;
    let admin = house.admin().await;
    house.service("Alpha").await;
    house.dependency("bravo", "db").await;
    house.service("Charlie").await;
    house
        .execute("UPDATE services SET team = 'Shop', team_key = 'shop' WHERE name = 'Charlie'")
        .await;
    for (query, expected) in [
        ("", vec!["Alpha", "bravo", "Charlie"]),
        ("?sort=-name", vec!["Charlie", "bravo", "Alpha"]),
        ("?sort=status", vec!["bravo", "Alpha", "Charlie"]),
        ("?sort=-status", vec!["Charlie", "Alpha", "bravo"]),
        ("?sort=last_polled", vec!["Alpha", "Charlie", "bravo"]),
        ("?sort=-last_polled", vec!["bravo", "Charlie", "Alpha"]),
        ("?status=degraded", vec!["bravo"]),
        ("?status=unknown", vec!["Alpha", "Charlie"]),
        ("?status=healthy", vec![]),
        ("?team=SHOP", vec!["Charlie"]),
        ("?q=RAV", vec!["bravo"]),
        ("?q=alpha.example.org", vec!["Alpha"]),
        ("?q=shop&status=unknown", vec!["Charlie"]),
        ("?q=&team=", vec!["Alpha", "bravo", "Charlie"]),
        ("?q=%25", vec![]),
    ] {
        let page = admin.get(&format!("/api/services{query}")).await.json();
        assert_eq!(names(&page), expected, "{query}");
        assert_eq!(page["next_cursor"], Value::Null, "{query}");
    }
    for sort in ["name", "-name", "status", "-status", "last_polled", "-last_polled"] {
        let whole = admin.get(&format!("/api/services?sort={sort}")).await.json();
        let mut seen = Vec::new();
        let mut cursor = String::new();
        for _ in 0..3 {
            let page =
                admin.get(&format!("/api/services?limit=1&sort={sort}{cursor}")).await.json();
            seen.extend(names(&page).into_iter().map(str::to_owned));
            cursor = page["next_cursor"]
                .as_str()
                .map(|next| format!("&cursor={next}"))
                .unwrap_or_default();
        }
        assert_eq!(seen, names(&whole), "{sort}");
        assert_eq!(cursor, "", "{sort}");
    }
}

#[tokio::test]
async fn what_is_no_list_is_refused() {
    let house = House::open().await;
    let admin = house.admin().await;
    let long = format!("q={}", "x".repeat(101));
    for query in ["sort=colour", "status=green", "limit=201", "cursor=x", "offset=1", &long] {
        let answer = admin.get(&format!("/api/services?{query}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_query"), "{query}");
    }
}
