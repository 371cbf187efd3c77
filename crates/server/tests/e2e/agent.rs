//! `mainstay agent`, started by the provider of processes as the server starts it.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use mainstay_base::{Id, SystemClock};
use mainstay_fleet::agents::{AgentCard, AgentDoor, AgentError, Agents as _, NetResult, WebAgents};
use mainstay_fleet::providers::{Order, ProcessSettings, Processes, Provider as _, Size};
use mainstay_fleet::{AgentKey, Machine, NetOrder, ProviderError};
use mainstay_standins::door::{Answering, Door, Question, Reply};
use serde_json::{Value, json};

use crate::process::{Server, mainstay};

/// What a test may wait for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// A service that is well.
struct Well;

impl Answering for Well {
    fn answer(self: Arc<Self>, _: Question) -> BoxFuture<'static, Reply> {
        Box::pin(async { Reply::json(200, &json!({ "status": "ok" })) })
    }
}

fn id(number: u32) -> Id {
    format!("01a1e102-8087-7707-8707-{number:012x}").parse().unwrap()
}

fn order() -> Order {
    let (worker, region) = (id(1), None);
    Order { worker, generation: 3, is_ephemeral: false, region, size: Size::Small }
}

fn key() -> AgentKey {
    AgentKey::new([7_u8; 32])
}

fn agents() -> WebAgents {
    WebAgents::new(Arc::new(SystemClock::new())).unwrap()
}

fn provider(folder: &Path, arguments: &[&str], idle_exit: Duration) -> Processes {
    let program = env!("CARGO_BIN_EXE_mainstay").into();
    let mut settings = ProcessSettings::new(program, folder.join("agents"));
    settings.arguments = arguments.iter().map(|&one| one.to_owned()).collect();
    settings.idle_exit = idle_exit;
    settings.start_limit = PATIENCE;
    Processes::new(settings, key(), Arc::new(agents()))
}

async fn first_result(door: &AgentDoor, net: Id) -> NetResult {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = agents().results(door, net, 0).await.unwrap().results.first() {
            return found.clone();
        }
        assert!(Instant::now() < deadline, "nothing was found");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn polling(url: &str) -> Value {
    json!({ "services": [{ "name": "orders", "url": url, "format": "status", "interval_s": 5 }] })
}

#[tokio::test]
async fn it_polls_what_its_nets_name_and_keeps_what_it_finds() {
    let folder = tempfile::tempdir().unwrap();
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let service = Door::open(loopback, 0, Arc::new(Well)).await.unwrap();
    let provider = provider(folder.path(), &["--private"], Duration::from_mins(10));
    let machine = provider.create(&order()).await.unwrap();
    let door = AgentDoor::of(id(1), &machine, &key()).unwrap();
    let health = agents().health(&door).await.unwrap();
    assert_eq!((health.worker_id, health.generation), (id(1), 3));
    let definition = polling(&format!("http://{}/health", service.address()));
    let net = NetOrder { id: id(7), generation: 5, definition };
    agents().load(&door, &net).await.unwrap();
    let found = first_result(&door, id(7)).await;
    assert_eq!((found.generation, &found.result["name"]), (5, &json!("orders")));
    let (status, error) = (&found.result["status"], &found.result["error"]);
    assert_eq!((status, error), (&json!("healthy"), &Value::Null));
    let odd = NetOrder { definition: json!({ "service": [] }), ..net };
    let refused = agents().load(&door, &odd).await.unwrap_err();
    assert!(matches!(&refused, AgentError::Refused(text) if text.contains("service")), "{refused}");
    provider.destroy(&machine).await.unwrap();
    assert_eq!(agents().health(&door).await.unwrap_err().code(), "unreachable");
}

#[tokio::test]
async fn it_calls_nothing_inside_unless_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let provider = provider(folder.path(), &[], Duration::from_mins(10));
    let machine = provider.create(&order()).await.unwrap();
    let door = AgentDoor::of(id(1), &machine, &key()).unwrap();
    let definition = polling("http://127.0.0.1:1/");
    let net = NetOrder { id: id(7), generation: 1, definition };
    agents().load(&door, &net).await.unwrap();
    let found = first_result(&door, id(7)).await;
    assert_eq!(found.result["status"], "down");
    let error = found.result["error"].as_str().unwrap();
    assert!(error.contains("is not called"), "{error}");
    provider.destroy(&machine).await.unwrap();
}

#[tokio::test]
async fn it_trusts_a_companys_own_authority_where_it_is_told_to() {
    let site = tempfile::tempdir().unwrap();
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = site.path().join("cert.pem");
    std::fs::write(&certificate, issued.cert.pem()).unwrap();
    std::fs::write(site.path().join("key.pem"), issued.signing_key.serialize_pem()).unwrap();
    let tls = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    let server = Server::start_with(site.path(), &tls);
    let port = server.address.rsplit(':').next().unwrap();
    let url = format!("https://localhost:{port}/healthz");
    let trusted = format!("--ca-file={}", certificate.display());
    for (arguments, status) in
        [(&["--private"][..], "down"), (&["--private", trusted.as_str()][..], "healthy")]
    {
        let folder = tempfile::tempdir().unwrap();
        let provider = provider(folder.path(), arguments, Duration::from_mins(10));
        let machine = provider.create(&order()).await.unwrap();
        let door = AgentDoor::of(id(1), &machine, &key()).unwrap();
        let net = NetOrder { id: id(7), generation: 1, definition: polling(&url) };
        agents().load(&door, &net).await.unwrap();
        let found = first_result(&door, id(7)).await.result;
        assert_eq!(found["status"], status, "{found}");
        let is_distrusted =
            found["error"].as_str().is_some_and(|text| text.contains("certificate"));
        assert_eq!(is_distrusted, status == "down", "{found}");
        provider.destroy(&machine).await.unwrap();
    }
    server.stop();
}

#[tokio::test]
async fn one_that_nobody_calls_ends_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let provider = provider(folder.path(), &[], Duration::from_secs(1));
    let machine: Machine = provider.create(&order()).await.unwrap();
    let deadline = Instant::now() + PATIENCE;
    // Only the process is looked at: it was started here, so nobody has to ask it.
    while !matches!(provider.look(&machine).await, Err(ProviderError::Gone(_))) {
        assert!(Instant::now() < deadline, "it goes on");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn one_whose_home_is_gone_ends_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let provider = provider(folder.path(), &[], Duration::from_mins(10));
    provider.create(&order()).await.unwrap();
    let agents = folder.path().join("agents");
    let home = std::fs::read_dir(&agents).unwrap().next().unwrap().unwrap().path();
    let card = AgentCard::read(&home).unwrap();
    assert!(card.process.is_alive());
    std::fs::remove_dir_all(&agents).unwrap();
    let deadline = Instant::now() + PATIENCE;
    while card.process.is_alive() {
        assert!(Instant::now() < deadline, "it goes on");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[test]
fn what_keeps_it_from_running_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("short"), "abc").unwrap();
    let worker = id(1).to_string();
    std::fs::write(folder.path().join("token"), "a token of sixteen bytes").unwrap();
    for (file, more, told) in [
        ("none", &[][..], "--token-file"),
        ("short", &[], "shorter than 16"),
        ("token", &["--ca-file", "missing.pem"], "missing.pem"),
    ] {
        let mut command = mainstay(folder.path());
        command.args(["agent", "--worker", &worker, "--token-file", file]).args(more);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(told), "{text}");
    }
}
