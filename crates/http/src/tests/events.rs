//! Live streams of events, over real connections.

#[path = "events_kept.rs"]
mod kept;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use hyper_util::rt::{TokioExecutor, TokioIo};
use mainstay_accounts::{Role, Scope, Source, UserChange, UserStatus};
use mainstay_base::Clock;
use mainstay_events::{Event, EventsError, Stream, Topic};
use mainstay_testkit::FakeClock;
use serde_json::json;

use super::follower::{Block, Follower};
use super::house::{House, Plan};
use super::people::{Person, bearer};
use super::raw::{PATIENCE, request};
use crate::Limits;

impl House {
    /// Writes events `numbers` to `stream`, each in a write of its own.
    pub(super) async fn tell(&self, stream: Stream, kind: &str, numbers: std::ops::Range<u64>) {
        for number in numbers {
            let fields = json!({ "number": number });
            let event = Event::new(kind, fields.as_object().unwrap()).unwrap();
            let writing = self.events.write(async |_, out| {
                out.add(stream, event)?;
                Ok::<_, EventsError>(())
            });
            writing.await.unwrap();
        }
    }

    async fn follow(&self, person: &Person, target: &str) -> Follower {
        let follower = Follower::open(self.address, target, &person.cookie()).await;
        assert_eq!(follower.status, 200, "{target}");
        follower
    }

    async fn resume(&self, person: &Person, target: &str, id: &str) -> Follower {
        let headers = format!("{}Last-Event-ID: {id}\r\n", person.cookie());
        Follower::open(self.address, target, &headers).await
    }
}

fn uuid(number: u8) -> String {
    format!("019a8b3c-0000-7000-8000-0000000000{number:02}")
}

async fn first_event(follower: &mut Follower) -> Block {
    let first = follower.next().await.unwrap();
    assert!(first.comment.is_some() && first.retry.is_some(), "{first:?}");
    follower.next().await.unwrap()
}

#[tokio::test]
async fn a_stream_begins_at_once_with_where_it_stands() {
    let house = House::open().await;
    let admin = house.admin().await;
    house.tell(Stream::Org, "told", 0..3).await;
    let headers = format!("{}Accept-Encoding: gzip, br, zstd, deflate\r\n", admin.cookie());
    let mut follower = Follower::open(house.address, "/api/events", &headers).await;
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-store"),
        ("x-accel-buffering", "no"),
    ] {
        assert_eq!(follower.headers[name], value);
    }
    assert!(follower.headers.get("content-encoding").is_none());
    let snapshot = first_event(&mut follower).await;
    assert_eq!(snapshot.event.as_deref(), Some("snapshot"));
    let id = snapshot.id.clone().unwrap();
    assert!(id.ends_with(".3.0"), "{id}");
    assert_eq!(snapshot.json(), json!({ "position": id }));

    house.tell(Stream::Org, "told", 3..5).await;
    let event = follower.next_event().await;
    assert!(event.id.as_deref().unwrap().ends_with(".4.0"), "{event:?}");
    let data = event.json();
    assert_eq!((&data["type"], &data["number"]), (&json!("told"), &json!(3)));
    assert_eq!((&data["seq"], &data["stream"]), (&json!(4), &json!("org")));
    assert!(data["at"].as_str().unwrap().ends_with('Z'), "{data}");
    assert_eq!(follower.numbers(1).await, [4]);
}

#[tokio::test]
async fn a_follower_that_comes_back_gets_what_it_missed_and_then_what_comes() {
    let house = House::open().await;
    let admin = house.admin().await;
    let mut follower = house.follow(&admin, "/api/events").await;
    let begin = first_event(&mut follower).await.id.unwrap();
    drop(follower);
    house.tell(Stream::Org, "told", 0..250).await;
    for target in ["/api/events", "/api/events?after=garbage"] {
        let mut follower = house.resume(&admin, target, &begin).await;
        let telling = house.tell(Stream::Org, "told", 250..260);
        let (numbers, ()) = tokio::join!(follower.numbers(250), telling);
        assert_eq!(numbers, (0..250).collect::<Vec<_>>());
        assert_eq!(follower.numbers(10).await.len(), 10);
    }
    let mut follower = house.follow(&admin, &format!("/api/events?after={begin}")).await;
    assert_eq!(follower.numbers(3).await, [0, 1, 2]);
}

