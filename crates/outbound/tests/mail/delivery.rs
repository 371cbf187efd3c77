//! What a server that is well gets, and what its answers lead to.

use mainstay_outbound::{Mail, MailError};

use crate::server::Server;
use crate::{PATIENCE, config, start};

#[tokio::test]
async fn a_mail_arrives_with_its_headers_and_its_text() {
    let mut server = Server::start(&[]).await;
    let post = start(&config(&server.address()));
    let text =
        "Grüße, 你好 🙂\n\n.\n..\nBcc: eve@example.com\nhttps://example.org/invite#abc=def\n";
    let mail = Mail::new("ada@example.com", "Einladung – 招待 🙂 to a service", text).unwrap();
    post.mailer.send(mail).unwrap();

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
    assert!(headers["Message-ID"].as_str().unwrap().ends_with("@example.org>"), "{headers}");
    assert!(headers.get("Bcc").is_none(), "{headers}");
    post.until_empty().await;
    post.stopped().await;
    assert_eq!(server.rest().await, Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn what_looks_like_a_command_stays_text() {
    let mut server = Server::start(&[]).await;
    let post = start(&config(&server.address()));
    let text = "one\r\n.\r\nMAIL FROM:<eve@example.com>\r\nRCPT TO:<bob@example.com>\r\n\
                DATA\r\ntwo\r.\rthree\n.\nfour\r\n";
    post.mailer.send(Mail::new("ada@example.com", "Hello", text).unwrap()).unwrap();
    let mail = server.next_of("mail").await;
    let expected = text.replace("\r\n", "\n").replace('\r', "\n");
    assert_eq!(mail["text"].as_str().unwrap().trim_end(), expected.trim_end());
    post.until_empty().await;
    assert_eq!(server.rest().await, Vec::<serde_json::Value>::new(), "one mail, not two");
}

#[tokio::test]
async fn a_login_is_given_where_it_is_asked_for() {
    let mut server = Server::start(&["--login", "me@example.org:hun/ter:2"]).await;
    let address = format!("smtp://me%40example.org:hun%2Fter%3A2@127.0.0.1:{}", server.port);
    let post = start(&config(&address));
    post.send("ada@example.com");
    assert_eq!(server.next_of("mail").await["user"], "me@example.org");
}

#[tokio::test]
async fn a_wrong_login_is_tried_once() {
    let server = Server::start(&["--login", "me:hunter2"]).await;
    let post = start(&config(&format!("smtp://me:hunter3@127.0.0.1:{}", server.port)));
    post.send("ada@example.com");
    post.until_empty().await;
    let events: Vec<_> = server.rest().await.iter().map(|told| told["event"].clone()).collect();
    assert_eq!(events, ["login"]);
}

#[tokio::test]
async fn a_recipient_who_is_refused_is_tried_once() {
    let server = Server::start(&["--refuse"]).await;
    let post = start(&config(&server.address()));
    post.send("ada@example.com");
    post.until_empty().await;
    let events: Vec<_> = server.rest().await.iter().map(|told| told["event"].clone()).collect();
    assert_eq!(events, ["recipient"]);
}

#[tokio::test]
async fn a_mail_that_is_put_off_twice_arrives_once() {
    let server = Server::start(&["--put-off", "2"]).await;
    let post = start(&config(&server.address()));
    post.send("ada@example.com");
    post.until_empty().await;
    let events: Vec<_> = server.rest().await.iter().map(|told| told["event"].clone()).collect();
    assert_eq!(events, ["recipient", "recipient", "recipient", "mail"]);
}

#[tokio::test]
async fn a_mail_that_is_put_off_too_often_is_given_up() {
    let server = Server::start(&["--put-off", "3"]).await;
    let post = start(&config(&server.address()));
    post.send("ada@example.com");
    post.until_empty().await;
    assert_eq!(server.rest().await.len(), 3);
}

#[tokio::test]
async fn a_stop_sends_what_waits_and_takes_no_more() {
    let server = Server::start(&[]).await;
    let mut config = config(&server.address());
    config.pace.drain_for = PATIENCE;
    let post = start(&config);
    for number in 0..3 {
        post.send(&format!("ada{number}@example.com"));
    }
    let mailer = post.mailer.clone();
    post.stopped().await;
    let late = Mail::new("ada@example.com", "Hello", "text").unwrap();
    assert_eq!(mailer.send(late), Err(MailError::Stopped));
    let told = server.rest().await;
    assert_eq!(told.iter().filter(|told| told["event"] == "mail").count(), 3, "{told:?}");
}
