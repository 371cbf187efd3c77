//! Requests for access, and those who are kept from making them.

use std::time::Duration;

use mainstay_accounts::{
    AccountsError, FilledForm, PageAsk, REQUESTS_PER_ADDRESS, REQUESTS_PER_EMAIL, RequestStatus,
};
use mainstay_testkit::each_database;

use crate::house::{ALL, House, ROOT, from, source};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A form that was loaded now.
pub(crate) fn filled(house: &House, email: &str) -> FilledForm {
    let client_ts = house.accounts.form_stamp();
    FilledForm { email: email.to_owned(), client_ts, ..FilledForm::default() }
}

pub(crate) async fn ask(house: &House, email: &str, address: &str) -> Result<(), AccountsError> {
    let form = filled(house, email);
    house.clock.advance(Duration::from_millis(3001));
    house.accounts.request_access(form, from(address)).await
}

pub(crate) async fn rows(house: &House) -> i64 {
    house.count("SELECT count(*) AS n FROM access_requests").await
}

each_database! {
    async fn a_person_who_asks_is_heard(database: &TestDatabase) {
        let house = House::new(database).await;
        let admin = house.admin().await;
        let mut form = filled(&house, " Ada@Example.com ");
        form.name = Some("  Ada Lovelace ".to_owned());
        form.company = Some("   ".to_owned());
        form.note = Some("I watch\r\nengines.".to_owned());
        house.clock.advance(Duration::from_secs(3));
        house.accounts.request_access(form, from("198.51.100.1")).await.unwrap();
        let request = house.accounts.access_requests(None, ALL).await.unwrap().items.remove(0);
        assert_eq!(request.email, "ada@example.com");
        assert_eq!(request.name.as_deref(), Some("Ada Lovelace"));
        assert_eq!((request.company.as_deref(), request.note.as_deref()), (None, Some("I watch\nengines.")));
        assert_eq!((request.status, request.handled_by.as_deref()), (RequestStatus::New, None));
        assert_eq!(house.post.sent(), [format!("request {ROOT} of ada@example.com")]);
        let handled = house.accounts.handle_request(&admin.caller, request.id, RequestStatus::Contacted, source());
        let handled = handled.await.unwrap();
        assert_eq!((handled.status, handled.handled_by.as_deref()), (RequestStatus::Contacted, Some(ROOT)));
        let unknown = house.accounts.handle_request(&admin.caller, admin.caller.user.id, RequestStatus::New, source()).await;
        assert!(matches!(unknown, Err(AccountsError::NotFound)));
        let of = async |status| house.accounts.access_requests(Some(status), ALL).await.unwrap().items.len();
        assert_eq!((of(RequestStatus::Contacted).await, of(RequestStatus::New).await), (1, 0));
    }

    async fn a_machine_is_dropped_without_a_word(database: &TestDatabase) {
        let house = House::new(database).await;
        let mut honeypot = filled(&house, "bot@example.com");
        honeypot.website = Some("https://spam.example".to_owned());
        let quick = filled(&house, "bot@example.com");
        house.clock.advance(Duration::from_millis(2999));
        house.accounts.request_access(quick.clone(), from("198.51.100.1")).await.unwrap();
        house.clock.advance(Duration::from_secs(5));
        house.accounts.request_access(honeypot, from("198.51.100.1")).await.unwrap();
        assert_eq!(rows(&house).await, 0);
        assert_eq!(house.count("SELECT count(*) AS n FROM rate_limit_buckets").await, 0, "nor counted");
        house.accounts.request_access(quick, from("198.51.100.1")).await.unwrap();
        assert_eq!(rows(&house).await, 1, "the same form, sent by a person in time");
    }

    async fn an_address_is_judged_before_the_honeypot(database: &TestDatabase) {
        let house = House::new(database).await;
        for email in ["", "ada", "ada@example.com\r\nBcc: x@y", "\u{430}da@example.com", &"a".repeat(300)] {
            let mut form = filled(&house, email);
            form.website = Some("x".to_owned());
            let refused = house.accounts.request_access(form, source()).await;
            assert!(matches!(refused, Err(AccountsError::InvalidEmail(_))), "{refused:?}");
        }
        for (name, note) in [(Some("a\r\nBcc: x"), None), (Some("a\u{202e}b"), None), (None, Some("\u{1b}[2J"))] {
            let mut form = filled(&house, "ada@example.com");
            (form.name, form.note) = (name.map(Into::into), note.map(Into::into));
            house.clock.advance(Duration::from_secs(5));
            let refused = house.accounts.request_access(form, source()).await;
            assert!(matches!(refused, Err(AccountsError::InvalidText { .. })), "{refused:?}");
        }
    }

    async fn a_time_that_is_not_ours_is_refused(database: &TestDatabase) {
        let house = House::new(database).await;
        let stamp = house.accounts.form_stamp();
        let (millis, tag) = stamp.split_once('.').unwrap();
        let earlier = millis.parse::<i64>().unwrap() - 60_000;
        house.clock.advance(Duration::from_secs(5));
        for forged in [
            String::new(), ".".to_owned(), millis.to_owned(), format!("{millis}."), format!("{earlier}.{tag}"),
            format!("0{millis}.{tag}"), format!("{stamp}x"), "9".repeat(1_000_000),
        ] {
            let mut form = filled(&house, "ada@example.com");
            form.client_ts = forged;
            let refused = house.accounts.request_access(form, source()).await;
            assert!(matches!(refused, Err(AccountsError::FormExpired)), "{refused:?}");
        }
        let old = filled(&house, "ada@example.com");
        house.clock.advance(DAY + Duration::from_millis(1));
        let refused = house.accounts.request_access(old, source()).await;
        assert!(matches!(refused, Err(AccountsError::FormExpired)), "{refused:?}");
        assert_eq!(rows(&house).await, 0);
    }

    async fn a_form_makes_one_row_however_often_it_is_sent(database: &TestDatabase) {
        let house = House::new(database).await;
        let form = filled(&house, "ada@example.com");
        house.clock.advance(Duration::from_secs(5));
        house.accounts.request_access(form.clone(), source()).await.unwrap();
        let replayed = FilledForm { email: "eve@example.com".to_owned(), ..form };
        house.accounts.request_access(replayed, from("198.51.100.77")).await.unwrap();
        assert_eq!(rows(&house).await, 1);
    }

    async fn an_address_may_ask_ten_times_an_hour(database: &TestDatabase) {
        let house = House::new(database).await;
        for number in 0..REQUESTS_PER_ADDRESS {
            ask(&house, &format!("a{number}@example.com"), "198.51.100.1").await.unwrap();
        }
        let limited = ask(&house, "b@example.com", "198.51.100.1").await;
        let Err(AccountsError::RateLimited { retry_after }) = limited else { panic!("{limited:?}") };
        assert!(retry_after <= Duration::from_secs(3600), "{retry_after:?}");
        ask(&house, "b@example.com", "198.51.100.2").await.unwrap();
        house.clock.advance(retry_after);
        ask(&house, "c@example.com", "198.51.100.1").await.unwrap();
        let plain = house.count("SELECT count(*) AS n FROM rate_limit_buckets WHERE subject_hash LIKE '%198%'").await;
        assert_eq!(plain, 0, "addresses are counted by their hash");
    }

    async fn an_email_may_be_asked_for_three_times_an_hour(database: &TestDatabase) {
        let house = House::new(database).await;
        for number in 0..REQUESTS_PER_EMAIL {
            ask(&house, "ada@example.com", &format!("198.51.100.{number}")).await.unwrap();
        }
        let limited = ask(&house, " ADA@example.com", "198.51.100.99").await;
        assert!(matches!(limited, Err(AccountsError::RateLimited { .. })), "{limited:?}");
        assert_eq!(rows(&house).await, 1, "and all but the first were duplicates");
    }

    async fn a_second_request_within_a_day_is_a_duplicate_unless_it_was_rejected(database: &TestDatabase) {
        let house = House::new(database).await;
        let admin = house.admin().await;
        ask(&house, "ada@example.com", "198.51.100.1").await.unwrap();
        house.clock.advance(DAY - Duration::from_secs(10));
        ask(&house, "ada@example.com", "198.51.100.1").await.unwrap();
        assert_eq!(rows(&house).await, 1);
        house.clock.advance(Duration::from_secs(60));
        ask(&house, "ada@example.com", "198.51.100.1").await.unwrap();
        assert_eq!(rows(&house).await, 2, "a day later it is a new one");
        let newest = house.accounts.access_requests(None, ALL).await.unwrap().items[0].id;
        house.accounts.handle_request(&admin.caller, newest, RequestStatus::Rejected, source()).await.unwrap();
        house.clock.advance(Duration::from_secs(3600));
        ask(&house, "ada@example.com", "198.51.100.1").await.unwrap();
        assert_eq!(rows(&house).await, 3, "a rejected one does not count");
    }

    async fn of_many_at_once_one_is_taken(database: &TestDatabase) {
        let house = House::new(database).await;
        let forms: Vec<_> = (0..3).map(|_| {
            let form = filled(&house, "ada@example.com");
            house.clock.advance(Duration::from_millis(1));
            form
        }).collect();
        house.clock.advance(Duration::from_secs(5));
        let tasks: Vec<_> = forms.into_iter().map(|form| {
            let accounts = house.accounts.clone();
            tokio::spawn(async move { accounts.request_access(form, source()).await })
        }).collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert_eq!(rows(&house).await, 1);
    }

    async fn every_hundredth_request_removes_old_counts(database: &TestDatabase) {
        let house = House::new(database).await;
        ask(&house, "ada@example.com", "198.51.100.1").await.unwrap();
        let counts = "SELECT count(*) AS n FROM rate_limit_buckets";
        let before = house.count(counts).await;
        assert!(before > 0);
        house.clock.advance(15 * DAY);
        let dropped = async |times: u32| {
            for _ in 0..times {
                let form = FilledForm { website: Some("x".to_owned()), ..filled(&house, "b@example.com") };
                house.accounts.request_access(form, source()).await.unwrap();
            }
        };
        dropped(98).await;
        assert_eq!(house.count(counts).await, before);
        dropped(1).await;
        assert_eq!(house.count(counts).await, 0);
    }

    async fn the_list_comes_in_parts_newest_first(database: &TestDatabase) {
        let house = House::new(database).await;
        for number in 0..5 {
            ask(&house, &format!("a{number}@example.com"), "198.51.100.1").await.unwrap();
        }
        let part = async |after| house.accounts.access_requests(None, PageAsk { after, limit: 2 }).await.unwrap();
        let (first, mut seen) = (part(None).await, Vec::new());
        let second = part(first.next).await;
        let third = part(second.next).await;
        for page in [&first, &second, &third] {
            seen.extend(page.items.iter().map(|item| item.email.chars().nth(1).unwrap()));
        }
        assert_eq!(seen, ['4', '3', '2', '1', '0']);
        assert_eq!(third.next, None);
    }
}
