//! A thousand who sign in at once, and those who only want an answer meanwhile.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use crate::client::{connect, get};
use crate::process::{Server, mainstay};

/// Sign-ins at once.
const MANY: usize = 1000;
/// How many find room and are checked before they have waited for too long, on a busy machine too.
const TRIED: usize = 150;
/// The most that the process may hold: the issue's figure.
const MOST_BYTES: u64 = 150 * 1000 * 1000;
/// How long others may wait for an answer on a busy machine.
const OTHERS: Duration = Duration::from_secs(10);

fn most_resident(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// Each of another account and from another address, so that no count stops them.
#[cfg(target_os = "linux")]
#[test]
fn a_thousand_sign_ins_at_once_cost_little_memory_and_others_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = mainstay(folder.path());
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("MAINSTAY_TRUSTED_PROXIES", "127.0.0.1")
        .env("MAINSTAY_MAX_CONNECTIONS", "2000");
    let server = Server::spawn(command);
    let mut clients: Vec<_> = (0..MANY).map(|_| connect(&server.address)).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        let body =
            format!(r#"{{"email":"user{number}@example.com","password":"a long password"}}"#);
        let (high, low) = (number / 250, number % 250);
        let text = format!(
            "POST /api/auth/login HTTP/1.1\r\nhost: {}\r\nconnection: close\r\nx-forwarded-for: \
             10.1.{high}.{low}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            server.address,
            body.len()
        );
        client.write_all(text.as_bytes()).unwrap();
    }
    let asked = Instant::now();
    assert_eq!(get(&server.address, "/healthz").status, 200);
    assert!(asked.elapsed() < OTHERS, "others waited {:?}", asked.elapsed());
    let mut statuses = std::collections::BTreeMap::new();
    for mut client in clients {
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap_or_default().to_owned();
        *statuses.entry(status).or_insert(0) += 1;
    }
    let refused: usize = ["401", "503"].iter().filter_map(|status| statuses.get(*status)).sum();
    assert_eq!(refused, MANY, "wrong or busy, and nothing else: {statuses:?}");
    assert!(statuses.get("401").is_some_and(|&tried| tried >= TRIED), "{statuses:?}");
    let most = most_resident(&server);
    assert!(most < MOST_BYTES, "{most} bytes");
    server.stop();
}
