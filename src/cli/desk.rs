//! `countersign desk`: the engine's tables, who may use them, and how the engine stands.

mod evidence;
mod status;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::audit::Trust;
use crate::ballot::people::People;
use crate::config::Config;
use crate::desk::engine::{
    Address, Duty, Engine, EngineError, Login, Member, latest, read_password, script,
};
use crate::desk::roles;
use crate::error::Failure;
use crate::model::{Person, Role, visible};

pub(super) use evidence::{checkpoint, hosts};

use super::out::{print, print_data};
use super::{Globals, amounts};

/// Seconds for one of these commands: migrations take longer than a vote.
const ADMIN_S: u64 = 60;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub server: Server,
}

/// Which server, and as whom.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Server {
    /// postgresql://USER@HOST/DATABASE instead of `desk.url`; for all but `status` the database's owner
    #[arg(long, global = true, value_name = "URL")]
    url: Option<String>,
    /// A file with the password of the user in --url
    #[arg(long, global = true, value_name = "FILE", requires = "url")]
    password_file: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Make the roles, the schema and its tables in a database of their own, as its owner
    Init {
        /// Print the SQL instead, and connect to nothing
        #[arg(long)]
        print: bool,
    },
    /// Bring the tables up to date, as the database's owner
    Migrate,
    /// Whether the engine can be reached, how, and which hosts are silent
    Status,
    /// Who logs in as what, as the database's owner
    Member {
        #[command(subcommand)]
        command: MemberCommand,
    },
    /// Remove what belongs to proposals whose deadline is long past, as the database's owner
    Prune {
        /// How many days past: 30, 30d, 4w
        #[arg(long, value_name = "DAYS", value_parser = amounts::days)]
        days: u64,
    },
}

#[derive(Debug, clap::Subcommand)]
pub enum MemberCommand {
    /// Let a login of the database do one thing; makes the login if there is none
    Add(AddArgs),
    /// Take a login out of the desk; the login itself stays
    Remove { login: Login },
    /// Who is a member, and what each may do
    List {
        /// Compare roles and logins with a host's people.toml
        #[arg(long, value_name = "FILE")]
        people: Option<PathBuf>,
    },
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("duty").required(true))]
pub struct AddArgs {
    /// The login's name
    login: Login,
    /// It offers the proposals of the host of this name
    #[arg(long, group = "duty", value_name = "NAME", value_parser = host)]
    host: Option<String>,
    /// It votes as this person, a name of `allowed_signers`
    #[arg(long, group = "duty", value_name = "PERSON")]
    person: Option<Person>,
    /// What this person is asked about, separated by commas
    #[arg(long, requires = "person", value_delimiter = ',', value_name = "ROLES")]
    roles: Vec<Role>,
    /// It asks for agents elsewhere
    #[arg(long, group = "duty")]
    gateway: bool,
    /// It reads everything
    #[arg(long, group = "duty")]
    auditor: bool,
}

fn host(name: &str) -> Result<String, String> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    match (1..=64).contains(&name.len()) && name.bytes().all(fits) {
        true => Ok(name.to_owned()),
        false => Err("a host's name is 1 to 64 of A-Z a-z 0-9 . _ -".to_owned()),
    }
}

/// Runs the command and returns the exit code.
pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    if let Command::Init { print: true } = args.command {
        print_data(script().as_bytes())?;
        return Ok(0);
    }
    let config = globals.load()?;
    let engine = args.server.engine(&config)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::general(format!("no runtime can be started: {e}")))?;
    runtime.block_on(async {
        match &args.command {
            Command::Status => status::run(&engine, &config).await,
            Command::Init { .. } => applied(engine.init().await),
            Command::Migrate => applied(engine.migrate().await),
            Command::Member { command } => member(&engine, command).await,
            Command::Prune { days } => prune(&engine, *days).await,
        }
    })
}

