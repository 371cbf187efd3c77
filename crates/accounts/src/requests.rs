//! Requests for access, with everything that keeps machines from asking.
//!
//! The order is fixed: e-mail shape → honeypot → time gate → counts per address and e-mail →
//! duplicate → row. Whoever is dropped gets the answer of whoever is taken.

use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mainstay_base::{BoundedText, Id, Timestamp};
use mainstay_store::{StoreError, Tx};
use serde_json::json;

use crate::accounts::Accounts;
use crate::decide::{DUPLICATE_TIME, FormAge, counted_address, form_age, span_rest, span_start};
use crate::email::Email;
use crate::error::AccountsError;
use crate::model::{By, Caller, PageAsk, Part, RequestStatus, Role, Source};
use crate::outcome::{
    Ending, REQUEST_CREATED, REQUEST_DUPLICATE, REQUEST_FORM, REQUEST_HONEYPOT,
    REQUEST_INVALID_EMAIL, REQUEST_LIMITED_ADDRESS, REQUEST_LIMITED_EMAIL, REQUEST_TIME_GATE,
};
use crate::record::access_requests::{self, AccessRequest};
use crate::record::buckets::{self, Bucket};
use crate::text::{lines, plain};

/// Characters of a name or a company.
pub const MAX_NAME: usize = 100;
/// Characters of a note.
pub const MAX_NOTE: usize = 2000;
/// The span in which requests are counted.
pub(crate) const REQUEST_SPAN: Duration = Duration::from_hours(1);
/// Requests from one address in it.
pub const REQUESTS_PER_ADDRESS: i64 = 10;
/// Requests for one e-mail address in it.
pub const REQUESTS_PER_EMAIL: i64 = 3;

/// Every so manieth request cleans up.
const CLEAN_EVERY: u64 = 100;
/// The longest text of a signed timestamp.
const MAX_STAMP: usize = 100;

const FORM_DOMAIN: &str = "access-form";
const ADDRESS_SCOPE: &str = "access_request_ip";
const EMAIL_SCOPE: &str = "access_request_email";
const FORM_SCOPE: &str = "access_request_form";

/// A filled-in form.
#[derive(Debug, Clone, Default)]
pub struct FilledForm {
    /// Who asks.
    pub email: String,
    /// Their name.
    pub name: Option<String>,
    /// Their company.
    pub company: Option<String>,
    /// What they write.
    pub note: Option<String>,
    /// The honeypot: people do not see it.
    pub website: Option<String>,
    /// The signed time at which the form was loaded.
    pub client_ts: String,
}

/// A form that passed everything which needs no database.
struct Checked {
    email: Email,
    name: Option<BoundedText<MAX_NAME>>,
    company: Option<BoundedText<MAX_NAME>>,
    note: Option<BoundedText<MAX_NOTE>>,
    loaded_at: Timestamp,
    stamp: String,
}

/// What a look at the form says.
enum Look {
    Fine(Box<Checked>),
    Dropped(Ending),
}

/// What rolled a request back.
enum Untaken {
    Request(AccountsError),
    Notice(AccountsError),
}

impl From<StoreError> for Untaken {
    fn from(error: StoreError) -> Self {
        Self::Request(error.into())
    }
}

impl Accounts {
    /// The time now, signed: a form carries it back.
    #[must_use]
    pub fn form_stamp(&self) -> String {
        let millis = self.now().as_millis().to_string();
        let tag = self.shared.pepper.keyed(FORM_DOMAIN, millis.as_bytes());
        format!("{millis}.{tag}")
    }

    /// Takes a request for access, or drops it without a word.
    ///
    /// # Errors
    /// [`AccountsError::InvalidEmail`], [`AccountsError::InvalidText`],
    /// [`AccountsError::FormExpired`], [`AccountsError::RateLimited`], or the database's.
    pub async fn request_access(
        &self,
        form: FilledForm,
        source: Source,
    ) -> Result<(), AccountsError> {
        self.clean_now_and_then().await;
        let checked = match self.look_at(&form)? {
            Look::Fine(checked) => checked,
            Look::Dropped(ending) => {
                ending.tell(None);
                return Ok(());
            }
        };
        let (id, from) = (self.next_id(), source.address);
        let ending = match self.is_limited(&checked.email, &source).await? {
            Some(ending) => ending,
            None => self.take_and_tell(id, &checked, &source).await?,
        };
        ending.tell_from((ending == REQUEST_CREATED).then_some(&id as _), from);
        match ending {
            REQUEST_LIMITED_ADDRESS | REQUEST_LIMITED_EMAIL => {
                Err(AccountsError::RateLimited { retry_after: span_rest(self.now(), REQUEST_SPAN) })
            }
            _ => Ok(()),
        }
    }

