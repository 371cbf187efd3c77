//! What admins do, and the audit log of it.

use mainstay_accounts::{AccountsError, AuditFilter, PageAsk, Role, UserChange, UserStatus};
use mainstay_testkit::each_database;

use crate::house::{ALL, House, ROOT, id_of, source};

fn role(role: Role) -> UserChange {
    UserChange { role: Some(role), status: None }
}

fn status(status: UserStatus) -> UserChange {
    UserChange { role: None, status: Some(status) }
}

each_database! {
    async fn the_last_active_admin_stays_one(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        let ada = house.user(&admin.caller, "ada@example.com", Role::Editor).await;
        let change = async |who, change| accounts.change_user(&admin.caller, who, change, source()).await;
        for refused in [role(Role::Editor), role(Role::Viewer), status(UserStatus::Disabled)] {
            let refused = change(id_of(&admin), refused).await;
            assert!(matches!(refused, Err(AccountsError::LastAdmin)), "{refused:?}");
        }
        assert_eq!(change(id_of(&ada), role(Role::Admin)).await.unwrap().role, Role::Admin);
        change(id_of(&ada), status(UserStatus::Disabled)).await.unwrap();
        let refused = change(id_of(&admin), role(Role::Viewer)).await;
        assert!(matches!(refused, Err(AccountsError::LastAdmin)), "a disabled one does not count");
        change(id_of(&ada), status(UserStatus::Active)).await.unwrap();
        assert_eq!(change(id_of(&admin), role(Role::Viewer)).await.unwrap().role, Role::Viewer);
    }

    async fn two_admins_who_demote_each_other_at_once_leave_one(database: &TestDatabase) {
        let house = House::new(database).await;
        let admin = house.admin().await;
        let ada = house.user(&admin.caller, "ada@example.com", Role::Admin).await;
        let demote = |by: &mainstay_accounts::Caller, who| {
            let (accounts, by) = (house.accounts.clone(), by.clone());
            tokio::spawn(async move { accounts.change_user(&by, who, role(Role::Viewer), source()).await.is_ok() })
        };
        let (first, second) = (demote(&admin.caller, id_of(&ada)), demote(&ada.caller, id_of(&admin)));
        assert!(first.await.unwrap() != second.await.unwrap());
        let admins = "SELECT count(*) AS n FROM users WHERE role = 'admin' AND status = 'active'";
        assert_eq!(house.count(admins).await, 1);
    }

    async fn who_is_no_admin_any_more_leaves_no_open_door(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        let ada = house.user(&admin.caller, "ada@example.com", Role::Admin).await;
        let of_ada = house.invite(&ada.caller, "bob@example.com", Role::Admin).await;
        let of_root = house.invite(&admin.caller, "cat@example.com", Role::Viewer).await;
        accounts.change_user(&admin.caller, id_of(&ada), role(Role::Editor), source()).await.unwrap();
        assert!(accounts.look_at_invite(&of_ada).await.is_err());
        assert!(accounts.look_at_invite(&of_root).await.is_ok());
    }

    async fn users_are_listed_without_their_passwords(database: &TestDatabase) {
        let house = House::new(database).await;
        let admin = house.admin().await;
        house.user(&admin.caller, "ada@example.com", Role::Viewer).await;
        let users = house.accounts.users(ALL).await.unwrap().items;
        assert_eq!(users.len(), 2);
        let shown = format!("{users:?}");
        assert!(!shown.contains("argon2"), "{shown}");
        assert!(users.iter().all(|user| user.last_login_at.is_some()));
        let unknown = house.accounts.change_user(&admin.caller, mainstay_id(&house), role(Role::Admin), source()).await;
        assert!(matches!(unknown, Err(AccountsError::NotFound)));
    }

    async fn the_audit_log_tells_who_did_what_to_which_thing_from_where(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        house.clock.advance(std::time::Duration::from_secs(1));
        let ada = house.user(&admin.caller, "ada@example.com", Role::Viewer).await;
        house.clock.advance(std::time::Duration::from_secs(1));
        accounts.change_user(&admin.caller, id_of(&ada), role(Role::Editor), source()).await.unwrap();
        house.clock.advance(std::time::Duration::from_secs(1));
        accounts.create_admin("bob@example.com".parse().unwrap(), "a very long password").await.unwrap();
        let all = accounts.audit_log(&AuditFilter::default(), ALL).await.unwrap().items;
        let actions: Vec<_> = all.iter().map(|entry| entry.action.as_str()).collect();
        assert_eq!(actions[..2], ["user.create", "user.change"], "newest first");
        assert_eq!(all[0].actor.kind, "cli");
        let change = &all[1];
        assert_eq!((change.actor.kind.as_str(), change.actor.email.as_deref()), ("user", Some(ROOT)));
        assert_eq!(change.target.id.as_deref(), Some(id_of(&ada).to_string().as_str()));
        assert_eq!(change.address.as_deref(), Some("203.0.113.9"));
        assert_eq!(change.request_id.as_deref(), Some("request-1"));
        assert_eq!(serde_json::to_value(&change.detail).unwrap(), serde_json::json!({"role": {"from": "viewer", "to": "editor"}}));
        let filtered = async |filter| accounts.audit_log(&filter, ALL).await.unwrap().items.len();
        let word = |text: &str| Some(text.to_owned());
        assert_eq!(filtered(AuditFilter { action: word("invite.create"), ..AuditFilter::default() }).await, 1);
        assert_eq!(filtered(AuditFilter { actor: word("ada@example.com"), ..AuditFilter::default() }).await, 1);
        assert_eq!(filtered(AuditFilter { target: word(&id_of(&ada).to_string()), ..AuditFilter::default() }).await, 1);
        assert_eq!(filtered(AuditFilter { actor: word("' OR 1=1 --"), ..AuditFilter::default() }).await, 0);
        let first = accounts.audit_log(&AuditFilter::default(), PageAsk { after: None, limit: 1 }).await.unwrap();
        assert_eq!(first.next, Some(all[0].id));
    }

    async fn what_was_refused_is_not_in_the_audit_log(database: &TestDatabase) {
        let house = House::new(database).await;
        let admin = house.admin().await;
        let before = house.actions().await.len();
        let refused = house.accounts.change_user(&admin.caller, id_of(&admin), role(Role::Viewer), source()).await;
        assert!(refused.is_err());
        assert_eq!(house.actions().await.len(), before);
    }
}

/// An id that nobody has.
fn mainstay_id(house: &House) -> mainstay_base::Id {
    let clock = std::sync::Arc::clone(&house.clock) as std::sync::Arc<dyn mainstay_base::Clock>;
    mainstay_base::IdSource::new(clock, std::sync::Arc::new(mainstay_base::SystemRng)).next()
}
