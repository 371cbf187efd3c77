//! A user's files, page by page.

use std::collections::HashSet;

use mainstay_testkit::each_database;

use crate::house::House;

each_database! {
    async fn pages_lose_and_double_nothing_though_files_have_one_time_and_more_come(database: &TestDatabase) {
        let house = House::new(database).await;
        let (user, other) = (house.user().await, house.user().await);
        let mut ids = HashSet::new();
        for _ in 0..25 {
            ids.insert(house.upload(user, "x").await.unwrap());
        }
        house.upload(other, "x").await.unwrap();
        // Files of one millisecond are told apart by their ids.
        house.execute("UPDATE files SET created_at = created_at / 1000 * 1000").await;
        let (mut seen, mut after, mut pages) = (Vec::new(), None, 0);
        loop {
            let page = house.reports.list(user, after, 4).await.unwrap();
            seen.extend(page.items.iter().map(|file| (file.created_at, file.id)));
            pages += 1;
            house.upload(user, "one that comes meanwhile").await.unwrap();
            match page.next {
                Some(next) => after = Some(next.to_string().parse().unwrap()),
                None => break,
            }
        }
        assert_eq!(pages, 7);
        let mut newest_first = seen.clone();
        newest_first.sort_by(|one, other| other.cmp(one));
        assert_eq!(seen, newest_first);
        assert_eq!(seen.len(), 25);
        assert_eq!(seen.into_iter().map(|(_, id)| id).collect::<HashSet<_>>(), ids);
    }

    async fn others_files_are_not_there(database: &TestDatabase) {
        let house = House::new(database).await;
        let (user, stranger) = (house.user().await, house.user().await);
        let id = house.upload(user, "x").await.unwrap();
        assert!(house.reports.find(stranger, id).await.is_err());
        assert_eq!(house.reports.list(stranger, None, 10).await.unwrap().items.len(), 0);
        assert!(house.reports.find(user, user).await.is_err(), "an id that no file has");
    }
}
