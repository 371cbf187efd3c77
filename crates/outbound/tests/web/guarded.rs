//! Nothing is called that was not judged, and nothing but what was judged.

use std::sync::Arc;

use mainstay_outbound::{AllowList, OwnDoor, Policy, Web};

use crate::resolver::Scripted;
use crate::server::Server;
use crate::{failed, fetch, get, options, web};

/// Public addresses only, and names as scripted.
fn closed(answers: &[&[&str]], allow: &[&str]) -> (Web, Arc<Scripted>) {
    let names = Arc::new(Scripted::new(answers));
    let mut options = options();
    options.policy = Policy { private: false, allow: AllowList::parse(allow).unwrap(), own: None };
    options.resolver = Arc::clone(&names) as _;
    (Web::new(&options).unwrap(), names)
}

#[tokio::test]
async fn a_name_that_leads_inside_is_blocked() {
    let server = Server::well().await;
    let url = format!("http://rebound.example:{}/", server.port);
    for answer in [&["127.0.0.1"][..], &["::ffff:127.0.0.1"], &["::1"], &["10.0.0.1"]] {
        let (web, _) = closed(&[answer], &[]);
        let (kind, message) = failed(fetch(&web, get(&url)).await);
        assert_eq!(kind, "blocked_address", "{answer:?}");
        assert!(message.contains("outbound.allow") && !message.contains("127."), "{message}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn an_address_can_be_checked_without_a_call() {
    let server = Server::well().await;
    let url = format!("http://db.internal:{}/", server.port);
    let (web, _) = closed(&[&["127.0.0.1"]], &[]);
    let refused = web.check(&get(&url).build().unwrap()).await.unwrap_err();
    assert_eq!(refused.kind().name(), "blocked_address");
    let (web, _) = closed(&[&["127.0.0.1"]], &["db.internal"]);
    assert_eq!(web.check(&get(&url).build().unwrap()).await, Ok(()));
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn one_blocked_address_blocks_the_name() {
    let server = Server::well().await;
    let url = format!("http://both.example:{}/", server.port);
    for answer in [&["192.0.32.10", "127.0.0.1"][..], &["127.0.0.1", "192.0.32.10"]] {
        let (web, _) = closed(&[answer], &[]);
        assert_eq!(failed(fetch(&web, get(&url)).await).0, "blocked_address");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_name_is_resolved_once_for_each_connection_and_not_again_after_the_judgement() {
    let server = Server::well().await;
    let url = format!("http://rebind.example:{}/", server.port);
    // The second answer would be blocked: it must never be asked for.
    let (web, names) = closed(&[&["127.0.0.1"], &["169.254.169.254"]], &["127.0.0.1"]);
    assert_eq!(fetch(&web, get(&url)).await.unwrap().body, "well");
    assert_eq!(names.asked(), ["rebind.example"]);
    // On the kept connection nothing is resolved, and so nothing can be rebound.
    assert_eq!(fetch(&web, get(&url)).await.unwrap().body, "well");
    assert_eq!((names.asked().len(), server.connections()), (1, 1));
}

#[tokio::test]
async fn a_name_that_is_rebound_later_is_judged_again() {
    let server =
        Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nwell")
            .await;
    let url = format!("http://rebind.example:{}/", server.port);
    let (web, names) = closed(&[&["127.0.0.1"], &["127.0.0.2"]], &["127.0.0.1"]);
    assert_eq!(fetch(&web, get(&url)).await.unwrap().body, "well");
    assert_eq!(failed(fetch(&web, get(&url)).await).0, "blocked_address");
    assert_eq!((names.asked().len(), server.connections()), (2, 1));
}

#[tokio::test]
async fn literals_are_judged_in_every_spelling() {
    let (web, names) = closed(&[&["192.0.32.10"]], &[]);
    for url in [
        "http://127.0.0.1/",
        "http://0177.1/",
        "http://0x7f000001/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::1]/",
        "http://localhost/",
        "http://LOCALHOST./",
        "http://x.localhost/",
        "http://user:hunter2@127.0.0.1/",
        "https://10.1.2.3/",
        "http://169.254.169.254/",
    ] {
        assert_eq!(failed(fetch(&web, get(url)).await).0, "blocked_address", "{url}");
    }
    assert_eq!(names.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn a_listed_host_may_lead_inside() {
    let server = Server::well().await;
    let (web, _) = closed(&[&["127.0.0.1"]], &["*.internal"]);
    let url = format!("http://db.internal:{}/", server.port);
    assert_eq!(fetch(&web, get(&url)).await.unwrap().body, "well");
    let url = format!("http://internal.example:{}/", server.port);
    assert_eq!(failed(fetch(&web, get(&url)).await).0, "blocked_address");
}

#[tokio::test]
async fn a_name_is_asked_for_as_it_was_given() {
    let server = Server::well().await;
    let (web, names) = closed(&[&["127.0.0.1"]], &["db.internal"]);
    for host in ["DB.internal", "db.internal."] {
        let url = format!("http://{host}:{}/", server.port);
        assert_eq!(fetch(&web, get(&url)).await.unwrap().body, "well");
    }
    assert_eq!(names.asked(), ["db.internal", "db.internal."]);
    let host = format!("host: db.internal:{}\r\n", server.port);
    assert!(server.heads().iter().all(|head| head.contains(&host)));
}

#[tokio::test]
async fn an_ipv6_literal_works() {
    let listener = tokio::net::TcpListener::bind("[::1]:0").await;
    // A host without IPv6 has nothing to test here.
    let Ok(listener) = listener else { return };
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let answer = crate::server::ok("six");
        tokio::io::AsyncWriteExt::write_all(&mut stream, answer.as_bytes()).await.unwrap();
    });
    let answer = fetch(&web(), get(&format!("http://[::1]:{port}/"))).await.unwrap();
    assert_eq!(answer.body, "six");
}

#[tokio::test]
async fn a_mapped_literal_is_called_where_it_leads() {
    let server = Server::well().await;
    let url = format!("http://[::ffff:127.0.0.1]:{}/", server.port);
    assert_eq!(fetch(&web(), get(&url)).await.unwrap().body, "well");
}

#[tokio::test]
async fn the_own_port_is_for_its_health_only_also_on_a_kept_connection() {
    let server = Server::well().await;
    let mut options = options();
    options.policy.own = Some(OwnDoor::new(server.port));
    let web = Web::new(&options).unwrap();
    for _ in 0..2 {
        assert_eq!(fetch(&web, get(&server.url("/health"))).await.unwrap().body, "well");
        let (kind, message) = failed(fetch(&web, get(&server.url("/api/services"))).await);
        assert_eq!(kind, "blocked_address");
        assert!(message.contains("Mainstay's own port"), "{message}");
    }
    let redirecting = Server::saying(crate::server::answer(
        "302 x",
        &format!("Location: {}\r\n", server.url("/api")),
        "",
    ))
    .await;
    let (kind, _) = failed(fetch(&web, get(&redirecting.url("/"))).await);
    assert_eq!(kind, "redirect_blocked");
    assert!(server.heads().iter().all(|head| head.starts_with("GET /health ")));
}