#[tokio::test]
async fn a_position_that_says_nothing_resets() {
    let house = House::open().await;
    let admin = house.admin().await;
    house.tell(Stream::Org, "told", 0..2).await;
    let mut follower = house.follow(&admin, "/api/events").await;
    let now = first_event(&mut follower).await.id.unwrap();
    let epoch = now.split_once('.').unwrap().0;
    let long = "9".repeat(3000);
    for (id, reason) in [
        ("garbage", "garbage"),
        ("\u{ff}", "garbage"),
        (long.as_str(), "garbage"),
        ("0123456789abcdef.1.0", "epoch"),
        (format!("{epoch}.3.0").as_str(), "future"),
        (format!("{epoch}.2.1").as_str(), "future"),
        (format!("{epoch}.-1.0").as_str(), "garbage"),
    ] {
        let mut follower = house.resume(&admin, "/api/events", id).await;
        let reset = first_event(&mut follower).await;
        assert_eq!(reset.event.as_deref(), Some("reset"), "{id}");
        assert_eq!(reset.json(), json!({ "reason": reason, "position": now }), "{id}");
        assert_eq!(reset.id.as_deref(), Some(now.as_str()));
    }
}

#[tokio::test]
async fn a_stream_ends_when_its_session_ends_by_time() {
    let clock = Arc::new(FakeClock::new());
    let plan = Plan { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Plan::default() };
    let house = House::build(plan).await;
    let admin = house.admin().await;
    let mut follower = house.follow(&admin, "/api/events").await;
    first_event(&mut follower).await;
    house.events.doorbell().ring(Topic::Access, "");
    house.tell(Stream::Org, "told", 0..1).await;
    assert_eq!(follower.numbers(1).await, [0], "its time has not come");
    clock.step_wall(clock.now().plus(Duration::from_hours(365 * 24)));
    house.events.doorbell().ring(Topic::Access, "");
    let rest = follower.rest().await;
    assert_eq!(rest.last().and_then(|block| block.event.as_deref()), Some("auth_expired"));
}

#[tokio::test]
async fn types_and_streams_narrow_it_down() {
    let house = House::open().await;
    let admin = house.admin().await;
    let token = house.token(&admin, Scope::Read).await;
    let open = async |query: &str| {
        let target = format!("/api/events?{query}");
        let mut follower = Follower::open(house.address, &target, &bearer(&token)).await;
        first_event(&mut follower).await;
        follower
    };
    let mut only_b = open("types=b,c").await;
    let mut only_own = open("streams=user").await;
    house.tell(Stream::Org, "a", 0..1).await;
    house.tell(Stream::User(admin.id()), "a", 1..2).await;
    house.tell(Stream::Org, "b", 2..3).await;
    assert_eq!(only_b.numbers(1).await, [2]);
    assert_eq!(only_own.numbers(1).await, [1]);
    for query in ["types=A", "streams=team", "connection=x", "colour=red"] {
        let answer = admin.get(&format!("/api/events?{query}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_query"), "{query}");
    }
}

