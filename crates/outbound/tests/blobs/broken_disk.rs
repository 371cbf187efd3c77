//! A folder that fails, and what a process leaves in it that was killed.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock as _, SystemClock};
use mainstay_outbound::{BlobErrorKind, BlobOptions, BlobPlace, Blobs, BlobsError};
use mainstay_testkit::FakeClock;
use tempfile::TempDir;

use crate::conformance::files_below;
use crate::{MOST, bytes, folder, key};

/// A disk of 64 kB, where whoever runs this may mount one. Unmounted when dropped.
struct TinyDisk(TempDir);

impl TinyDisk {
    fn mount() -> Option<Self> {
        let place = TempDir::new().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(place.path());
        let mounted = mount.output().is_ok_and(|done| done.status.success());
        mounted.then_some(Self(place))
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(self.0.path()).status());
    }
}

#[tokio::test]
async fn a_full_disk_is_transient_and_leaves_no_half() {
    // Only root may mount a disk to fill; the sorting of the error itself is tested beside it.
    let Some(disk) = TinyDisk::mount() else { return };
    let blobs = folder(disk.0.path());
    blobs.put(&key("a"), bytes(10)).await.unwrap();
    let error = blobs.put(&key("b"), bytes(200_000)).await.unwrap_err();
    assert_eq!(error.kind(), BlobErrorKind::Transient, "{error}");
    assert!(error.to_string().contains("no room"), "{error}");
    let mut upload = blobs.upload(&key("a")).await.unwrap();
    let error = upload.write(bytes(200_000)).await.unwrap_err();
    assert_eq!(error.kind(), BlobErrorKind::Transient, "{error}");
    drop(upload);
    assert_eq!(files_below(disk.0.path()).len(), 1);
    assert_eq!(blobs.get(&key("a"), MOST).await.unwrap(), bytes(10));
}

#[tokio::test]
async fn a_folder_that_can_not_be_made_is_told() {
    let place = TempDir::new().unwrap();
    let taken = place.path().join("taken");
    std::fs::write(&taken, "a file").unwrap();
    let error = Blobs::open(&BlobPlace::Folder(taken)).unwrap_err();
    assert!(matches!(error, BlobsError::Folder { .. }), "{error}");
    assert!(error.to_string().contains("taken"), "{error}");
}

#[tokio::test]
async fn a_key_below_a_blob_is_refused_for_good() {
    let place = TempDir::new().unwrap();
    let blobs = folder(place.path());
    blobs.put(&key("a"), bytes(3)).await.unwrap();
    let error = blobs.put(&key("a/b"), bytes(3)).await.unwrap_err();
    assert_eq!(error.kind(), BlobErrorKind::Permanent, "{error}");
    let shown = place.path().to_str().unwrap();
    assert!(!error.to_string().contains(shown), "{error}");
    blobs.put(&key("c/d"), bytes(3)).await.unwrap();
    for absent in ["a/b", "c"] {
        let error = blobs.get(&key(absent), MOST).await.unwrap_err();
        assert_eq!(error.kind(), BlobErrorKind::Missing, "{absent}: {error}");
        blobs.delete(&key(absent)).await.unwrap();
    }
    assert_eq!(blobs.get(&key("a"), MOST).await.unwrap().len(), 3);
    assert_eq!(files_below(place.path()).len(), 2);
}

#[tokio::test]
async fn what_a_killed_process_left_is_cleared_away_after_a_day() {
    let place = TempDir::new().unwrap();
    drop(folder(place.path()));
    std::fs::write(place.path().join("incoming/left"), "half").unwrap();
    let clock = Arc::new(FakeClock::new());
    let open = |after: Duration| {
        clock.step_wall(SystemClock::new().now().plus(after));
        let options = BlobOptions { clock: Arc::clone(&clock) as _, ..BlobOptions::default() };
        drop(Blobs::open_with(&BlobPlace::Folder(place.path().to_owned()), &options).unwrap());
        files_below(place.path()).len()
    };
    assert_eq!(open(Duration::from_hours(23)), 1);
    assert_eq!(open(Duration::from_hours(25)), 0);
}

#[tokio::test]
async fn and_without_a_restart_when_it_is_asked_for() {
    let place = TempDir::new().unwrap();
    let clock = Arc::new(FakeClock::new());
    let options = BlobOptions { clock: Arc::clone(&clock) as _, ..BlobOptions::default() };
    let blobs = Blobs::open_with(&BlobPlace::Folder(place.path().to_owned()), &options).unwrap();
    std::fs::write(place.path().join("incoming/left"), "half").unwrap();
    blobs.put(&key("a/b"), bytes(3)).await.unwrap();
    for (hours, removed) in [(23, 0), (25, 1), (25, 0)] {
        clock.step_wall(SystemClock::new().now().plus(Duration::from_hours(hours)));
        assert_eq!(blobs.clear_abandoned().await.unwrap(), removed, "{hours}");
    }
    assert_eq!(blobs.get(&key("a/b"), 10).await.unwrap(), bytes(3));
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_may_read_what_is_stored() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = TempDir::new().unwrap();
    let blobs = folder(&place.path().join("blobs"));
    blobs.put(&key("a/b"), bytes(3)).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place.path().join("blobs/objects/a/b")), 0o600);
    assert_eq!(mode(&place.path().join("blobs/objects/a")), 0o700);
    assert_eq!(mode(&place.path().join("blobs")), 0o700);
}
