//! Hostile clients against the real binary: a clear 4xx or a closed connection, and everybody else
//! is served as before.

use std::io::Write as _;

use crate::client::{connect, get, send};
use crate::process::Server;

/// What the process may grow by while it is attacked.
const MAX_GROWTH_KIB: u64 = 32 * 1024;

fn resident_kib(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn with_host(server: &Server, start: &str, rest: &str) -> Vec<u8> {
    format!("{start} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{rest}", server.address)
        .into_bytes()
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_hostile_gets_a_500_or_the_servers_memory() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    get(&server.address, "/");
    let before = resident_kib(&server);

    let many_headers: String = (0..10_000).map(|n| format!("x-{n}: y\r\n")).collect();
    let long_header = format!("x: {}\r\n\r\n", "y".repeat(4 * 1024 * 1024));
    let huge =
        format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n", u64::MAX / 2);
    let attacks: Vec<(&str, Vec<u8>)> = vec![
        ("10 000 headers", with_host(&server, "GET /api/system", &format!("{many_headers}\r\n"))),
        ("a header of 4 MiB", with_host(&server, "GET /api/system", &long_header)),
        (
            "a path of 4 MiB",
            with_host(&server, &format!("GET /{}", "a".repeat(4 * 1024 * 1024)), "\r\n"),
        ),
        ("a body that claims exabytes", with_host(&server, "POST /api/system", &huge)),
        ("invalid percent-encoding", with_host(&server, "GET /api/%ff%fe%", "\r\n")),
        ("invalid UTF-8 in the path", {
            let mut bytes = b"GET /api/\xff\xfe HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec();
            bytes.extend([0xff; 64]);
            bytes
        }),
        ("no HTTP at all", vec![0; 64 * 1024]),
        ("a TLS greeting", [&[0x16, 3, 1, 2, 0, 1, 0][..], &[7; 512]].concat()),
        (
            "two lengths",
            with_host(
                &server,
                "POST /api/system",
                "content-length: 1\r\ncontent-length: 2\r\n\r\nab",
            ),
        ),
        (
            "a length and chunks",
            with_host(
                &server,
                "POST /api/system",
                "content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
            ),
        ),
        (
            "a chunk size that overflows",
            with_host(
                &server,
                "POST /api/system",
                "transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
            ),
        ),
        ("two hosts", with_host(&server, "GET /api/system", "host: other\r\n\r\n")),
        ("a climbing path", with_host(&server, "GET /assets/../../../../etc/passwd", "\r\n")),
        (
            "an encoded climbing path",
            with_host(&server, "GET /assets/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "\r\n"),
        ),
    ];
    for (what, bytes) in attacks {
        if let Some(answer) = send(&server.address, &bytes) {
            assert!(
                (400..500).contains(&answer.status),
                "{what}: {} {}",
                answer.status,
                answer.text()
            );
            assert!(!answer.text().contains("root:"), "{what}");
        }
        assert_eq!(get(&server.address, "/healthz").status, 200, "alive after {what}");
    }
    let grown = resident_kib(&server).saturating_sub(before);
    assert!(grown < MAX_GROWTH_KIB, "{grown} KiB");
    assert!(!server.log().iter().any(|line| line.contains("panic")), "{:#?}", server.log());
    server.stop();
}

#[cfg(target_os = "linux")]
#[test]
fn hundreds_of_silent_and_slow_clients_keep_nobody_else_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    get(&server.address, "/");
    let before = resident_kib(&server);
    let mut slow: Vec<_> = (0..400).map(|_| connect(&server.address)).collect();
    for (number, client) in slow.iter_mut().enumerate() {
        // A third says nothing, a third stops in the head, a third never sends its body.
        let said: &[u8] = match number % 3 {
            0 => b"",
            1 => b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ",
            _ => b"POST /api/system HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\na",
        };
        client.write_all(said).unwrap();
    }
    for _ in 0..20 {
        assert_eq!(get(&server.address, "/healthz").status, 200);
    }
    let grown = resident_kib(&server).saturating_sub(before);
    assert!(grown < MAX_GROWTH_KIB, "{grown} KiB");
    server.stop();
}