    fn look_at(&self, form: &FilledForm) -> Result<Look, AccountsError> {
        let email: Email = form.email.parse().inspect_err(|_| REQUEST_INVALID_EMAIL.tell(None))?;
        if form.website.as_ref().is_some_and(|website| !website.is_empty()) {
            return Ok(Look::Dropped(REQUEST_HONEYPOT));
        }
        let loaded_at = self.read_stamp(&form.client_ts);
        match loaded_at.map(|loaded_at| (loaded_at, form_age(loaded_at, self.now()))) {
            None | Some((_, FormAge::TooOld)) => {
                REQUEST_FORM.tell(None);
                Err(AccountsError::FormExpired)
            }
            Some((_, FormAge::TooYoung)) => Ok(Look::Dropped(REQUEST_TIME_GATE)),
            Some((loaded_at, FormAge::Fine)) => {
                Ok(Look::Fine(Box::new(checked(form, email, loaded_at)?)))
            }
        }
    }

    /// Whether the counts are full already: then a request costs no write.
    async fn is_limited(
        &self,
        email: &Email,
        source: &Source,
    ) -> Result<Option<Ending>, AccountsError> {
        let start = span_start(self.now(), REQUEST_SPAN);
        if let Some(subject) = source.address.map(|address| self.address_subject(address)) {
            let bucket = Bucket { scope: ADDRESS_SCOPE, subject_hash: &subject, start };
            if buckets::count(self.db(), bucket).await? >= REQUESTS_PER_ADDRESS {
                return Ok(Some(REQUEST_LIMITED_ADDRESS));
            }
        }
        let subject = self.email_subject(email);
        let bucket = Bucket { scope: EMAIL_SCOPE, subject_hash: &subject, start };
        let is_full = buckets::count(self.db(), bucket).await? >= REQUESTS_PER_EMAIL;
        Ok(is_full.then_some(REQUEST_LIMITED_EMAIL))
    }

    fn read_stamp(&self, text: &str) -> Option<Timestamp> {
        let (millis, tag) = text.split_once('.').filter(|_| text.len() <= MAX_STAMP)?;
        let is_ours = self.shared.pepper.is_keyed(FORM_DOMAIN, millis.as_bytes(), tag);
        let millis = millis.parse().ok().filter(|_| is_ours)?;
        Some(Timestamp::from_millis(millis))
    }

    /// Takes the request and tells the admins in one transaction; if they can't be told, it is taken
    /// all the same: that is not its sender's concern.
    async fn take_and_tell(
        &self,
        id: Id,
        form: &Checked,
        source: &Source,
    ) -> Result<Ending, AccountsError> {
        let taken = async |tx: &mut Tx| {
            let ending = self.take_request(tx, id, form, source).await.map_err(Untaken::Request)?;
            if ending == REQUEST_CREATED {
                self.tell_admins(tx, &form.email).await.map_err(Untaken::Notice)?;
            }
            Ok(ending)
        };
        match self.db().write(taken).await {
            Ok(ending) => Ok(ending),
            Err(Untaken::Request(error)) => Err(error),
            Err(Untaken::Notice(error)) => {
                tracing::warn!(%error, "the admins are not told of a request");
                self.db().write(async |tx| self.take_request(tx, id, form, source).await).await
            }
        }
    }

