//! What is sent with a body.

use std::sync::{Arc, Mutex};

use mainstay_base::Secret;
use mainstay_outbound::web::WebMethod;
use mainstay_outbound::{FetchErrorKind, WebRequest};
use tokio::io::AsyncReadExt as _;
use url::Url;

use crate::server::{Server, answer, ok};
use crate::{fetch, get, web};

/// Reads a body of this length after each head, keeps it, and answers.
async fn listener(length: usize, said: String) -> (Server, Arc<Mutex<Vec<Vec<u8>>>>) {
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&bodies);
    let server = Server::start(move |mut peer| {
        let (kept, said) = (Arc::clone(&kept), said.clone());
        async move {
            while let Some(head) = peer.question().await {
                if head.starts_with("POST") || head.starts_with("PUT") {
                    let mut body = vec![0; length];
                    peer.stream.read_exact(&mut body).await.unwrap();
                    kept.lock().unwrap().push(body);
                }
                peer.say(&said).await;
            }
        }
    })
    .await;
    (server, bodies)
}

fn post(url: &str, body: Vec<u8>) -> mainstay_outbound::web::WebRequestBuilder {
    let json = Secret::new("application/json".to_owned());
    WebRequest::post("test", &Url::parse(url).unwrap(), body).header("Content-Type", json)
}

#[tokio::test]
async fn a_body_of_any_length_arrives_whole() {
    for length in [1, 16 * 1024, 3 * 1024 * 1024] {
        let body: Vec<u8> = (0..length).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let (server, bodies) = listener(length, ok("done")).await;
        let answer = fetch(&web(), post(&server.url("/apply"), body.clone())).await.unwrap();
        assert_eq!((answer.status, &answer.body[..]), (200, &b"done"[..]));
        assert_eq!(*bodies.lock().unwrap(), [body]);
        let head = server.heads()[0].to_lowercase();
        assert!(head.starts_with("post /apply http/1.1\r\n"), "{head}");
        assert!(head.contains("content-type: application/json\r\n"), "{head}");
        assert!(head.contains(&format!("content-length: {length}\r\n")), "{head}");
    }
}

/// A connection that was kept may end unheard, and then it would have to be said twice.
#[tokio::test]
async fn it_is_said_on_a_connection_of_its_own() {
    let (server, bodies) = listener(4, ok("done")).await;
    let web = web();
    for _ in 0..2 {
        fetch(&web, get(&server.url("/"))).await.unwrap();
    }
    assert_eq!(server.connections(), 1);
    fetch(&web, post(&server.url("/"), b"body".to_vec())).await.unwrap();
    assert_eq!((server.connections(), bodies.lock().unwrap().len()), (2, 1));
}

/// What is put or deleted is said once too, and goes nowhere else.
#[tokio::test]
async fn other_changes_are_made_in_the_same_way() {
    let elsewhere = Server::well().await;
    let moved = format!("Location: {}\r\n", elsewhere.url("/"));
    let (server, bodies) = listener(4, answer("307 Temporary Redirect", &moved, "")).await;
    let (url, web) = (Url::parse(&server.url("/x")).unwrap(), web());
    let _ = fetch(&web, get(&server.url("/"))).await;
    for request in [WebRequest::put("test", &url, "body"), WebRequest::delete("test", &url)] {
        let error = fetch(&web, request.max_redirects(3)).await.unwrap_err();
        assert_eq!(error.kind(), FetchErrorKind::RedirectBlocked);
    }
    let heads = server.heads();
    assert!(heads[1].starts_with("PUT /x ") && heads[2].starts_with("DELETE /x "), "{heads:?}");
    assert_eq!(
        (server.connections(), bodies.lock().unwrap().as_slice()),
        (3, &[b"body".to_vec()][..])
    );
}

#[tokio::test]
async fn the_servers_name_for_a_request_is_told() {
    let named = answer("200 OK", "fly-request-id: 01J-fra\r\n", "");
    let (server, _) = listener(4, named).await;
    let answer = fetch(&web(), get(&server.url("/"))).await.unwrap();
    assert_eq!(answer.request_id(), Some("01J-fra"));
}

#[tokio::test]
async fn it_goes_nowhere_else() {
    let elsewhere = Server::well().await;
    let moved = format!("Location: {}\r\n", elsewhere.url("/"));
    let (server, _) = listener(4, answer("307 Temporary Redirect", &moved, "")).await;
    let request = post(&server.url("/"), b"body".to_vec()).max_redirects(3);
    let error = fetch(&web(), request).await.unwrap_err();
    assert_eq!(error.kind(), FetchErrorKind::RedirectBlocked);
    assert!(error.message().contains("not followed"), "{error}");
    assert_eq!(elsewhere.connections(), 0);
}

#[test]
fn a_body_is_not_shown() {
    let request = post("http://example.com/", b"hunter2".to_vec());
    let shown = format!("{request:?}{:?}", request.clone().build().unwrap());
    assert!(!shown.contains("hunter2") && !shown.contains("104, 117"), "{shown}");
}

#[tokio::test]
async fn other_methods_are_sent_as_such() {
    for (method, name) in
        [(WebMethod::Put, "PUT"), (WebMethod::Patch, "PATCH"), (WebMethod::Delete, "DELETE")]
    {
        let server = Server::well().await;
        let url = Url::parse(&server.url("/item")).unwrap();
        let request = WebRequest::get("test", &url).method(method);
        fetch(&web(), request).await.unwrap();
        assert!(server.heads()[0].starts_with(&format!("{name} /item HTTP/1.1\r\n")));
    }
}

#[tokio::test]
async fn a_redirect_can_be_the_answer_with_its_headers() {
    let moved = answer("303 See Other", "Location: /orders/1\r\nX-Seen: yes\r\n", "");
    let (server, _) = listener(4, moved).await;
    let request = post(&server.url("/orders"), b"body".to_vec()).redirects_are_answers();
    let fetched = web().fetch_with_headers(&request.build().unwrap()).await.unwrap();
    assert_eq!(fetched.0.status, 303);
    let has = |name: &str, value: &str| {
        fetched.1.iter().any(|header| *header == (name.to_owned(), value.to_owned()))
    };
    assert!(has("location", "/orders/1") && has("x-seen", "yes"), "{:?}", fetched.1);
}
