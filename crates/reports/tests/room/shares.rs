//! Links by which others read a report.

use mainstay_reports::shares::MAX_SHARES_PER_FILE;
use mainstay_reports::{FileStatus, ReportsError};
use mainstay_testkit::each_database;

use crate::house::{House, Log, SECOND, whole};

each_database! {
    async fn a_share_leads_to_the_report_until_it_expires(database: &TestDatabase) {
        let house = House::new(database).await;
        let (user, stranger) = (house.user().await, house.user().await);
        let id = house.upload(user, "x").await.unwrap();
        let share = async |user, lasts| {
            house.write(async |tx, _| house.reports.share(tx, user, id, lasts).await).await
        };
        assert!(matches!(share(stranger, None).await, Err(ReportsError::NotFound)));
        for lasts in [0, 59, 90 * 24 * 3_600 + 1] {
            let refused = share(user, Some(lasts * SECOND)).await;
            assert!(matches!(refused, Err(ReportsError::BadExpiry)), "{lasts}");
        }
        let made = share(user, Some(100 * SECOND)).await.unwrap();
        let token = made.token.expose().as_str();
        assert_eq!(token.len(), 43);
        assert!(matches!(house.reports.read_shared(token).await, Err(ReportsError::NotReady)));
        let runner = house.run();
        house.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        let read = house.reports.read_shared(token).await.unwrap();
        assert_eq!(read.report, whole("an incident"));
        assert_eq!(
            house.count("SELECT count(*) AS n FROM file_shares WHERE token_hash NOT LIKE '%-no-%'").await, 1
        );
        let kept = house.db.fetch_one(
            &mainstay_store::Sql::same("test.hash", "SELECT token_hash FROM file_shares"), &[],
        ).await.unwrap().get::<String>("token_hash").unwrap();
        assert_ne!(kept, token, "the token itself is not kept");
        let early = house.later(database, 90 * SECOND).await;
        assert!(early.reports.read_shared(token).await.is_ok());
        let log = Log::listen();
        let later = house.later(database, 110 * SECOND).await;
        assert!(matches!(later.reports.read_shared(token).await, Err(ReportsError::UnknownShare)));
        let expired = "event=\"share\" outcome=\"expired\" reason=\"token_expired\"";
        assert!(log.text().contains(expired), "{}", log.text());
        for unknown in ["", "x", &"A".repeat(43), &format!("{token}A"), &"é".repeat(43)] {
            let refused = house.reports.read_shared(unknown).await;
            assert!(matches!(refused, Err(ReportsError::UnknownShare)), "{unknown}");
        }
        let unknown = "event=\"share\" outcome=\"rejected\" reason=\"unknown_token\"";
        assert!(log.text().contains(unknown), "{}", log.text());
    }

    async fn a_share_that_was_taken_back_says_so(database: &TestDatabase) {
        let house = House::new(database).await;
        let (user, stranger) = (house.user().await, house.user().await);
        let id = house.upload(user, "x").await.unwrap();
        let made = house.write(async |tx, _| house.reports.share(tx, user, id, None).await).await.unwrap();
        let revoke = async |user| {
            house.write(async |tx, _| house.reports.revoke(tx, user, id, made.share.id).await).await
        };
        assert!(matches!(revoke(stranger).await, Err(ReportsError::NotFound)));
        revoke(user).await.unwrap();
        let since = house.reports.shares(user, id).await.unwrap()[0].revoked_at;
        revoke(user).await.unwrap();
        assert_eq!(house.reports.shares(user, id).await.unwrap()[0].revoked_at, since);
        let token = made.token.expose();
        assert!(matches!(house.reports.read_shared(token).await, Err(ReportsError::RevokedShare)));
        let listed = house.reports.shares(user, id).await.unwrap();
        assert!(listed[0].revoked_at.is_some());
        assert!(matches!(house.reports.shares(stranger, id).await, Err(ReportsError::NotFound)));
        house.write(async |tx, out| house.reports.remove(tx, out, user, id).await).await.unwrap();
        assert!(matches!(house.reports.read_shared(token).await, Err(ReportsError::UnknownShare)));
    }

    async fn a_file_has_no_more_shares_than_it_may_have(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let id = house.upload(user, "x").await.unwrap();
        let share = async || house.write(async |tx, _| house.reports.share(tx, user, id, None).await).await;
        let mut first = None;
        for _ in 0..MAX_SHARES_PER_FILE {
            first.get_or_insert(share().await.unwrap());
        }
        assert!(matches!(share().await, Err(ReportsError::TooManyShares)));
        let first = first.unwrap().share.id;
        house.write(async |tx, _| house.reports.revoke(tx, user, id, first).await).await.unwrap();
        assert!(share().await.is_ok(), "one that was taken back makes room");
        // Those that were taken back do not pile up either.
        for _ in 0..3 * MAX_SHARES_PER_FILE {
            let newest = house.reports.shares(user, id).await.unwrap()[0].id;
            house.write(async |tx, _| house.reports.revoke(tx, user, id, newest).await).await.unwrap();
            share().await.unwrap();
        }
        let kept = house.count("SELECT count(*) AS n FROM file_shares").await;
        assert!(kept <= i64::from(MAX_SHARES_PER_FILE) * 2, "{kept}");
    }
}
