//! Stopping: the first signal asks, the second does not.

use std::time::{Duration, Instant};

use mainstay_store::Dialect;
use mainstay_testkit::{SlowProxy, TestDatabase};

use crate::client::{connect, get};
use crate::process::{Server, mainstay};

const GRACE: Duration = Duration::from_secs(10);

#[test]
fn either_signal_stops_it_well_and_in_time() {
    for signal in ["TERM", "INT"] {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Server::start(folder.path());
        // Clients that never say anything, and one that stopped in the middle of its head.
        let silent: Vec<_> = (0..20).map(|_| connect(&server.address)).collect();
        let mut halfway = connect(&server.address);
        std::io::Write::write_all(&mut halfway, b"GET /healthz HTTP/1.1\r\nhost: loc").unwrap();
        assert_eq!(get(&server.address, "/healthz").status, 200);
        let asked = Instant::now();
        server.signal(signal);
        assert_eq!(server.wait().code(), Some(0), "SIG{signal}");
        assert!(asked.elapsed() < GRACE, "SIG{signal} took {:?}", asked.elapsed());
        drop((silent, halfway));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_under_way_is_answered_before_the_end() {
    let (server, proxy, _folder, _database) = behind_a_proxy().await;
    proxy.freeze();
    let asking = ask(&server);
    wait_for_request(&server).await;
    server.signal("TERM");
    tokio::time::sleep(Duration::from_millis(200)).await;
    proxy.thaw();
    let answer = asking.join().unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    let mut server = server;
    assert_eq!(server.wait().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_signal_ends_at_once_and_says_which() {
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let (mut server, proxy, _folder, _database) = behind_a_proxy().await;
        proxy.freeze();
        let _asking = ask(&server);
        wait_for_request(&server).await;
        server.signal("TERM");
        // Two that wait together would be one, or in any order.
        server.await_line("a second signal");
        server.signal(signal);
        assert_eq!(server.wait().code(), Some(code));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_waits_for_the_database_stops_well_and_soon() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let proxy = SlowProxy::before(database.server_address(), Duration::ZERO).await;
    let mainstay_store::Target::Postgres { url } = database.through(proxy.address()) else {
        panic!("a proxy stands before PostgreSQL only");
    };
    proxy.freeze();
    let folder = tempfile::tempdir().unwrap();
    let mut command = mainstay(folder.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--database", url.expose()]);
    let mut server = Server::spawn_unready(command);
    server.await_logged(|line| line.contains("opening the database").then_some(()));
    let asked = Instant::now();
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0), "{:#?}", server.log());
    assert!(asked.elapsed() < GRACE / 2, "{:?}", asked.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_hangs_makes_it_unready_and_comes_back() {
    let (server, proxy, _folder, _database) = behind_a_proxy().await;
    server.until_ready();
    proxy.freeze();
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let down = get(&server.address, "/readyz");
    assert_eq!((down.status, &down.json()["status"]), (503, &"not_ready".into()));
    let checks = &down.json()["checks"];
    assert_eq!((&checks[0]["name"], &checks[0]["status"]), (&"database".into(), &"down".into()));
    assert_eq!((&checks[1]["name"], &checks[1]["status"]), (&"runtime".into(), &"healthy".into()));
    assert_eq!(get(&server.address, "/healthz").status, 200, "alive all the same");
    assert!(!down.text().contains("127.0.0.1"), "no inner address: {}", down.text());
    proxy.thaw();
    let began = Instant::now();
    while get(&server.address, "/readyz").status != 200 {
        assert!(began.elapsed() < Duration::from_secs(30), "it does not recover");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    server.stop();
}

async fn behind_a_proxy() -> (Server, SlowProxy, tempfile::TempDir, TestDatabase) {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let proxy = SlowProxy::before(database.server_address(), Duration::ZERO).await;
    let mainstay_store::Target::Postgres { url } = database.through(proxy.address()) else {
        panic!("a proxy stands before PostgreSQL only");
    };
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_with(folder.path(), &["--database", url.expose()]);
    (server, proxy, folder, database)
}

fn ask(server: &Server) -> std::thread::JoinHandle<crate::client::Answer> {
    let address = server.address.clone();
    // Nobody keeps what it answers: it always goes to the database.
    std::thread::spawn(move || get(&address, "/api/auth/setup"))
}

/// The request hangs at the frozen database once the server counts it as under way.
async fn wait_for_request(server: &Server) {
    let under_way = "mainstay_http_requests_in_flight 2";
    while !get(&server.address, "/metrics").text().contains(under_way) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
