//! PostgreSQL behind a transaction pooler, where a session belongs to somebody else after each
//! transaction.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mainstay_store::Dialect;
use mainstay_testkit::{TestDatabase, quiet_port};
use serde_json::json;
use tempfile::TempDir;
use url::Url;

use crate::client::request;
use crate::people::{post, set_up, sign_in, signed};
use crate::process::{PATIENCE, Server, mainstay};

/// Fewer sessions than Mainstay has connections: each statement meets another one's.
const SESSIONS: u32 = 3;

/// PgBouncer on a port of its own. It ends with this.
struct Pooler {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl Pooler {
    fn before(address: &str) -> Self {
        let program = std::env::var_os("MAINSTAY_TEST_PGBOUNCER")
            .expect("MAINSTAY_TEST_PGBOUNCER names PgBouncer: run ./scripts/test");
        let server = Url::parse(address).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let port = quiet_port();
        let file = folder.path().join("pgbouncer.ini");
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={} user={} password={}\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\npool_mode = transaction\n\
             default_pool_size = {SESSIONS}\nunix_socket_dir =\nlogfile =\npidfile =\n",
            server.port().unwrap(),
            server.username(),
            server.password().unwrap(),
        );
        std::fs::write(&file, text).unwrap();
        // It does not run as root, and must be able to read its file.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).unwrap();
        let mut command = Command::new(program);
        if rustix::process::geteuid().is_root() {
            command.args(["-u", "nobody"]);
        }
        let child = command.arg(&file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pooler = Self { child, port, _folder: folder };
        let began = std::time::Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(began.elapsed() < PATIENCE, "PgBouncer does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        pooler
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_works_through_a_pooler_and_events_past_it() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let address = database.address();
    let pooler = Pooler::before(&address);
    let mut pooled = Url::parse(&address).unwrap();
    pooled.set_port(Some(pooler.port)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut command = mainstay(folder.path());
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--database", pooled.as_str()])
        .env("DATABASE_DIRECT_URL", &address);
    let server = Server::spawn(command);
    let made = set_up(&server);
    assert_eq!(made.status, 200, "{}", made.text());
    let session = signed(&server.address, &made);

    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let ask = format!("GET /api/events HTTP/1.0\r\nhost: {}\r\n{session}\r\n", server.address);
    stream.write_all(ask.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "event: snapshot"));

    // Many at once, so that sessions change hands between the statements of each.
    let asking: Vec<_> = (0..8)
        .map(|number| {
            let (address, session) = (server.address.clone(), session.clone());
            std::thread::spawn(move || {
                for round in 0..15 {
                    for path in ["/api/admin/users", "/api/admin/audit", "/api/admin/jobs/summary"]
                    {
                        let answer = request(&address, "GET", path, &session);
                        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
                    }
                    let email = format!("user{number}-{round}@example.com");
                    let body = json!({ "email": email });
                    let invited = post(&address, "/api/admin/invites", &session, &body);
                    assert!([201, 429].contains(&invited.status), "{}", invited.text());
                }
            })
        })
        .collect();
    for asked in asking {
        asked.join().unwrap();
    }
    assert_eq!(sign_in(&server.address, "nobody@example.com", "wrong password").status, 401);
    let left = request(&server.address, "POST", "/api/auth/logout", &session);
    assert_eq!(left.status, 204, "{}", left.text());
    assert!(lines.any(|line| line == "event: auth_expired"), "the bell rings past the pooler");
    server.stop();
}
