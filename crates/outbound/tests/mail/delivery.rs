//! What a server that is well gets, and what its answers lead to.

use mainstay_outbound::{Mail, SendError};

use crate::server::Server;
use crate::{config, reason, start};

#[tokio::test]
async fn a_mail_arrives_with_its_headers_and_its_text() {
    let mut server = Server::start(&[]).await;
    let post = start(&config(&server.address()));
    let text =
        "Grüße, 你好 🙂\n\n.\n..\nBcc: eve@example.com\nhttps://example.org/invite#abc=def\n";
    let mail = Mail::new("ada@example.com", "Einladung – 招待 🙂 to a service", text).unwrap();
    post.send_mail(&mail).await.unwrap();

    let mail = server.next_of("mail").await;
    assert_eq!(mail["sender"], "mainstay@example.org");
    assert_eq!(mail["recipients"], serde_json::json!(["ada@example.com"]));
    assert_eq!(mail["hello"], "example.org");
    assert_eq!(mail["text"].as_str().unwrap().trim_end(), text.trim_end());
    let headers = &mail["headers"];
    assert_eq!(headers["From"], "Mainstay <mainstay@example.org>");
    assert_eq!(headers["To"], "ada@example.com");
    assert_eq!(headers["Subject"], "Einladung – 招待 🙂 to a service");
    assert_eq!(headers["Auto-Submitted"], "auto-generated");
    assert_eq!(headers["Content-Type"], "text/plain; charset=\"utf-8\"");
    assert_eq!(headers["Message-ID"], format!("<{}@example.org>", post.id));
    assert!(headers.get("Bcc").is_none(), "{headers}");
    assert_eq!(server.rest().await, Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn what_looks_like_a_command_stays_text() {
    let mut server = Server::start(&[]).await;
    let post = start(&config(&server.address()));
    let text = "one\r\n.\r\nMAIL FROM:<eve@example.com>\r\nRCPT TO:<bob@example.com>\r\n\
                DATA\r\ntwo\r.\rthree\n.\nfour\r\n";
    post.send_mail(&Mail::new("ada@example.com", "Hello", text).unwrap()).await.unwrap();
    let mail = server.next_of("mail").await;
    let expected = text.replace("\r\n", "\n").replace('\r', "\n");
    assert_eq!(mail["text"].as_str().unwrap().trim_end(), expected.trim_end());
    assert_eq!(server.rest().await, Vec::<serde_json::Value>::new(), "one mail, not two");
}

#[tokio::test]
async fn a_login_is_given_where_it_is_asked_for() {
    let mut server = Server::start(&["--login", "me@example.org:hun/ter:2"]).await;
    let address = format!("smtp://me%40example.org:hun%2Fter%3A2@127.0.0.1:{}", server.port);
    let post = start(&config(&address));
    post.send("ada@example.com").await.unwrap();
    assert_eq!(server.next_of("mail").await["user"], "me@example.org");
}

#[tokio::test]
async fn a_wrong_login_is_refused_for_good() {
    let server = Server::start(&["--login", "me:hunter2"]).await;
    let post = start(&config(&format!("smtp://me:hunter3@127.0.0.1:{}", server.port)));
    let refused = post.send("ada@example.com").await;
    assert!(matches!(refused, Err(SendError::Refused { .. })), "{refused:?}");
    assert_eq!(reason(refused), "refused");
    let events: Vec<_> = server.rest().await.iter().map(|told| told["event"].clone()).collect();
    assert_eq!(events, ["login"]);
}

#[tokio::test]
async fn a_recipient_who_is_refused_is_refused_for_good() {
    let server = Server::start(&["--refuse"]).await;
    let post = start(&config(&server.address()));
    let refused = post.send("ada@example.com").await;
    assert!(matches!(refused, Err(SendError::Refused { .. })), "{refused:?}");
    let events: Vec<_> = server.rest().await.iter().map(|told| told["event"].clone()).collect();
    assert_eq!(events, ["recipient"]);
}

#[tokio::test]
async fn a_mail_that_is_put_off_twice_arrives_once() {
    let server = Server::start(&["--put-off", "2"]).await;
    let post = start(&config(&server.address()));
    for _ in 0..2 {
        let later = post.send("ada@example.com").await;
        assert!(matches!(later, Err(SendError::Later { .. })), "{later:?}");
        assert_eq!(reason(later), "deferred");
    }
    post.send("ada@example.com").await.unwrap();
    let events: Vec<_> = server.rest().await.iter().map(|told| told["event"].clone()).collect();
    assert_eq!(events, ["recipient", "recipient", "recipient", "mail"]);
}

#[tokio::test]
async fn who_sees_a_mail_twice_knows_it_by_its_id_and_date() {
    let mut server = Server::start(&[]).await;
    let post = start(&config(&server.address()));
    let mut seen = Vec::new();
    for _ in 0..2 {
        post.send("ada@example.com").await.unwrap();
        let headers = server.next_of("mail").await["headers"].clone();
        seen.push((headers["Message-ID"].clone(), headers["Date"].clone()));
    }
    assert!(seen[0].0.is_string() && seen[0].1.is_string(), "{seen:?}");
    assert_eq!(seen[0], seen[1]);
}
