//! A whole life of a file in an S3 storage: upload, job, artefacts, report, share, deletion.

use mainstay_standins::llm::Behaviour;
use mainstay_store::Sql;
use serde_json::json;

use super::world::{World, share, until, upload};

#[tokio::test(flavor = "multi_thread")]
async fn a_file_lives_in_the_storage_from_its_upload_to_its_deletion() {
    let world = World::start(&[Behaviour::Good]).await;
    let id = world.upload();
    let original = world.storage.keys();
    assert_eq!(original.len(), 1, "{original:?}");
    assert!(original[0].ends_with(&format!("/files/{id}/original.txt")), "{original:?}");
    let runner = world.runner("only");
    world.until_succeeded(&id);
    world.has_one_report(&id);
    world.has_no_orphan(&id);
    let own = world.ask("GET", &format!("/api/files/{id}/report")).json();
    assert_eq!(own["recorded_timeline"]["from"], "2025-01-01T00:00:00.000Z");
    assert_eq!(own["recorded_timeline"]["covered"], json!(null), "nothing was watched then");

    let token = share(&world, &id);
    let shared = world.ask("GET", &format!("/api/shares/{token}"));
    assert_eq!((shared.status, &shared.json()["report"]), (200, &own["report"]));

    assert_eq!(world.ask("DELETE", &format!("/api/files/{id}")).status, 204);
    assert_eq!(world.storage.keys(), Vec::<String>::new());
    assert_eq!(world.ask("GET", &format!("/api/shares/{token}")).status, 404);
    runner.stop();
}

/// As a database is that was restored from a backup before any upload, or that is another installation's.
const LOSE: Sql = Sql::same("test.lose", "DELETE FROM files");
/// As a file is whose objects could not be removed when it was deleted.
const DELETE: Sql = Sql::same(
    "test.delete",
    "INSERT INTO deleted_files (user_id, file_id, deleted_at)
     SELECT user_id, id, created_at FROM files ORDER BY created_at DESC, id DESC LIMIT 1",
);
#[tokio::test(flavor = "multi_thread")]
async fn objects_of_files_that_the_database_does_not_know_are_never_swept() {
    let world = World::start(&[Behaviour::Good, Behaviour::Good]).await;
    let (unknown, deleted) = (world.upload(), world.upload());
    let runner = world.runner("only");
    for id in [&unknown, &deleted] {
        world.until_succeeded(id);
        world.has_no_orphan(id);
    }
    runner.stop();
    let kept = world.objects(&unknown);
    for sql in [&DELETE, &LOSE] {
        world.execute(sql).await;
    }
    let sweeper = world.sweep_to(&kept).await;
    sweeper.await_line("unknown_objects");
    sweeper.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storage_that_is_away_is_told_and_nothing_is_half_done() {
    let world = World::start(&[Behaviour::Good]).await;
    let id = world.upload();
    let runner = world.runner("only");
    world.until_succeeded(&id);
    runner.stop();
    world.storage.stop();
    let unread = world.ask("GET", &format!("/api/files/{id}/report"));
    assert_eq!((unread.status, &unread.json()["error"]), (500, &json!("report_fetch_failed")));
    world.site.await_line("report_fetch_failed");
    let refused = upload(&world.site.address, &world.session);
    assert_eq!((refused.status, &refused.json()["code"]), (503, &json!("s3_put_failed")));
    world.site.await_line("s3_put_failed");
    let files = || world.ask("GET", "/api/files").json();
    until(|| files()["items"][0]["status"] == "failed", || files().to_string());
    assert_eq!(files()["items"][0]["last_error"]["code"], "s3_put_failed");
    // What was stored stays when its file is deleted now; the log names it for the sweeper.
    assert_eq!(world.ask("DELETE", &format!("/api/files/{id}")).status, 204);
    let is_told = || {
        world.site.log().iter().any(|line| line.contains("orphan_s3_object") && line.contains(&id))
    };
    until(is_told, || format!("{:#?}", world.site.log()));
}
