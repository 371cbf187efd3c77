//! Redirects are followed, judged, and told no secrets.

use std::sync::Arc;

use mainstay_base::Secret;
use mainstay_outbound::{Policy, Web};

use crate::resolver::Scripted;
use crate::server::{Server, answer};
use crate::{SHORT, failed, fetch, get, options, web};

async fn sending_to(status: &str, location: &str) -> Server {
    Server::saying(answer(status, &format!("Location: {location}\r\n"), "moved")).await
}

#[tokio::test]
async fn every_kind_of_redirect_is_followed() {
    let well = Server::well().await;
    for status in ["301 a", "302 b", "303 c", "307 d", "308 e"] {
        let server = sending_to(status, &well.url("/there")).await;
        let answer = fetch(&web(), get(&server.url("/"))).await.unwrap();
        assert_eq!((answer.status, &answer.body[..]), (200, &b"well"[..]), "{status}");
    }
    assert!(well.heads().iter().all(|head| head.starts_with("GET /there ")));
}

#[tokio::test]
async fn a_redirect_to_nowhere_is_an_answer() {
    let server = Server::saying(answer("302 Found", "", "moved")).await;
    let answer = fetch(&web(), get(&server.url("/"))).await.unwrap();
    assert_eq!((answer.status, &answer.body[..]), (302, &b"moved"[..]));
}

#[tokio::test]
async fn a_loop_ends() {
    let server = sending_to("302 Found", "/again").await;
    let (kind, message) = failed(fetch(&web(), get(&server.url("/"))).await);
    assert_eq!(kind, "redirect_blocked");
    assert!(message.contains("more than 3 redirects"), "{message}");
    assert_eq!(server.heads().len(), 4);
    assert_eq!(server.connections(), 1, "one connection serves them all");
    let (kind, _) = failed(fetch(&web(), get(&server.url("/")).max_redirects(0)).await);
    assert_eq!(kind, "redirect_blocked");
    assert_eq!(server.heads().len(), 5);
}

#[tokio::test]
async fn as_many_as_allowed_are_followed() {
    let server = Server::start(|mut peer| async move {
        while let Some(head) = peer.question().await {
            let left = head.as_bytes()[5] - b'0';
            if left == 0 {
                peer.say(crate::server::ok("well")).await;
            } else {
                peer.say(answer("302 x", &format!("Location: /{}\r\n", left - 1), "")).await;
            }
        }
    })
    .await;
    assert_eq!(fetch(&web(), get(&server.url("/3"))).await.unwrap().body, "well");
    assert_eq!(failed(fetch(&web(), get(&server.url("/4"))).await).0, "redirect_blocked");
}

#[tokio::test]
async fn a_redirect_to_what_is_never_called_is_blocked() {
    for target in [
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:169.254.169.254]/",
        "http://[fe80::1]/",
        "http://2852039166/",
        "http://0.0.0.0/",
        "//169.254.169.254/",
        "http://[64:ff9b::a9fe:a9fe]/",
    ] {
        let server = sending_to("302 Found", target).await;
        let (kind, message) = failed(fetch(&web(), get(&server.url("/"))).await);
        assert_eq!(kind, "redirect_blocked", "{target}");
        assert!(message.contains("the redirect is not followed: it leads to"), "{message}");
        assert!(!message.contains("169.254") && message.contains("outbound.allow"), "{message}");
    }
}

#[tokio::test]
async fn a_redirect_into_the_inner_network_is_blocked() {
    let well = Server::well().await;
    let server = sending_to("302 Found", &format!("http://localhost:{}/", well.port)).await;
    let allow = mainstay_outbound::AllowList::parse(["127.0.0.1", "public.example"]).unwrap();
    let mut options = options();
    options.policy = Policy { private: false, allow, own: None };
    options.resolver = Arc::new(Scripted::always(&["127.0.0.1"]));
    let url = format!("http://public.example:{}/", server.port);
    // `localhost` is ::1 too, which nobody listed.
    let (kind, message) = failed(fetch(&Web::new(&options).unwrap(), get(&url)).await);
    assert_eq!(kind, "redirect_blocked");
    assert!(message.contains("a loopback address"), "{message}");
    assert_eq!(well.connections(), 0);
}

#[tokio::test]
async fn a_redirect_to_what_is_no_web_address_is_blocked() {
    for target in ["file:///etc/passwd", "ftp://127.0.0.1/", "http://", "http://127.0.0.1:0/"] {
        let server = sending_to("302 Found", target).await;
        let (kind, message) = failed(fetch(&web(), get(&server.url("/"))).await);
        assert_eq!(kind, "redirect_blocked", "{target} {message}");
    }
}

#[tokio::test]
async fn secrets_go_to_their_origin_only() {
    let stranger = Server::well().await;
    let server = Server::start({
        let there = stranger.url("/there");
        move |mut peer| {
            let there = there.clone();
            async move {
                while let Some(head) = peer.question().await {
                    let to = if head.starts_with("GET /home") { there.as_str() } else { "/home" };
                    peer.say(answer("302 x", &format!("Location: {to}\r\n"), "")).await;
                }
            }
        }
    })
    .await;
    let url = format!("http://user:hunter2@127.0.0.1:{}/", server.port);
    let request = get(&url).header("X-Key", Secret::new("hunter2".to_owned()));
    fetch(&web(), request).await.unwrap();
    let at_home = server.heads();
    assert_eq!(at_home.len(), 2);
    for head in at_home {
        assert!(head.contains("x-key: hunter2\r\n"), "{head}");
        assert!(head.contains("authorization: Basic dXNlcjpodW50ZXIy\r\n"), "{head}");
    }
    let head = &stranger.heads()[0];
    assert!(!head.contains("x-key") && !head.contains("authorization"), "{head}");
    assert!(head.contains(&format!("host: 127.0.0.1:{}\r\n", stranger.port)), "{head}");
}

#[tokio::test]
async fn a_body_goes_to_its_origin_only() {
    let stranger = Server::well().await;
    let server = sending_to("302 Found", &stranger.url("/there")).await;
    let request = get(&server.url("/")).body("token=hunter2");
    fetch(&web(), request).await.unwrap();
    assert!(server.heads()[0].contains("content-length: 13\r\n"), "{:?}", server.heads());
    assert!(!stranger.heads()[0].contains("content-length: 13"), "{:?}", stranger.heads());
}

#[tokio::test]
async fn what_fails_behind_a_redirect_keeps_its_kind() {
    let server = sending_to("302 Found", "http://127.0.0.1:1/").await;
    let (kind, _) = failed(fetch(&web(), get(&server.url("/"))).await);
    assert_eq!(kind, "connect_refused");
    let hanging = Server::start(|mut peer| async move { peer.until_hung_up().await }).await;
    let server = sending_to("302 Found", &hanging.url("/")).await;
    let (kind, _) = failed(fetch(&web(), get(&server.url("/")).timeout(SHORT)).await);
    assert_eq!(kind, "timeout", "the time is for the whole call");
}

#[tokio::test]
async fn the_body_of_a_redirect_is_not_waited_for_without_end() {
    let well = Server::well().await;
    let location = well.url("/");
    let server = Server::start(move |mut peer| {
        let head =
            format!("HTTP/1.1 302 x\r\nLocation: {location}\r\nTransfer-Encoding: chunked\r\n\r\n");
        async move {
            peer.question().await;
            peer.say(head).await;
            peer.until_hung_up().await;
        }
    })
    .await;
    assert_eq!(fetch(&web(), get(&server.url("/"))).await.unwrap().body, "well");
    server.open(0).await;
}
