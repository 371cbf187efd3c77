//! A call that is dropped in the middle leaves nothing behind.

use mainstay_outbound::Web;
use mainstay_testkit::drop_at_await;

use crate::server::{Server, ok};
use crate::{fetch, get, options};

#[tokio::test]
async fn a_dropped_call_frees_its_connection_wherever_it_was() {
    let server = Server::start(|mut peer| async move {
        while peer.question().await.is_some() {
            for piece in ok("well").as_bytes().chunks(7) {
                tokio::task::yield_now().await;
                peer.say(piece).await;
            }
        }
    })
    .await;
    let mut options = options();
    // One place: a call that kept it would stop all that follow.
    options.max_connections = 1;
    let web = Web::new(&options).unwrap();
    let request = get(&server.url("/")).build().unwrap();
    let mut finished = 0;
    for awaits in 0..60 {
        if drop_at_await(awaits, web.fetch(&request)).await.is_some() {
            finished += 1;
        }
        let answer = fetch(&web, get(&server.url("/"))).await.unwrap();
        assert_eq!(answer.body, "well", "after a drop at {awaits}");
    }
    assert!(finished > 0, "every call was dropped");
    drop(web);
    server.open(0).await;
}
