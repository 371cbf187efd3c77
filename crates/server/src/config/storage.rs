//! Where transcripts and reports are stored: in a folder, unless an S3-compatible storage is named, by
//! all five settings or none.

use std::path::Path;

use mainstay_base::Secret;
use mainstay_outbound::{BlobPlace, S3Settings};

use super::address;
use super::problem::Reason;
use super::reader::Reader;
use super::setting::{Fallback, Kind, Setting, hidden};

/// The folder below the data folder.
const FOLDER: &str = "blobs";

/// The storage's address.
pub const ENDPOINT: Setting = Setting {
    key: "s3.endpoint",
    variables: &["S3_ENDPOINT", "MAINSTAY_S3_ENDPOINT"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: Some(address::masked),
    help: "S3-compatible storage for transcripts and reports, such as https://s3.eu-central-1.amazonaws.com; needs all of s3.*",
};

/// Its region.
pub const REGION: Setting = Setting {
    key: "s3.region",
    variables: &["S3_REGION", "MAINSTAY_S3_REGION"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: None,
    help: "Region of the storage, which requests are signed for, such as eu-central-1",
};

/// The bucket.
pub const BUCKET: Setting = Setting {
    key: "s3.bucket",
    variables: &["S3_BUCKET", "MAINSTAY_S3_BUCKET"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: None,
    help: "Bucket of the storage; it must be there",
};

/// Who asks.
pub const ACCESS_KEY_ID: Setting = Setting {
    key: "s3.access_key_id",
    variables: &["S3_ACCESS_KEY_ID", "MAINSTAY_S3_ACCESS_KEY_ID"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: None,
    help: "Access key of the storage; it may put, get, delete and list in the bucket",
};

/// What that proves it by.
pub const SECRET_ACCESS_KEY: Setting = Setting {
    key: "s3.secret_access_key",
    variables: &["S3_SECRET_ACCESS_KEY", "MAINSTAY_S3_SECRET_ACCESS_KEY"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: Some(hidden),
    help: "Secret of the access key",
};

/// All of them.
const ALL: [&Setting; 5] = [&ENDPOINT, &REGION, &BUCKET, &ACCESS_KEY_ID, &SECRET_ACCESS_KEY];

/// Reads where things are stored.
pub(super) fn read(reader: &mut Reader<'_>, data_dir: Option<&Path>) -> Option<BlobPlace> {
    if !reader.all_or_none(&ALL)? {
        return Some(BlobPlace::Folder(data_dir?.join(FOLDER)));
    }
    let mut text = |setting| reader.required(setting, trimmed);
    let (endpoint, region, bucket) = (text(&ENDPOINT), text(&REGION), text(&BUCKET));
    let (access_key_id, secret) = (text(&ACCESS_KEY_ID), text(&SECRET_ACCESS_KEY));
    let settings = S3Settings {
        endpoint: endpoint?,
        region: region?,
        bucket: bucket?,
        access_key_id: access_key_id?,
        secret_access_key: Secret::new(secret?),
    };
    if settings.shows_data() {
        reader.warn(
            "s3.endpoint is plain http on another host: transcripts and reports go over the \
             network in the clear; use https://"
                .to_owned(),
        );
    }
    Some(BlobPlace::S3(settings))
}

fn trimmed(text: &str) -> Result<String, Reason> {
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::testing::input;
    use crate::config::{Loaded, load, print::print};

    const FIVE: [(&str, &str); 5] = [
        ("S3_ENDPOINT", "http://127.0.0.1:9000"),
        ("S3_REGION", "eu-central-1"),
        ("S3_BUCKET", "mainstay"),
        ("S3_ACCESS_KEY_ID", "key"),
        ("S3_SECRET_ACCESS_KEY", "hunter2"),
    ];

    fn loaded(variables: &[(&str, &str)]) -> Result<Loaded, String> {
        load(input(vec![], variables, "")).map_err(|error| error.to_string())
    }

    #[test]
    fn with_nothing_named_things_are_stored_below_the_data_folder() {
        let place = loaded(&[("MAINSTAY_DATA_DIR", "/srv/m")]).unwrap().config.blobs;
        assert_eq!(place, BlobPlace::Folder("/srv/m/blobs".into()));
    }

    #[test]
    fn all_five_name_a_storage_and_the_secret_is_hidden() {
        let loaded = loaded(&FIVE).unwrap();
        let BlobPlace::S3(settings) = &loaded.config.blobs else { panic!("no storage") };
        assert_eq!(settings.secret_access_key.expose(), "hunter2");
        assert_eq!(settings.bucket, "mainstay");
        let shown = format!("{:?} {}", loaded.config, print(&loaded.layers));
        assert!(!shown.contains("hunter2"), "{shown}");
        assert_eq!(loaded.warnings, Vec::<String>::new());
    }

    #[test]
    fn each_that_is_missing_is_named() {
        for left_out in 0..FIVE.len() {
            let mut some = FIVE.to_vec();
            let (name, _) = some.remove(left_out);
            let told = loaded(&some).unwrap_err();
            assert!(
                told.contains(&format!("but {name} is not; set all of them or none")),
                "{told}"
            );
        }
        let told = loaded(&FIVE[4..]).unwrap_err();
        let missing = "S3_ENDPOINT, S3_REGION, S3_BUCKET, S3_ACCESS_KEY_ID";
        assert!(told.contains(&format!("S3_SECRET_ACCESS_KEY is set but {missing} ")), "{told}");
        assert!(!told.contains("hunter2"), "{told}");
    }

    #[test]
    fn data_in_the_clear_is_warned_about() {
        let mut plain = FIVE.to_vec();
        plain[0].1 = "http://storage.example";
        assert!(loaded(&plain).unwrap().warnings[0].contains("s3.endpoint is plain http"));
    }
}
