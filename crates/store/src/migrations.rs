//! The list of migrations, oldest first. Each has an up and a down text for each database in
//! `migrations/{sqlite,postgres}/NNNN_name.{up,down}.sql`.

use sha2::{Digest as _, Sha256};

use crate::sql::Dialect;

/// One step of the schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    pub(crate) version: i64,
    pub(crate) name: &'static str,
    up: Texts,
    down: Texts,
}

#[derive(Debug, Clone, Copy)]
struct Texts {
    sqlite: &'static str,
    postgres: &'static str,
}

macro_rules! migration {
    ($version:literal, $file:literal, $name:literal) => {
        Migration {
            version: $version,
            name: $name,
            up: Texts {
                sqlite: include_str!(concat!("../migrations/sqlite/", $file, ".up.sql")),
                postgres: include_str!(concat!("../migrations/postgres/", $file, ".up.sql")),
            },
            down: Texts {
                sqlite: include_str!(concat!("../migrations/sqlite/", $file, ".down.sql")),
                postgres: include_str!(concat!("../migrations/postgres/", $file, ".down.sql")),
            },
        }
    };
}

/// Every migration this binary knows.
pub(crate) const ALL: &[Migration] = &[
    migration!(1, "0001_installation", "installation"),
    migration!(2, "0002_accounts", "accounts"),
    migration!(3, "0003_events", "events"),
    migration!(4, "0004_jobs", "jobs"),
    migration!(5, "0005_monitor", "monitor"),
    migration!(6, "0006_graph", "graph"),
    migration!(7, "0007_instances", "instances"),
    migration!(8, "0008_past", "past"),
    migration!(9, "0009_reports", "reports"),
    migration!(10, "0010_report_titles", "report_titles"),
    migration!(11, "0011_fleet", "fleet"),
    migration!(12, "0012_journeys", "journeys"),
    migration!(13, "0013_failing_since", "failing_since"),
    migration!(14, "0014_locations", "locations"),
    migration!(15, "0015_machine_orders", "machine_orders"),
    migration!(16, "0016_fleet_brake", "fleet_brake"),
    migration!(17, "0017_deleted_files", "deleted_files"),
    migration!(18, "0018_run_progress", "run_progress"),
];

impl Migration {
    pub(crate) const fn up(&self, dialect: Dialect) -> &'static str {
        self.up.of(dialect)
    }

    pub(crate) const fn down(&self, dialect: Dialect) -> &'static str {
        self.down.of(dialect)
    }

    /// What tells an applied text from an edited one.
    pub(crate) fn checksum(&self, dialect: Dialect) -> String {
        let digest = Sha256::digest(self.up(dialect).as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Texts {
    const fn of(&self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Sqlite => self.sqlite,
            Dialect::Postgres => self.postgres,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn files(database: &str) -> BTreeSet<String> {
        let folder = format!("{}/migrations/{database}", env!("CARGO_MANIFEST_DIR"));
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn every_file_is_listed_and_every_listed_one_is_paired() {
        let listed: BTreeSet<String> = ALL
            .iter()
            .flat_map(|one| {
                ["up", "down"].map(|way| format!("{:04}_{}.{way}.sql", one.version, one.name))
            })
            .collect();
        assert_eq!(files("sqlite"), listed);
        assert_eq!(files("postgres"), listed);
    }

    #[test]
    fn versions_count_up_from_one() {
        for (index, migration) in ALL.iter().enumerate() {
            assert_eq!(migration.version, i64::try_from(index).unwrap() + 1);
        }
    }

    #[test]
    fn sqlite_tables_are_strict_and_postgres_text_sorts_by_bytes() {
        for migration in ALL {
            let sqlite = migration.up(Dialect::Sqlite);
            let tables = sqlite.matches("CREATE TABLE").count();
            assert_eq!(sqlite.matches("STRICT").count(), tables, "{}", migration.name);
            let postgres = migration.up(Dialect::Postgres);
            let texts = postgres.split_whitespace().filter(|word| word.trim_matches(',') == "TEXT");
            let collated = postgres.matches("TEXT COLLATE \"C\"").count();
            assert_eq!(texts.count(), collated, "{}", migration.name);
        }
    }
}
