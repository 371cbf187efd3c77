//! What is the processes' own: sessions, adoption, and an end by descriptor.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mainstay_fleet::agents::card::ProcessId;
use mainstay_fleet::agents::{AgentCard, AgentKey};
use mainstay_fleet::providers::{
    Departure, Machine, MachineState, Processes, Provider as _, ProviderError,
};
use tempfile::TempDir;

use crate::{agents, order, process_settings, processes};

fn house(manner: &str) -> (TempDir, Processes) {
    let folder = tempfile::tempdir().unwrap();
    let provider = processes(process_settings(folder.path(), manner));
    (folder, provider)
}

fn home(folder: &Path, machine: &Machine) -> PathBuf {
    folder.join("agents").join(machine.name.as_str())
}

fn card(folder: &Path, machine: &Machine) -> AgentCard {
    AgentCard::read(&home(folder, machine)).unwrap()
}

#[tokio::test]
async fn an_agent_outlives_the_server_and_is_taken_over_by_the_next() {
    let (folder, first) = house("");
    let machine = first.create(&order(1)).await.unwrap();
    drop(first);
    let next = processes(process_settings(folder.path(), ""));
    let seen = next.look(&machine).await.unwrap();
    assert_eq!((seen.state, &seen.machine), (MachineState::Running, &machine));
    // One whose order was not written down yet is found too.
    assert_eq!(next.create(&order(1)).await.unwrap(), machine);
    next.destroy(&machine).await.unwrap();
}

#[tokio::test]
async fn a_start_that_nobody_lived_to_write_down_is_found_again() {
    let (folder, first) = house("");
    let machine = first.create(&order(1)).await.unwrap();
    first.stop(&machine).await.unwrap();
    let started = first.start(&machine).await.unwrap();
    drop(first);
    // Who goes on knows only the run of before.
    let next = processes(process_settings(folder.path(), ""));
    assert_eq!(
        next.start(&machine).await,
        Ok(started.clone()),
        "no second one, and the first is kept"
    );
    assert!(card(folder.path(), &started).process.is_alive());
    next.destroy(&started).await.unwrap();
}

#[tokio::test]
async fn a_start_that_was_cut_off_in_the_middle_goes_on_with_the_process_that_it_began() {
    let (folder, first) = house("");
    let machine = first.create(&order(1)).await.unwrap();
    first.stop(&machine).await.unwrap();
    drop(first);
    let cut_off = processes(process_settings(folder.path(), "late"));
    let home = home(folder.path(), &machine);
    let is_there = async {
        while !home.join("pid").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        started = cut_off.start(&machine) => panic!("it has not said where it is: {started:?}"),
        () = is_there => {}
    }
    drop(cut_off);
    let next = processes(process_settings(folder.path(), ""));
    let early = next.start(&machine).await.unwrap_err();
    assert!(early.is_retriable(), "{early}");
    std::fs::write(home.join("go"), []).unwrap();
    let started = loop {
        match next.start(&machine).await {
            Err(error) if error.is_retriable() => {}
            other => break other.unwrap(),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    let pid = std::fs::read_to_string(home.join("pid")).unwrap();
    assert_eq!(card(folder.path(), &started).process.pid.to_string(), pid);
    assert_eq!(next.look(&started).await.unwrap().state, MachineState::Running);
    next.destroy(&started).await.unwrap();
}

#[tokio::test]
async fn one_that_was_started_under_other_rules_is_not_started_again_but_replaced() {
    let (folder, first) = house("");
    let machine = first.create(&order(1)).await.unwrap();
    let former = card(folder.path(), &machine);
    let mut settings = process_settings(folder.path(), "");
    settings.arguments = vec!["--allow".to_owned(), "10.0.0.0/8".to_owned()];
    let next = processes(settings);
    let again = next.create(&order(1)).await.unwrap();
    let now = card(folder.path(), &again);
    assert!(!former.process.is_alive() && now.process.is_alive());
    assert_eq!(now.policy.as_deref(), next.policy());
    assert_ne!(now.policy, former.policy);
    next.destroy(&again).await.unwrap();
}

#[tokio::test]
async fn one_that_does_not_know_our_token_is_not_taken_over() {
    let (folder, first) = house("");
    let machine = first.create(&order(1)).await.unwrap();
    let other = AgentKey::new([8_u8; 32]);
    let settings = process_settings(folder.path(), "");
    let stranger = Processes::new(settings, other, std::sync::Arc::new(agents()));
    // It is there, and was started under another pepper: neither ours to use, nor gone.
    let error = stranger.look(&machine).await.unwrap_err();
    assert!(matches!(&error, ProviderError::Unreachable(why) if why.contains("refuses our token")));
    first.destroy(&machine).await.unwrap();
}

#[tokio::test]
async fn one_of_another_boot_id_is_not_taken_over() {
    let (folder, first) = house("");
    let machine = first.create(&order(1)).await.unwrap();
    let real = card(folder.path(), &machine);
    let forged = AgentCard { boot_id: order(5).worker, ..real.clone() };
    forged.write(&home(folder.path(), &machine)).unwrap();
    let run = format!("{}-{}-{}", forged.process.pid, forged.process.started, forged.boot_id);
    let next = processes(process_settings(folder.path(), ""));
    let forged = Machine { run: Some(run), ..machine.clone() };
    let gone = next.look(&forged).await.unwrap_err();
    assert!(matches!(gone, ProviderError::Gone(_)), "{gone}");
    real.write(&home(folder.path(), &machine)).unwrap();
    first.destroy(&machine).await.unwrap();
}

#[tokio::test]
async fn a_number_that_was_given_out_again_is_neither_ours_nor_killed() {
    let (folder, provider) = house("");
    let machine = provider.create(&order(1)).await.unwrap();
    let real = card(folder.path(), &machine);
    provider.stop(&machine).await.unwrap();
    let mut bystander = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let pid = i32::try_from(bystander.id()).unwrap();
    let process = ProcessId { pid, ..real.process.clone() };
    AgentCard { process, ..real }.write(&home(folder.path(), &machine)).unwrap();
    assert_eq!(provider.destroy(&machine).await, Ok(Departure::Gone));
    assert!(bystander.try_wait().unwrap().is_none(), "somebody else's process was killed");
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[tokio::test]
async fn it_lives_in_a_session_of_its_own_with_nothing_of_our_environment() {
    let (folder, provider) = house("");
    let machine = provider.create(&order(1)).await.unwrap();
    let pid = card(folder.path(), &machine).process.pid;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let session = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(3).unwrap();
    assert_eq!(session, pid.to_string());
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    assert_eq!(String::from_utf8_lossy(&environment), "AGENT_MANNER=\0");
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let home = home(folder.path(), &machine);
    let token = std::fs::read_to_string(home.join("token")).unwrap();
    assert!(!String::from_utf8_lossy(&command).contains(&token));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&home), mode(&home.join("token"))), (0o700, 0o600));
    assert_eq!(mode(&home.join("agent.log")), 0o600);
    provider.destroy(&machine).await.unwrap();
    assert!(!home.exists());
}

