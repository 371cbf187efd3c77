//! A small agent in a process of its own: it is started as the real one is, and holds to what the
//! provider of processes goes by.
#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "a helper that can't be set up must stop with the reason"
)]

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;

use mainstay_base::{IdSource, SystemClock, SystemRng};
use mainstay_fleet::agents::answer::AGENT;
use mainstay_fleet::agents::card::{LOCK, ProcessId};
use mainstay_fleet::agents::{AgentCard, AgentHealth};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let manner = std::env::var("AGENT_MANNER").unwrap_or_default();
    let given = arguments();
    let home = PathBuf::from(&given["--home"]);
    assert_ne!(manner, "fails", "told to fail");
    if given.contains_key("--own-session") {
        rustix::process::setsid().expect("a session");
    }
    let lock = File::create(home.join(LOCK)).expect("a lock");
    lock.try_lock().expect("nobody else lives here");
    let token = std::fs::read_to_string(&given["--token-file"]).expect("a token");
    let listener = TcpListener::bind(&given["--listen"]).await.expect("a port");
    let source =
        IdSource::new(std::sync::Arc::new(SystemClock::new()), std::sync::Arc::new(SystemRng));
    let card = AgentCard {
        process: ProcessId::own().expect("this process"),
        address: listener.local_addr().expect("an address"),
        boot_id: source.next(),
        policy: given.get("--policy").cloned(),
    };
    let health = AgentHealth {
        agent: AGENT.to_owned(),
        status: "ok".to_owned(),
        worker_id: given["--worker"].parse().expect("a worker"),
        boot_id: card.boot_id,
        generation: given["--generation"].parse().expect("a generation"),
        policy: card.policy.clone(),
        loaded_nets: Vec::new(),
        checks_run: 0,
        uptime_s: 0,
    };
    if manner == "late" {
        std::fs::write(home.join("pid"), std::process::id().to_string()).expect("a file");
        while !home.join("go").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
    if manner != "mute" {
        card.write(&home).expect("a card");
    }
    let mut terminate = signal(SignalKind::terminate()).expect("a signal");
    loop {
        tokio::select! {
            _ = terminate.recv(), if manner != "deaf" => return,
            taken = listener.accept() => {
                let (stream, _) = taken.expect("a connection");
                tokio::spawn(answer(stream, token.clone(), health.clone()));
            }
        }
    }
}

fn arguments() -> HashMap<String, String> {
    let mut given = HashMap::new();
    let mut rest = std::env::args().skip(2);
    while let Some(name) = rest.next() {
        let value =
            if name == "--own-session" { String::new() } else { rest.next().expect("a value") };
        given.insert(name, value);
    }
    given
}

async fn answer(mut stream: TcpStream, token: String, health: AgentHealth) {
    let mut head = Vec::new();
    let mut part = [0_u8; 4_096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut part).await {
            Ok(0) | Err(_) => return,
            Ok(length) => head.extend_from_slice(part.get(..length).unwrap_or_default()),
        }
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let is_known = head.contains(&format!("bearer {}", token.to_lowercase()));
    let (status, body) = match is_known {
        true => ("200 OK", serde_json::to_string(&health).expect("JSON")),
        false => ("401 Unauthorized", "{}".to_owned()),
    };
    let length = body.len();
    let said =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    let _ = stream.write_all(said.as_bytes()).await;
}