impl Server {
    pub(super) fn engine(&self, config: &Config) -> Result<Engine, Failure> {
        let usage = |key: &str, why: String| {
            let fault = config.fault(&[format!("desk.{key}")], format!("`desk.{key}`: {why}"));
            Failure::usage(fault.to_string())
        };
        let desk = config.desk.as_ref();
        let (url, given) = match (&self.url, desk.and_then(|desk| desk.url.as_ref())) {
            (Some(url), _) => (url, true),
            (None, Some(url)) => (url, false),
            (None, None) => {
                return Err(Failure::usage(
                    "no engine is configured: set `desk.url` to where PostgreSQL is, such as \
                     postgresql://host_lab1@db.example.org/desk, or give it by --url",
                ));
            }
        };
        let fault = |key: &'static str, flag: &'static str| {
            move |why: String| match given {
                true => Failure::usage(format!("{flag}: {why}")),
                false => usage(key, why),
            }
        };
        let file = match given {
            true => self.password_file.as_ref(),
            false => desk.and_then(|desk| desk.password_file.as_ref()),
        };
        let password = file.map(|path| read_password(path)).transpose();
        let password = password.map_err(fault("password_file", "--password-file"))?;
        let address = Address::parse(url, password.as_deref()).map_err(fault("url", "--url"))?;
        let ca = desk.and_then(|desk| desk.ca.as_deref());
        let trust = match address.is_tls() {
            true => Trust::here(ca).map_err(|why| usage("ca", why))?,
            false => Trust::default(),
        };
        let limit = Duration::from_secs(ADMIN_S);
        Engine::new(address, &trust, limit).map_err(Failure::general)
    }
}

fn failed(e: &EngineError) -> Failure {
    Failure::general(e.to_string())
}

fn applied(done: Result<Vec<u32>, EngineError>) -> Result<u8, Failure> {
    let done = done.map_err(|e| failed(&e))?;
    let latest = latest();
    print(|out| match done.as_slice() {
        [] => writeln!(out, "already at migration {latest}"),
        _ => writeln!(out, "the desk is at migration {latest}"),
    })?;
    Ok(0)
}

async fn member(engine: &Engine, command: &MemberCommand) -> Result<u8, Failure> {
    match command {
        MemberCommand::Remove { login } => {
            engine.remove_member(login).await.map_err(|e| failed(&e))?;
            let login = login.as_str();
            print(|out| {
                writeln!(
                    out,
                    "{login} is no member any more; what it wrote stays. Its login stays too: DROP ROLE \"{login}\""
                )
            })?;
        }
        MemberCommand::List { people } => {
            let people = people.as_deref().map(people_of).transpose()?;
            let members = engine.members().await.map_err(|e| failed(&e))?;
            let differs = people.map(|people| roles::differences(&people, &members));
            print(|out| {
                for Member { login, duty } in &members {
                    let login = visible(login.as_str());
                    writeln!(out, "{login:<24} {:<8} {duty}", duty.kind())?;
                }
                for sentence in differs.iter().flatten() {
                    writeln!(out, "DIFFERS     {}", visible(sentence))?;
                }
                Ok(())
            })?;
            return Ok(u8::from(differs.is_some_and(|differs| !differs.is_empty())));
        }
        MemberCommand::Add(args) => {
            let duty = match (&args.host, &args.person, args.gateway) {
                (Some(host), ..) => Duty::Host(host.clone()),
                (_, Some(person), _) => {
                    let roles: BTreeSet<Role> = args.roles.iter().cloned().collect();
                    Duty::Reviewer(person.clone(), roles)
                }
                (.., true) => Duty::Gateway,
                _ => Duty::Auditor,
            };
            let member = Member {
                login: args.login.clone(),
                duty,
            };
            let made = engine.add_member(&member).await.map_err(|e| failed(&e))?;
            let login = args.login.as_str();
            print(|out| {
                writeln!(
                    out,
                    "{login} is {}'s login: it {}",
                    member.duty.whose(),
                    member.duty
                )?;
                match made {
                    true => writeln!(
                        out,
                        "it was made and has no password yet: \\password {login} in psql gives it one"
                    ),
                    false => Ok(()),
                }
            })?;
        }
    }
    Ok(0)
}

/// A host's people.toml, as somebody hands it over: it decides nothing here.
fn people_of(path: &Path) -> Result<People, Failure> {
    let usage = |why: String| Failure::usage(format!("--people: {why}"));
    let bytes = std::fs::read(path).map_err(|e| usage(format!("{}: {e}", path.display())))?;
    People::read(&bytes).map_err(|e| usage(e.to_string()))
}

async fn prune(engine: &Engine, days: u64) -> Result<u8, Failure> {
    let days = u32::try_from(days).ok().filter(|days| *days <= 36_500);
    let days = days.ok_or_else(|| Failure::usage("--days is 0 to 36500"))?;
    let gone = engine.prune(days).await.map_err(|e| failed(&e))?;
    print(|out| {
        writeln!(
            out,
            "removed: {} offers, {} votes, {} claims, {} statements, {} requests",
            gone.offers, gone.votes, gone.claims, gone.statements, gone.requests
        )
    })?;
    Ok(0)
}