#[tokio::test]
async fn a_folder_that_is_named_from_here_is_found_from_there() {
    let folder = tempfile::tempdir().unwrap();
    let up: PathBuf = std::env::current_dir().unwrap().components().skip(1).map(|_| "..").collect();
    let relative = up.join(folder.path().strip_prefix("/").unwrap());
    let provider = processes(process_settings(&relative, ""));
    let machine = provider.create(&order(1)).await.unwrap();
    assert!(home(folder.path(), &machine).join("agent.json").exists());
    provider.destroy(&machine).await.unwrap();
}

#[tokio::test]
async fn one_that_does_not_listen_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = process_settings(folder.path(), "deaf");
    settings.stop_limit = Duration::from_millis(200);
    let provider = processes(settings);
    let machine = provider.create(&order(1)).await.unwrap();
    let process = card(folder.path(), &machine).process;
    provider.stop(&machine).await.unwrap();
    assert!(!process.is_alive());
    assert_eq!(provider.look(&machine).await.unwrap().state, MachineState::Stopped);
    provider.destroy(&machine).await.unwrap();
}

#[tokio::test]
async fn one_that_never_says_where_it_is_is_no_agent_and_is_not_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = process_settings(folder.path(), "mute");
    settings.start_limit = Duration::from_millis(400);
    let provider = processes(settings);
    let error = provider.create(&order(1)).await.unwrap_err();
    assert!(matches!(error, ProviderError::Unreachable(_)), "{error}");
    let provider = processes(process_settings(folder.path(), ""));
    // The lock is free once it is gone.
    let mut tries = 0;
    let machine = loop {
        match provider.create(&order(1)).await {
            Ok(machine) => break machine,
            Err(error) if tries > 100 => panic!("{error}"),
            Err(_) => tries += 1,
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    provider.destroy(&machine).await.unwrap();
}

#[tokio::test]
async fn why_there_is_no_agent_is_told() {
    let (_folder, provider) = house("fails");
    let error = provider.create(&order(1)).await.unwrap_err();
    assert!(
        matches!(&error, ProviderError::Invalid(text) if text.contains("told to fail")),
        "{error}"
    );
    let folder = tempfile::tempdir().unwrap();
    let mut settings = process_settings(folder.path(), "");
    settings.program = folder.path().join("no-such-program");
    let error = processes(settings).create(&order(1)).await.unwrap_err();
    assert!(
        matches!(&error, ProviderError::Invalid(text) if text.contains("no-such-program")),
        "{error}"
    );
}

/// The guide and the spec say so: who is not asked for as long ends by itself.
#[test]
fn an_agent_that_nobody_asks_ends_after_10_minutes() {
    let settings =
        mainstay_fleet::providers::ProcessSettings::new("mainstay".into(), "agents".into());
    assert_eq!(settings.idle_exit, Duration::from_mins(10));
}
