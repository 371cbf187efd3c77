//! Uploads of many, and of those who do not go on.

use mainstay_accounts::Role;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::files::{form, part, send, upload};
use super::house::House;
use super::people::Person;
use super::raw::{Answer, exchange, read_to_end};

/// Begins an upload that does not end while its connection is kept.
async fn begun(house: &House, person: &Person) -> TcpStream {
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    let head = format!(
        "POST /api/files/upload HTTP/1.1\r\nHost: {}\r\n{}Content-Type: multipart/form-data; \
         boundary=b\r\nContent-Length: 1000000\r\n\r\n{}",
        house.address,
        person.cookie(),
        part("file", Some("slow.txt"), "Ada: one moment")
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

async fn until_listed(person: &Person, count: usize) {
    for _ in 0..500 {
        let files = person.get("/api/files").await.json();
        if files["items"].as_array().unwrap().len() == count {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the uploads never began");
}

#[tokio::test]
async fn a_body_that_ends_before_its_length_is_refused_though_its_form_is_whole() {
    let house = House::open().await;
    let admin = house.admin().await;
    let body = form(&[part("file", Some("call.txt"), "Ada: it is down")]);
    for announced in [body.len() + 1, body.len() + 100_000] {
        let mut stream = TcpStream::connect(house.address).await.unwrap();
        let text = format!(
            "POST /api/files/upload HTTP/1.1\r\nHost: {}\r\n{}Content-Type: multipart/form-data; \
             boundary=b\r\nContent-Length: {announced}\r\nConnection: close\r\n\r\n{body}",
            house.address,
            admin.cookie(),
        );
        stream.write_all(text.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let answer = Answer::parse(&read_to_end(&mut stream).await);
        assert_eq!(answer.status, 400, "{announced}");
        assert_eq!(answer.code(), "invalid_multipart", "{announced}");
        until_listed(&admin, 0).await;
    }
    // Words after the last boundary are nobody's.
    let answer = send(&house, &admin.cookie(), &format!("{body}epilogue")).await;
    assert_eq!(answer.status, 201);
}

#[tokio::test]
async fn a_body_that_is_cut_within_its_file_is_no_form() {
    let house = House::open().await;
    let admin = house.admin().await;
    let body = part("file", Some("call.txt"), "Ada: it is down");
    let chunk = format!("{:x}\r\n{body}\r\n", body.len());
    for (framing, sent, code) in [
        ("Content-Length: 100000", body.as_str(), "invalid_multipart"),
        ("Transfer-Encoding: chunked", chunk.as_str(), "invalid_multipart"),
        ("Transfer-Encoding: chunked", &format!("{chunk}nothexadecimal\r\n"), "body_unreadable"),
    ] {
        let mut stream = TcpStream::connect(house.address).await.unwrap();
        let text = format!(
            "POST /api/files/upload HTTP/1.1\r\nHost: {}\r\n{}Content-Type: multipart/form-data; \
             boundary=b\r\n{framing}\r\nConnection: close\r\n\r\n{sent}",
            house.address,
            admin.cookie(),
        );
        stream.write_all(text.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let answer = Answer::parse(&read_to_end(&mut stream).await);
        assert_eq!((answer.status, answer.code().as_str()), (400, code), "{framing}");
        until_listed(&admin, 0).await;
    }
}

#[tokio::test]
async fn who_has_many_uploads_under_way_waits_and_nobody_else_does() {
    let house = House::open().await;
    let admin = house.admin().await;
    let viewer = house.user(&admin, "v@example.com", Role::Viewer).await;
    let mut held = Vec::new();
    for count in 1..=4 {
        held.push(begun(&house, &viewer).await);
        until_listed(&viewer, count).await;
    }
    let body = form(&[part("file", Some("call.txt"), "Ada: it is down")]);
    let refused = send(&house, &viewer.cookie(), &body).await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "too_many_uploads"));
    assert_eq!(refused.header("retry-after"), Some("5"));
    upload(&house, &admin, "call.txt").await;
    drop(held);
    until_listed(&viewer, 0).await;
    upload(&house, &viewer, "call.txt").await;
}

#[tokio::test]
async fn a_file_is_called_what_its_sender_calls_it_in_whichever_way() {
    let house = House::open().await;
    let admin = house.admin().await;
    let send = async |name: &[u8]| {
        let head = [b"--b\r\nContent-Disposition: form-data; name=\"file\"", name].concat();
        let body = [head.as_slice(), b"\r\n\r\nAda: it is down\r\n--b--\r\n"].concat();
        let text = format!(
            "POST /api/files/upload HTTP/1.1\r\nHost: {}\r\n{}Connection: close\r\nContent-Type: \
             multipart/form-data; boundary=b\r\nContent-Length: {}\r\n\r\n",
            house.address,
            admin.cookie(),
            body.len(),
        );
        Answer::parse(&exchange(house.address, &[text.as_bytes(), &body].concat()).await)
    };
    for (name, shown) in [
        (&b"; filename*=UTF-8''call%20one.txt"[..], "call one.txt"),
        (b"; filename=\"caf\xE9.txt\"", "café.txt"),
    ] {
        let answer = send(name).await;
        assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
        let id = answer.json()["file_id"].as_str().unwrap().to_owned();
        assert_eq!(admin.get(&format!("/api/files/{id}")).await.json()["name"], shown);
    }
    for name in [&b"; filename*=UTF-8''call.pdf"[..], b"; filename*=call.txt", b""] {
        let answer = send(name).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_file_type"));
    }
}

#[tokio::test]
async fn a_file_name_with_a_control_character_is_told_as_that() {
    let house = House::open().await;
    let admin = house.admin().await;
    let body = form(&[part("file", Some("ca\u{1}ll.txt"), "Ada: it is down")]);
    let answer = send(&house, &admin.cookie(), &body).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_multipart"));
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("a file name with a control character"), "{detail}");
}
