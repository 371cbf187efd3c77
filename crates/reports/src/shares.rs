//! Links by which others read a report. The token is shown once; only its hash is kept.

use std::ops::RangeInclusive;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mainstay_base::{Id, Secret, Timestamp};
use mainstay_store::Tx;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::ReportsError;
use crate::measure::{self, ShareEnding};
use crate::model::FileStatus;
use crate::record::files;
use crate::record::shares::{self, NewShare};
use crate::reports::{Read, Reports};

/// Shares of one file that can be used at once.
pub const MAX_SHARES_PER_FILE: u32 = 20;
/// How long a share lasts unless somebody says otherwise.
pub const DEFAULT_SHARE_TIME: Duration = Duration::from_hours(7 * 24);
/// How long a share may last.
pub const SHARE_TIMES: RangeInclusive<Duration> =
    Duration::from_mins(1)..=Duration::from_hours(90 * 24);
/// Bytes of chance in a token.
const TOKEN_BYTES: usize = 32;
/// Characters of those bytes in base64url.
const TOKEN_CHARACTERS: usize = 43;

/// A link to a report, as the owner of the file sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Share {
    /// The id.
    #[schema(value_type = String)]
    pub id: Id,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Until when it leads to the report.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// When it was taken back.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub revoked_at: Option<Timestamp>,
}

/// A share that was just made.
#[derive(Debug, Clone)]
pub struct MadeShare {
    /// The share.
    pub share: Share,
    /// What leads to the report: it is shown once.
    pub token: Secret<String>,
}

impl Reports {
    /// Makes a link to the report of a file, which may still be in the making; of a failed one there is
    /// nothing to share.
    ///
    /// # Errors
    /// [`ReportsError::NotFound`], [`ReportsError::NotReady`], [`ReportsError::BadExpiry`],
    /// [`ReportsError::TooManyShares`], or when the database fails.
    pub async fn share(
        &self,
        tx: &mut Tx,
        user: Id,
        file: Id,
        lasts: Option<Duration>,
    ) -> Result<MadeShare, ReportsError> {
        let lasts = lasts.unwrap_or(DEFAULT_SHARE_TIME);
        if !SHARE_TIMES.contains(&lasts) {
            return Err(ReportsError::BadExpiry);
        }
        let found = files::find_in(tx, user, file).await?.ok_or(ReportsError::NotFound)?;
        if found.status == FileStatus::Failed {
            return Err(ReportsError::NotReady);
        }
        let created_at = tx.now().await?;
        let live = shares::count_live(tx, (user, file), created_at).await?;
        if live >= i64::from(MAX_SHARES_PER_FILE) {
            return Err(ReportsError::TooManyShares);
        }
        let (id, token, expires_at) =
            (self.shared.ids.next(), self.token(), created_at.plus(lasts));
        let hash = self.shared.tokens.hash(token.expose());
        let new = NewShare { id, user, file, hash: &hash, created_at, expires_at };
        shares::insert(tx, &new).await?;
        tx.after_commit(|| measure::shared(ShareEnding::Created));
        Ok(MadeShare { share: Share { id, created_at, expires_at, revoked_at: None }, token })
    }

    /// The links to the report of a file, newest first.
    ///
    /// # Errors
    /// [`ReportsError::NotFound`], or when the database fails.
    pub async fn shares(&self, user: Id, file: Id) -> Result<Vec<Share>, ReportsError> {
        self.find(user, file).await?;
        Ok(shares::list(self.db(), user, file).await?)
    }

    /// Takes a link back; one that was taken back before is fine.
    ///
    /// # Errors
    /// [`ReportsError::NotFound`], or when the database fails.
    pub async fn revoke(
        &self,
        tx: &mut Tx,
        user: Id,
        file: Id,
        share: Id,
    ) -> Result<(), ReportsError> {
        let now = tx.now().await?;
        if !shares::revoke(tx, share, (user, file), now).await? {
            return Err(ReportsError::NotFound);
        }
        tx.after_commit(|| measure::shared(ShareEnding::RevokedByOwner));
        Ok(())
    }

    /// The report that a link leads to, for whoever has it.
    ///
    /// # Errors
    /// [`ReportsError::UnknownShare`], [`ReportsError::RevokedShare`], [`ReportsError::NotReady`],
    /// [`ReportsError::Fetch`], or when the database fails.
    pub async fn read_shared(&self, token: &str) -> Result<Read, ReportsError> {
        let opened = self.open(token).await;
        let (ending, read) = match opened {
            Ok(read) => (ShareEnding::Opened, Ok(read)),
            Err(Unopened(ending, error)) => (ending, Err(error)),
        };
        measure::shared(ending);
        read
    }

    async fn open(&self, token: &str) -> Result<Read, Unopened> {
        let unknown = || Unopened(ShareEnding::Unknown, ReportsError::UnknownShare);
        if !is_token(token) {
            return Err(unknown());
        }
        let hash = self.shared.tokens.hash(token);
        let found = shares::find(self.db(), &hash).await?.ok_or_else(unknown)?;
        if found.revoked_at.is_some() {
            return Err(Unopened(ShareEnding::Revoked, ReportsError::RevokedShare));
        }
        if found.expires_at <= self.db().now().await? {
            return Err(Unopened(ShareEnding::Expired, ReportsError::UnknownShare));
        }
        match self.read(found.user, found.file).await {
            // It was deleted this very moment.
            Err(ReportsError::NotFound) => Err(unknown()),
            read => Ok(read?),
        }
    }

    fn token(&self) -> Secret<String> {
        let mut bytes = [0_u8; TOKEN_BYTES];
        self.shared.rng.fill(&mut bytes);
        Secret::new(URL_SAFE_NO_PAD.encode(bytes))
    }
}

/// Why a link leads to no report, as it is counted and as it is answered: whoever has an expired one is told no
/// more than whoever made one up.
struct Unopened(ShareEnding, ReportsError);

impl<E: Into<ReportsError>> From<E> for Unopened {
    fn from(error: E) -> Self {
        Self(ShareEnding::Unread, error.into())
    }
}

/// Whether a text has the shape of a token; nothing else is worth a look.
fn is_token(text: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    text.len() == TOKEN_CHARACTERS && text.bytes().all(is_fit)
}