    async fn take_request(
        &self,
        tx: &mut Tx,
        id: Id,
        form: &Checked,
        source: &Source,
    ) -> Result<Ending, AccountsError> {
        let (pepper, now) = (&self.shared.pepper, self.now());
        let start = span_start(now, REQUEST_SPAN);
        let email = form.email.as_str();
        if let Some(subject) = source.address.map(|address| self.address_subject(address)) {
            let bucket = Bucket { scope: ADDRESS_SCOPE, subject_hash: &subject, start };
            if buckets::add(tx, bucket).await? > REQUESTS_PER_ADDRESS {
                return Ok(REQUEST_LIMITED_ADDRESS);
            }
        }
        let subject = self.email_subject(&form.email);
        let bucket = Bucket { scope: EMAIL_SCOPE, subject_hash: &subject, start };
        if buckets::add(tx, bucket).await? > REQUESTS_PER_EMAIL {
            return Ok(REQUEST_LIMITED_EMAIL);
        }
        let since = Timestamp::from_millis(
            now.as_millis().saturating_sub(DUPLICATE_TIME.as_millis().try_into().unwrap_or(0)),
        );
        if access_requests::has_recent(tx, email, since).await? {
            return Ok(REQUEST_DUPLICATE);
        }
        // A form makes one row: whoever collects stamps needs one for each.
        let subject = pepper.keyed("access-form-used", form.stamp.as_bytes());
        let bucket = Bucket { scope: FORM_SCOPE, subject_hash: &subject, start: form.loaded_at };
        if buckets::add(tx, bucket).await? > 1 {
            return Ok(REQUEST_TIME_GATE);
        }
        self.write_request(tx, id, form, source).await?;
        Ok(REQUEST_CREATED)
    }

    async fn write_request(
        &self,
        tx: &mut Tx,
        id: Id,
        form: &Checked,
        source: &Source,
    ) -> Result<(), AccountsError> {
        let request = AccessRequest {
            id,
            email: form.email.to_string(),
            name: form.name.as_ref().map(ToString::to_string),
            company: form.company.as_ref().map(ToString::to_string),
            note: form.note.as_ref().map(ToString::to_string),
            status: RequestStatus::New,
            created_at: self.now(),
            handled_by: None,
            handled_at: None,
        };
        access_requests::insert(tx, &request).await?;
        let by = By::public(source.clone());
        let detail = json!({"email": request.email});
        self.audit(tx, &by, "access_request.create", ("access_request", Some(id)), detail).await
    }

    fn address_subject(&self, address: IpAddr) -> String {
        self.shared.pepper.keyed("access-address", counted_address(address).as_bytes())
    }

    fn email_subject(&self, email: &Email) -> String {
        self.shared.pepper.keyed("access-email", email.as_str().as_bytes())
    }

    async fn clean_now_and_then(&self) {
        let asked = self.shared.asked.fetch_add(1, Ordering::Relaxed) + 1;
        if asked.is_multiple_of(CLEAN_EVERY) {
            self.clean_buckets().await;
        }
    }

    /// The requests, newest first.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn access_requests(
        &self,
        status: Option<RequestStatus>,
        ask: PageAsk,
    ) -> Result<Part<AccessRequest>, AccountsError> {
        access_requests::list(self.db(), status, ask).await
    }

    /// Says where a request stands.
    ///
    /// # Errors
    /// [`AccountsError::NotFound`], or the database's.
    pub async fn handle_request(
        &self,
        admin: &Caller,
        id: Id,
        status: RequestStatus,
        source: Source,
    ) -> Result<AccessRequest, AccountsError> {
        self.change_as(admin, Role::Admin, async |tx| {
            let before = access_requests::find(tx, id).await?.ok_or(AccountsError::NotFound)?;
            access_requests::handle(tx, id, status, admin.user.id, self.now()).await?;
            let by = By::caller(admin.clone(), source);
            let detail = json!({"status": {"from": before.status, "to": status}});
            let target = ("access_request", Some(id));
            self.audit(tx, &by, "access_request.handle", target, detail).await?;
            access_requests::find(tx, id).await?.ok_or(AccountsError::NotFound)
        })
        .await
    }
}

/// What is left to look at once it is clear that a person sent it.
fn checked(
    form: &FilledForm,
    email: Email,
    loaded_at: Timestamp,
) -> Result<Checked, AccountsError> {
    let some = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    Ok(Checked {
        email,
        name: some(&form.name).map(|text| plain("name", &text)).transpose()?,
        company: some(&form.company).map(|text| plain("company", &text)).transpose()?,
        note: some(&form.note).map(|text| lines("note", &text)).transpose()?,
        loaded_at,
        stamp: form.client_ts.clone(),
    })
}
