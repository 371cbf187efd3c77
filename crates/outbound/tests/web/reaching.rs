//! Names, addresses and connections that do not come about.

use std::sync::Arc;
use std::time::Duration;

use mainstay_outbound::web::{ResolveError, SystemResolver};
use mainstay_outbound::{Policy, Web, WebOptions};
use mainstay_testkit::ClosedPort;
use tokio::net::{TcpSocket, TcpStream};

use crate::resolver::Scripted;
use crate::server::Server;
use crate::{PATIENCE, SHORT, failed, fetch, get, options, web};

fn named(resolver: Scripted) -> Web {
    let mut options = options();
    options.resolver = Arc::new(resolver);
    Web::new(&options).unwrap()
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_told_by_its_name() {
    for (error, told) in [
        (ResolveError::NotFound, "the name nowhere.example does not exist"),
        (ResolveError::Failed, "the name nowhere.example can't be resolved"),
    ] {
        let web = named(Scripted::failing(error));
        let (kind, message) = failed(fetch(&web, get("http://nowhere.example/")).await);
        assert_eq!(kind, "dns");
        assert!(message.contains(told), "{message}");
    }
}

#[tokio::test]
async fn a_port_where_nobody_listens_refuses() {
    let nobody = ClosedPort::new();
    let (kind, message) =
        failed(fetch(&web(), get(&format!("http://{}/", nobody.address()))).await);
    assert_eq!(kind, "connect_refused");
    assert!(message.contains("refused"), "{message}");
}

#[tokio::test]
async fn the_next_address_is_tried() {
    let server = Server::well().await;
    let web = named(Scripted::always(&["127.0.0.2", "127.0.0.3", "127.0.0.1"]));
    let url = format!("http://many.example:{}/", server.port);
    assert_eq!(fetch(&web, get(&url)).await.unwrap().body, "well");
    let web = named(Scripted::always(&["127.0.0.2", "127.0.0.3"]));
    assert_eq!(failed(fetch(&web, get(&url)).await).0, "connect_refused");
}

/// A listener whose queue is full, so that the next connection hangs.
async fn full() -> (tokio::net::TcpListener, Vec<TcpStream>) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    while let Ok(Ok(stream)) = tokio::time::timeout(SHORT, TcpStream::connect(address)).await {
        queued.push(stream);
        assert!(queued.len() < 100, "the queue never fills");
    }
    (listener, queued)
}

#[tokio::test]
async fn a_host_that_does_not_answer_runs_out_of_its_time_to_connect() {
    let (listener, _queued) = full().await;
    let port = listener.local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/");
    let (kind, _) = failed(fetch(&web(), get(&url).timeout(SHORT)).await);
    assert_eq!(kind, "connect_timeout", "the whole time is shorter");
    let mut options = options();
    options.connect_timeout = SHORT;
    let web = Web::new(&options).unwrap();
    let (kind, message) = failed(fetch(&web, get(&url).timeout(PATIENCE)).await);
    assert_eq!(kind, "connect_timeout", "the time to connect is shorter");
    assert!(message.contains("within 150ms"), "{message}");
}

#[tokio::test]
async fn an_address_that_hangs_leaves_time_for_the_next() {
    let (listener, _queued) = full().await;
    let port = listener.local_addr().unwrap().port();
    let other = tokio::net::TcpListener::bind(("127.0.0.2", port)).await.unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = other.accept().await.unwrap();
        let answer = crate::server::ok("second");
        tokio::io::AsyncWriteExt::write_all(&mut stream, answer.as_bytes()).await.unwrap();
    });
    let mut options = options();
    options.connect_timeout = Duration::from_millis(400);
    options.resolver = Arc::new(Scripted::always(&["127.0.0.1", "127.0.0.2"]));
    let web = Web::new(&options).unwrap();
    let answer = fetch(&web, get(&format!("http://two.example:{port}/"))).await.unwrap();
    assert_eq!(answer.body, "second");
}

#[tokio::test]
async fn a_handshake_that_hangs_runs_out_of_its_time_to_connect() {
    let server = Server::start(|mut peer| async move { peer.until_hung_up().await }).await;
    let url = format!("https://127.0.0.1:{}/", server.port);
    let (kind, message) = failed(fetch(&web(), get(&url).timeout(SHORT)).await);
    assert_eq!(kind, "connect_timeout");
    assert!(message.contains("TLS handshake"), "{message}");
}

#[tokio::test]
async fn a_resolver_that_hangs_runs_out_of_time() {
    struct Silent;
    impl mainstay_outbound::web::Resolve for Silent {
        fn resolve<'a>(&'a self, _host: &'a str) -> mainstay_outbound::web::Resolving<'a> {
            Box::pin(std::future::pending())
        }
    }
    let mut options = options();
    options.resolver = Arc::new(Silent);
    let web = Web::new(&options).unwrap();
    let (kind, _) = failed(fetch(&web, get("http://slow.example/").timeout(SHORT)).await);
    assert_eq!(kind, "dns");
    options.lookup_timeout = SHORT;
    let web = Web::new(&options).unwrap();
    let (kind, _) = failed(fetch(&web, get("http://slow.example/").timeout(PATIENCE)).await);
    assert_eq!(kind, "dns");
}

#[tokio::test]
async fn the_system_resolves_names_of_this_host() {
    let server = Server::well().await;
    let policy = Policy { private: true, ..Policy::default() };
    let clock = Arc::new(mainstay_base::SystemClock::new());
    let names = Arc::new(SystemResolver::new().unwrap());
    let web = Web::new(&WebOptions::with_resolver(policy, clock, names)).unwrap();
    let url = format!("http://localhost:{}/", server.port);
    assert_eq!(fetch(&web, get(&url)).await.unwrap().body, "well");
    let (kind, _) = failed(fetch(&web, get("http://nowhere.invalid/").timeout(PATIENCE)).await);
    assert_eq!(kind, "dns");
}
