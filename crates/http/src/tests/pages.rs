//! Pages for whoever is signed in, and the way to `/login` for the rest.

use super::house::House;
use super::people::bearer;
use super::raw::request;

const BROWSER: &str = "Accept: text/html,*/*;q=0.8\r\n";

#[tokio::test]
async fn without_a_session_a_page_leads_to_the_one_to_sign_in() {
    let house = House::open().await;
    for (target, location) in [
        ("/", "/login?next=%2F"),
        ("/services/1", "/login?next=%2Fservices%2F1"),
        ("/account?tab=tokens&a=%20", "/login?next=%2Faccount%3Ftab%3Dtokens%26a%3D%2520"),
        ("/login/", "/login?next=%2Flogin%2F"),
        ("/Login", "/login?next=%2FLogin"),
        ("/setups", "/login?next=%2Fsetups"),
        ("//evil", "/login"),
        ("/a/..//evil", "/login"),
        ("/.//evil", "/login"),
    ] {
        for method in ["GET", "HEAD"] {
            let answer = request(house.address, method, target, BROWSER, "").await;
            assert_eq!(answer.status, 303, "{method} {target}");
            assert_eq!(answer.header("location"), Some(location), "{method} {target}");
            assert_eq!(answer.header("cache-control"), Some("no-store"));
            assert_eq!(answer.header("vary"), Some("accept, accept-encoding, cookie"));
            assert!(answer.body.is_empty());
        }
    }
    let long = format!("/{}", "x".repeat(2000));
    let answer = request(house.address, "GET", &long, BROWSER, "").await;
    assert_eq!((answer.status, answer.header("location")), (303, Some("/login")));
}

#[tokio::test]
async fn the_pages_to_get_in_and_every_file_are_open() {
    let house = House::open().await;
    for target in ["/login?next=%2F", "/setup", "/invite", "/request-access"] {
        let answer = request(house.address, "GET", target, BROWSER, "").await;
        assert_eq!(answer.status, 200, "{target}");
        assert!(answer.body.starts_with(b"<!doctype html>"), "{target}");
    }
    for (target, status) in
        [("/assets/app-abc.js", 200), ("/favicon.svg", 200), ("/assets/missing.js", 404)]
    {
        let answer = request(house.address, "GET", target, BROWSER, "").await;
        assert_eq!((answer.status, answer.header("location")), (status, None), "{target}");
    }
}

#[tokio::test]
async fn only_a_session_that_is_alive_opens_a_page() {
    let house = House::open().await;
    let admin = house.admin().await;
    let token = house.token(&admin, mainstay_accounts::Scope::Read).await;
    let session = &admin.session;
    for (headers, status) in [
        (format!("Cookie: session={session}\r\n"), 200),
        (format!("Cookie: a=b; session={session}\r\n"), 200),
        (format!("Cookie: session={session}; session=planted\r\n"), 303),
        (format!("Cookie: session={}\r\n", "A".repeat(43)), 303),
        (format!("Cookie: session={}\r\n", "x".repeat(10_000)), 303),
        (format!("Cookie: session={token}\r\n"), 303),
        (bearer(&token), 303),
        (bearer(session), 303),
    ] {
        let headers = format!("{BROWSER}{headers}");
        let answer = request(house.address, "GET", "/account", &headers, "").await;
        assert_eq!(answer.status, status, "{headers}");
    }
    house.accounts.sign_out(session, Default::default()).await.unwrap();
    let headers = format!("{BROWSER}{}", admin.cookie());
    assert_eq!(request(house.address, "GET", "/account", &headers, "").await.status, 303);
}
