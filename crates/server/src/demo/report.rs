//! A report of the demo's own incident: the call about it, with its time, and a stand-in for the model that
//! writes the report.

use anyhow::Context as _;
use bytes::Bytes;
use mainstay_accounts::PageAsk;
use mainstay_base::Timestamp;
use mainstay_http::{SettingSource, SettingView};
use mainstay_reports::llm::{OpenAiSettings, fake};
use mainstay_reports::{FileName, Window};
use mainstay_standins::Call;
use mainstay_standins::llm::{Behaviour, LlmServer};

use crate::config::{Config, LlmConfig};
use crate::rooms::Rooms;

/// What readers of a report are told who wrote it.
const MODEL: &str = "the demo's stand-in for a language model";

/// Stands in for the provider of a model, on loopback and by its real protocol: it knows what a good one
/// writes of the demo's own call. Of any other it makes a report without a model.
pub(super) async fn stand_in(call: Option<Call>) -> anyhow::Result<LlmServer> {
    let author = move |question: &str| match &call {
        Some(call) if call.is_asked_about(question) => call.report(),
        _ => fake::report(question),
    };
    let started = LlmServer::start([Behaviour::Good], author).await;
    started.context("the stand-in for a language model finds no free port on 127.0.0.1")
}

/// The same configuration, with reports by the stand-in.
pub(super) fn written_by(config: &Config, model: &LlmServer) -> anyhow::Result<Config> {
    let base_url = model.base_url();
    let settings = OpenAiSettings::new(base_url.parse()?, MODEL, None);
    let shown = config.shown.iter().map(|setting| shown(setting, &base_url)).collect();
    Ok(Config { llm: LlmConfig::OpenAi(settings), shown, ..config.clone() })
}

/// A setting as it is told: who writes reports is known only when the stand-in has its port.
fn shown(setting: &SettingView, base_url: &str) -> SettingView {
    let value = match setting.key {
        "llm.provider" => "openai",
        "llm.model" => MODEL,
        "llm.base_url" => base_url,
        _ => return setting.clone(),
    };
    SettingView {
        value: Some(format!("{value:?}")),
        source: SettingSource::Flag,
        source_name: Some("mainstay demo".to_owned()),
        ..setting.clone()
    }
}

/// Uploads the transcript for the only account there is; the runner has the report made of it.
pub(super) async fn upload(rooms: &Rooms, call: &Call, now: Timestamp) -> anyhow::Result<()> {
    let people = rooms.accounts.users(PageAsk { after: None, limit: 1 }).await?;
    let Some(user) = people.items.first() else { return Ok(()) };
    let (from, to) = call.span();
    let mut upload = rooms.reports.upload(user.id, FileName::parse(&call.file_name())?)?;
    upload.write(Bytes::from(call.transcript())).await?;
    let window = Window::new(from, to, now)?;
    upload.finish(Some(window), Box::new(|_| Box::pin(async { Ok(()) }))).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::testing::input;
    use crate::config::{llm, load};
    use mainstay_reports::prompt::Prompt;
    use mainstay_reports::schema;
    use mainstay_reports::transcript::{Transcript, TranscriptForm};
    use mainstay_standins::Story;

    #[tokio::test]
    async fn the_settings_tell_that_the_stand_in_is_asked() {
        let model = stand_in(None).await.unwrap();
        let config = load(input(vec![(&llm::PROVIDER, "fake".to_owned())], &[], ""));
        let config = config.map_err(|error| error.to_string()).unwrap().config;
        let config = written_by(&config, &model).unwrap();
        let told = |key: &str| {
            let found = config.shown.iter().find(|setting| setting.key == key).unwrap();
            (found.value.clone().unwrap_or_default(), found.source_name.clone())
        };
        let by = Some("mainstay demo".to_owned());
        assert_eq!(told("llm.provider"), (r#""openai""#.to_owned(), by.clone()));
        assert_eq!(told("llm.model"), (format!("{MODEL:?}"), by.clone()));
        assert_eq!(told("llm.base_url"), (format!("{:?}", model.base_url()), by));
        assert_eq!(told("llm.timeout_ms").0, "180000");
    }

    #[test]
    fn the_call_of_every_story_is_known_by_its_prompt_and_makes_a_report_that_fits() {
        let now = Timestamp::from_millis(1_794_776_400_000);
        for seed in 0..50 {
            let call = Call::about(Story { seed }, now).unwrap();
            let (from, to) = call.span();
            assert!(Window::new(from, to, now).is_ok(), "{seed}");
            assert_eq!(schema::validate(&call.report()), Ok(()), "{seed}");
            let text = call.transcript();
            let transcript = Transcript::parse(text.as_bytes(), TranscriptForm::WebVtt).unwrap();
            assert!(call.is_asked_about(&Prompt::new(&transcript, None).user), "{seed}");
        }
    }
}
