//! What holds wherever blobs are stored.

use std::path::PathBuf;

use bytes::Bytes;
use mainstay_base::{Clock as _, SystemClock};
use mainstay_outbound::blobs::parts::PART;
use mainstay_outbound::{BlobErrorKind, Blobs};
use mainstay_testkit::S3Server;
use tempfile::TempDir;

use crate::{MOST, PATIENCE, bucket, bytes, folder, key};

/// A place with its blobs.
pub(crate) struct Place {
    blobs: Blobs,
    files: Box<dyn Fn() -> Vec<PathBuf>>,
}

/// Runs each test on a folder and on S3.
macro_rules! each_place {
    ($(async fn $name:ident($place:ident: &Place) $body:block)+) => {
        mod tests {
            $(async fn $name($place: &super::Place) {
                use super::*;
                $body
            })+
            mod in_a_folder {
                $(#[tokio::test]
                async fn $name() {
                    super::$name(&super::super::a_folder()).await;
                })+
            }
            mod in_a_bucket {
                $(#[tokio::test]
                async fn $name() {
                    let server = mainstay_testkit::S3Server::start().await;
                    super::$name(&super::super::a_bucket(server)).await;
                })+
            }
        }
    };
}

each_place! {
    async fn what_is_put_is_read_back(place: &Place) {
        for length in [0, 1, 70_000, PART + 1] {
            let (key, body) = (key(&format!("put/{length}")), bytes(length));
            place.blobs.put(&key, body.clone()).await.unwrap();
            assert!(place.blobs.get(&key, MOST).await.unwrap() == body, "{length}");
        }
    }

    async fn what_is_put_again_is_replaced(place: &Place) {
        place.blobs.put(&key("a"), bytes(5_000)).await.unwrap();
        place.blobs.put(&key("a"), Bytes::from_static(b"new")).await.unwrap();
        assert_eq!(place.blobs.get(&key("a"), MOST).await.unwrap(), "new");
    }

    async fn what_is_not_there_is_missing(place: &Place) {
        place.blobs.put(&key("a/b"), Bytes::from_static(b"x")).await.unwrap();
        for absent in ["x", "a/c", "x/b/c", "a/b.c"] {
            let error = place.blobs.get(&key(absent), MOST).await.unwrap_err();
            assert_eq!(error.kind(), BlobErrorKind::Missing, "{absent}: {error}");
        }
    }

    async fn nothing_is_read_beyond_what_the_caller_takes(place: &Place) {
        place.blobs.put(&key("a"), bytes(1_000)).await.unwrap();
        assert_eq!(place.blobs.get(&key("a"), 1_000).await.unwrap().len(), 1_000);
        for most in [0, 999] {
            let error = place.blobs.get(&key("a"), most).await.unwrap_err();
            assert_eq!(error.kind(), BlobErrorKind::TooLarge, "{error}");
            assert!(error.to_string().contains(&most.to_string()), "{error}");
        }
    }

    async fn what_is_deleted_is_gone_and_so_is_what_was_never_there(place: &Place) {
        place.blobs.put(&key("a/b"), bytes(9)).await.unwrap();
        place.blobs.put(&key("a/c"), bytes(9)).await.unwrap();
        for _ in 0..2 {
            place.blobs.delete(&key("a/b")).await.unwrap();
            let error = place.blobs.get(&key("a/b"), MOST).await.unwrap_err();
            assert_eq!(error.kind(), BlobErrorKind::Missing);
        }
        for never in ["x", "a/d", "x/c/d"] {
            place.blobs.delete(&key(never)).await.unwrap();
        }
        assert_eq!(place.blobs.get(&key("a/c"), MOST).await.unwrap().len(), 9);
    }

    async fn an_upload_of_any_length_arrives_whole(place: &Place) {
        for (length, part) in [
            (0, 1),
            (10, 3),
            (PART - 1, 64 * 1024),
            (PART, 64 * 1024),
            (PART, PART),
            (2 * PART, PART),
            (2 * PART + 3, 100_000),
            (2 * PART + 3, 3 * PART),
        ] {
            let (key, body) = (key(&format!("up/{length}-{part}")), bytes(length));
            let mut upload = place.blobs.upload(&key).await.unwrap();
            for at in (0..length).step_by(part) {
                upload.write(body.slice(at..length.min(at + part))).await.unwrap();
            }
            let size = upload.finish().await.unwrap();
            assert_eq!(size, u64::try_from(length).unwrap());
            assert!(place.blobs.get(&key, MOST).await.unwrap() == body, "{key}");
        }
    }

    async fn an_upload_is_seen_only_after_its_end(place: &Place) {
        place.blobs.put(&key("a"), Bytes::from_static(b"old")).await.unwrap();
        let mut upload = place.blobs.upload(&key("a")).await.unwrap();
        upload.write(bytes(PART + 7)).await.unwrap();
        assert_eq!(place.blobs.get(&key("a"), MOST).await.unwrap(), "old");
        assert_eq!(place.blobs.list("", None, 10).await.unwrap().len(), 1);
        upload.finish().await.unwrap();
        assert_eq!(place.blobs.get(&key("a"), MOST).await.unwrap().len(), PART + 7);
    }

    async fn an_upload_that_is_aborted_leaves_nothing(place: &Place) {
        let before = (place.files)();
        for length in [0, 10, PART + 7] {
            let mut upload = place.blobs.upload(&key("a/b/c")).await.unwrap();
            upload.write(bytes(length)).await.unwrap();
            upload.abort().await;
            assert_eq!((place.files)(), before, "{length}");
        }
        assert_eq!(place.blobs.list("", None, 10).await.unwrap(), []);
    }

    async fn an_upload_that_is_dropped_leaves_nothing(place: &Place) {
        let before = (place.files)();
        let mut upload = place.blobs.upload(&key("a/b/c")).await.unwrap();
        upload.write(bytes(PART + 7)).await.unwrap();
        assert_ne!((place.files)(), before);
        drop(upload);
        until(|| (place.files)() == before).await;
    }

    async fn an_upload_whose_write_is_dropped_is_over(place: &Place) {
        let mut upload = place.blobs.upload(&key("a/b/c")).await.unwrap();
        // Begun, and dropped where it waits first, unless a disk was faster than that.
        tokio::select! {
            biased;
            written = upload.write(bytes(2 * PART)) => return written.unwrap(),
            () = std::future::ready(()) => {}
        }
        let error = upload.write(bytes(1)).await.unwrap_err();
        assert_eq!(error.kind(), BlobErrorKind::Permanent, "{error}");
        assert_eq!(upload.finish().await.unwrap_err().kind(), BlobErrorKind::Permanent);
        assert_eq!(place.blobs.list("", None, 10).await.unwrap(), []);
    }

    async fn a_list_is_in_the_order_of_keys_and_goes_on_after_any(place: &Place) {
        let keys = ["a-b", "a.b", "a/b", "a/b-c", "a/c/d", "a/c/e", "a0", "b/a", "c"];
        for (size, text) in keys.iter().enumerate().rev() {
            place.blobs.put(&key(text), bytes(size)).await.unwrap();
        }
        let all = place.blobs.list("", None, 100).await.unwrap();
        let listed: Vec<&str> = all.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(listed, keys);
        let sizes: Vec<u64> = all.iter().map(|entry| entry.size).collect();
        assert_eq!(sizes, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        for limit in 1..=4 {
            let (mut paged, mut after) = (Vec::new(), None);
            loop {
                let page = place.blobs.list("", after.as_ref(), limit).await.unwrap();
                assert!(page.len() <= limit);
                let Some(last) = page.last() else { break };
                after = Some(last.key.clone());
                paged.extend(page);
            }
            assert_eq!(paged, all, "{limit}");
        }
        // What was after a key that is gone is after it still.
        let after = place.blobs.list("", Some(&key("a/c/dd")), 2).await.unwrap();
        assert_eq!(after, all[5..7]);
    }

    async fn a_prefix_is_of_whole_segments(place: &Place) {
        for text in ["users/1/a", "users/1/b", "users/10/a", "users/1.txt", "other"] {
            place.blobs.put(&key(text), bytes(1)).await.unwrap();
        }
        for prefix in ["users/1", "users/1/"] {
            let found = place.blobs.list(prefix, None, 100).await.unwrap();
            let keys: Vec<&str> = found.iter().map(|entry| entry.key.as_str()).collect();
            assert_eq!(keys, ["users/1/a", "users/1/b"], "{prefix}");
        }
        let rest = place.blobs.list("users/1", Some(&key("users/1/a")), 100).await.unwrap();
        assert_eq!(rest.len(), 1);
        assert_eq!(place.blobs.list("nobody", None, 100).await.unwrap(), []);
        for trick in ["../users", "/", "users//1", "users/./1", "users/%"] {
            let error = place.blobs.list(trick, None, 100).await.unwrap_err();
            assert_eq!(error.kind(), BlobErrorKind::Permanent, "{trick}: {error}");
        }
    }

    async fn a_list_tells_when_a_blob_was_stored(place: &Place) {
        let now = SystemClock::new().now();
        place.blobs.put(&key("a"), bytes(1)).await.unwrap();
        let stored = place.blobs.list("", None, 1).await.unwrap()[0].modified;
        let (apart, back) = (stored.since(now), now.since(stored));
        // S3 tells whole seconds.
        assert!(apart < PATIENCE && back < PATIENCE, "{stored} {now}");
    }

    async fn many_may_store_and_delete_in_one_folder(place: &Place) {
        let workers = (0..8).map(|worker| {
            let blobs = place.blobs.clone();
            tokio::spawn(async move {
                let key = key(&format!("shared/folder/{worker}"));
                for _ in 0..10 {
                    blobs.put(&key, bytes(worker)).await.unwrap();
                    assert_eq!(blobs.get(&key, MOST).await.unwrap().len(), worker);
                    blobs.delete(&key).await.unwrap();
                }
            })
        });
        for worker in workers.collect::<Vec<_>>() {
            worker.await.unwrap();
        }
        assert_eq!(place.blobs.list("", None, 10).await.unwrap(), []);
    }
}

fn a_folder() -> Place {
    let kept = TempDir::new().unwrap();
    let blobs = folder(kept.path());
    let files = Box::new(move || files_below(kept.path()));
    Place { blobs, files }
}

fn a_bucket(server: S3Server) -> Place {
    Place { blobs: bucket(&server), files: Box::new(move || server.files()) }
}

pub(crate) fn files_below(path: &std::path::Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files
}

async fn until(is_so: impl Fn() -> bool) {
    let waited = tokio::time::timeout(PATIENCE, async {
        while !is_so() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    });
    waited.await.expect("it is so in the end");
}