#[tokio::test]
async fn the_newest_connection_of_a_user_wins_without_a_war() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (first, second) = (uuid(1), uuid(2));
    let mut older = house.follow(&admin, &format!("/api/events?connection={first}")).await;
    first_event(&mut older).await;
    let mut newer = house.follow(&admin, &format!("/api/events?connection={second}")).await;
    first_event(&mut newer).await;
    let rest = older.rest().await;
    assert_eq!(
        rest.last().and_then(|block| block.event.as_deref()),
        Some("superseded"),
        "{rest:?}"
    );

    let answer = admin.get(&format!("/api/events?connection={first}")).await;
    assert_eq!((answer.status, answer.body.len()), (204, 0));
    house.tell(Stream::Org, "told", 0..1).await;
    assert_eq!(newer.numbers(1).await, [0], "the newer one goes on");

    // The same client again, after a loss that the server has not noticed yet.
    let mut again = house.follow(&admin, &format!("/api/events?connection={second}")).await;
    first_event(&mut again).await;
    house.tell(Stream::Org, "told", 1..2).await;
    assert_eq!(again.numbers(1).await, [1]);
}

#[tokio::test]
async fn whoever_only_looks_at_the_head_takes_nobodys_place() {
    let house = House::open().await;
    let admin = house.admin().await;
    let mut follower = house.follow(&admin, "/api/events").await;
    first_event(&mut follower).await;
    let head = request(house.address, "HEAD", "/api/events", &admin.cookie(), "").await;
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    house.tell(Stream::Org, "told", 0..1).await;
    assert_eq!(follower.numbers(1).await, [0]);
}

#[tokio::test]
async fn tokens_count_apart_and_have_five_each() {
    let house = House::open().await;
    let admin = house.admin().await;
    let token = house.token(&admin, Scope::Read).await;
    let mut session = house.follow(&admin, "/api/events").await;
    let mut held = Vec::new();
    for _ in 0..6 {
        let mut follower = Follower::open(house.address, "/api/events", &bearer(&token)).await;
        first_event(&mut follower).await;
        held.push(follower);
    }
    let rest = held.remove(0).rest().await;
    assert_eq!(rest.last().and_then(|block| block.event.as_deref()), Some("superseded"));
    house.tell(Stream::Org, "told", 0..1).await;
    for follower in &mut held {
        assert_eq!(follower.numbers(1).await, [0]);
    }
    assert_eq!(session.numbers_after_first().await, [0]);
}

impl Follower {
    /// The number of the first event behind the first words.
    async fn numbers_after_first(&mut self) -> Vec<u64> {
        first_event(self).await;
        self.numbers(1).await
    }
}

#[tokio::test]
async fn a_stream_ends_with_its_session_its_token_or_its_user() {
    let house = House::open().await;
    let admin = house.admin().await;
    let ends = async |follower: &mut Follower, why: &str| {
        let rest = follower.rest().await;
        let last = rest.last().and_then(|block| block.event.as_deref());
        assert_eq!(last, Some("auth_expired"), "{why}");
    };

    let person = house.user(&admin, "one@example.com", Role::Viewer).await;
    let mut follower = house.follow(&person, "/api/events").await;
    assert_eq!(person.send("POST", "/api/auth/logout", "").await.status, 204);
    ends(&mut follower, "logout").await;

    let person = house.user(&admin, "two@example.com", Role::Viewer).await;
    let mut follower = house.follow(&person, "/api/events").await;
    let change = UserChange { status: Some(UserStatus::Disabled), role: None };
    let disabling =
        house.accounts.change_user(&admin.caller, person.id(), change, Source::default());
    disabling.await.unwrap();
    ends(&mut follower, "disabled").await;

    let token = house.token(&admin, Scope::Read).await;
    let mut follower = Follower::open(house.address, "/api/events", &bearer(&token)).await;
    let listed = admin.get("/api/account/tokens").await.json();
    let id = listed["items"][0]["id"].as_str().unwrap();
    let revoked = admin.send("DELETE", &format!("/api/account/tokens/{id}"), "").await;
    assert_eq!(revoked.status, 204);
    ends(&mut follower, "revoked").await;
    let answer = request(house.address, "GET", "/api/events", &bearer(&token), "").await;
    assert_eq!((answer.status, answer.code().as_str()), (401, "unauthenticated"));
}

#[tokio::test]
async fn a_stop_ends_streams_at_once_and_says_when_to_come_back() {
    let house = House::build(Plan { grace: Duration::from_secs(60), ..Plan::default() }).await;
    let admin = house.admin().await;
    let mut follower = house.follow(&admin, "/api/events").await;
    first_event(&mut follower).await;
    let drained = house.close().await;
    assert_eq!(drained.cut, 0);
    let rest = follower.rest().await;
    assert!(matches!(rest.as_slice(), [last] if last.retry.is_some()), "{rest:?}");
}

#[tokio::test]
async fn a_quiet_stream_shows_life_and_where_it_stands() {
    let limits = Limits { keepalive: Duration::from_millis(20), ..Limits::default() };
    let house = House::limited(limits).await;
    let admin = house.admin().await;
    let mut follower = house.follow(&admin, "/api/events?types=never").await;
    first_event(&mut follower).await;
    house.tell(Stream::Org, "told", 0..1).await;
    loop {
        let block = follower.next().await.unwrap();
        assert_eq!(block.comment.as_deref(), Some("keepalive"));
        let block = follower.next().await.unwrap();
        let id = block.id.clone().unwrap();
        assert_eq!(block, Block { id: Some(id.clone()), ..Block::default() });
        // What is filtered out moves the position too.
        if id.ends_with(".1.0") {
            break;
        }
    }
}

#[tokio::test]
async fn who_asks_for_it_is_shown_life_sooner() {
    let limits = Limits { keepalive: Duration::from_secs(3_600), ..Limits::default() };
    let house = House::limited(limits).await;
    let admin = house.admin().await;
    let mut follower = house.follow(&admin, "/api/events?keepalive=2").await;
    first_event(&mut follower).await;
    assert_eq!(follower.next().await.unwrap().comment.as_deref(), Some("keepalive"));
}

#[tokio::test]
async fn a_client_that_never_reads_is_cut_and_holds_up_nobody() {
    let limits = Limits { stall_time: Duration::from_millis(300), ..Limits::default() };
    let house = House::limited(limits).await;
    let admin = house.admin().await;
    let viewer = house.user(&admin, "viewer@example.com", Role::Viewer).await;
    let mut reader = house.follow(&viewer, "/api/events").await;
    first_event(&mut reader).await;
    let mut silent = tokio::net::TcpStream::connect(house.address).await.unwrap();
    let text =
        format!("GET /api/events HTTP/1.1\r\nHost: {}\r\n{}\r\n", house.address, admin.cookie());
    tokio::io::AsyncWriteExt::write_all(&mut silent, text.as_bytes()).await.unwrap();
    let fields = json!({ "number": 0, "text": "x".repeat(60_000) });
    let event = Event::new("large", fields.as_object().unwrap()).unwrap();
    for _ in 0..300 {
        let writing = house.events.write(async |_, out| {
            out.add(Stream::Org, event.clone())?;
            Ok::<_, EventsError>(())
        });
        writing.await.unwrap();
        assert_eq!(reader.numbers(1).await, [0]);
    }
    // The server hangs up: what it had handed over can be read, and then there is an end.
    let came = super::raw::read_to_end(&mut silent).await.len();
    assert!(came < 300 * 60_000, "{came}");
}

#[tokio::test]
async fn a_client_of_http2_that_opens_no_window_is_cut() {
    let limits = Limits { stall_time: Duration::from_millis(100), ..Limits::default() };
    let house = House::limited(limits).await;
    let admin = house.admin().await;
    let stream = tokio::net::TcpStream::connect(house.address).await.unwrap();
    let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(0);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
    let driving = tokio::spawn(connection);
    let request = Request::get(format!("http://{}/api/events", house.address))
        .header("cookie", format!("session={}", admin.session))
        .body(Body::empty());
    let answer = sender.send_request(request.unwrap()).await.unwrap();
    assert_eq!(answer.status(), 200);
    let cut = async {
        while !driving.is_finished() {
            // The look comes every few seconds, and with this bell.
            house.events.doorbell().ring(Topic::Access, "");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, cut).await.expect("nobody cuts it");
}
