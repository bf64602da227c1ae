//! Who logs in as what.

use std::collections::BTreeSet;
use std::str::FromStr;

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::model::{Person, Role, visible};

use super::Engine;
use super::error::EngineError;
use super::page::get;
use super::schema;

/// Sessions of one login: a program has up to five, and a person several seats.
const CONNECTIONS_MAX: u32 = 32;

/// What a login may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Offers this host's proposals and reads the votes on them.
    Host(String),
    /// Reads offers for these roles and votes as this person.
    Reviewer(Person, BTreeSet<Role>),
    /// Asks for agents elsewhere.
    Gateway,
    /// Reads everything.
    Auditor,
}

impl Duty {
    /// Whose login it is, for people.
    pub const fn whose(&self) -> &'static str {
        match self {
            Self::Host(_) => "a host",
            Self::Reviewer(..) => "a reviewer",
            Self::Gateway => "a gateway",
            Self::Auditor => "an auditor",
        }
    }

    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Host(_) => "host",
            Self::Reviewer(..) => "reviewer",
            Self::Gateway => "gateway",
            Self::Auditor => "auditor",
        }
    }
}

/// What it does, for people.
impl std::fmt::Display for Duty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Host(name) => write!(f, "offers what agents ask of the host {name}"),
            Self::Reviewer(person, roles) if roles.is_empty() => {
                write!(f, "votes as {person}, who is asked what everybody is asked")
            }
            Self::Reviewer(person, roles) => {
                let roles: Vec<&str> = roles.iter().map(Role::as_str).collect();
                write!(
                    f,
                    "votes as {person}, who is asked about {}",
                    roles.join(", ")
                )
            }
            Self::Gateway => f.write_str("asks for agents elsewhere"),
            Self::Auditor => f.write_str("reads everything"),
        }
    }
}

/// A login's name: 1 to 63 of `A-Z a-z 0-9 . _ @ + -`, a letter first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login(String);

impl Login {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Login {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"._@+-".contains(&b);
        let short = name.len() <= 63 && name.bytes().all(fits);
        if !short || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let cut: String = name.chars().take(80).collect();
            return Err(format!(
                "`{}` cannot be a login here: 1 to 63 of A-Z a-z 0-9 . _ @ + -, a letter first",
                visible(&cut)
            ));
        }
        if name.starts_with("pg_") || name.starts_with("desk_") {
            return Err(format!(
                "`{name}` is a name of PostgreSQL's or of the desk's groups; take another one, as host_lab1"
            ));
        }
        Ok(Self(name.to_owned()))
    }
}

/// A login and what it may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub login: Login,
    pub duty: Duty,
}

impl Engine {
    /// Lets a login do this, and makes the login if there is none; true if it was made. It then has no password.
    pub async fn add_member(&self, member: &Member) -> Result<bool, EngineError> {
        let Member { login, duty } = member;
        let name = login.as_str();
        let kind = duty.kind();
        let mut held = self.held().await?;
        held.begin("").await?;
        let about = held
            .rows(
                "SELECT rolsuper OR rolbypassrls AS free, rolcanlogin FROM pg_roles WHERE rolname = $1",
                &[(&name, Type::TEXT)],
            )
            .await?;
        if let Some(role) = about.first() {
            if get::<bool>(role, "free")? {
                return Err(EngineError::Refused(format!(
                    "{name} is a superuser or has BYPASSRLS, so no rule of the desk would bind it: take another login"
                )));
            }
            if !get::<bool>(role, "rolcanlogin")? {
                return Err(EngineError::Refused(format!(
                    "{name} is a role that cannot log in"
                )));
            }
        } else {
            held.run(&format!("CREATE ROLE \"{name}\" LOGIN")).await?;
        }
        held.as_owner().await?;
        if held.have().await? != schema::latest() {
            return Err(EngineError::NotMigrated {
                have: held.have().await?,
                want: schema::latest(),
            });
        }
        let before = held
            .rows(
                "SELECT kind FROM desk.member WHERE login = $1",
                &[(&name, Type::TEXT)],
            )
            .await?;
        if let Some(row) = before.first() {
            let was: &str = get(row, "kind")?;
            if was != kind {
                let was = visible(was);
                return Err(EngineError::Refused(format!(
                    "{name} is a {was}'s login, and one login has one duty: take another one, or `countersign desk member remove {name}` first"
                )));
            }
        }
        let (host, person, roles) = match duty {
            Duty::Host(host) => (Some(host.as_str()), None, Vec::new()),
            Duty::Reviewer(person, roles) => {
                let roles = roles.iter().map(Role::as_str).collect();
                (None, Some(person.as_str()), roles)
            }
            Duty::Gateway | Duty::Auditor => (None, None, Vec::new()),
        };
        held.rows(
            "INSERT INTO desk.member (login, kind, host, person, roles) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (login) DO UPDATE SET host = $3, person = $4, roles = $5",
            &[
                (&name, Type::TEXT),
                (&kind, Type::TEXT),
                (&host, Type::TEXT),
                (&person, Type::TEXT),
                (&roles, Type::TEXT_ARRAY),
            ],
        )
        .await?;
        held.run("RESET ROLE").await?;
        held.run(&format!("GRANT desk_{kind} TO \"{name}\""))
            .await?;
        // Here and not in the URL: they are the server's own, and hold behind a pooler.
        for (setting, value) in [
            ("statement_timeout", "5s"),
            ("lock_timeout", "2s"),
            ("idle_in_transaction_session_timeout", "10s"),
        ] {
            held.run(&format!("ALTER ROLE \"{name}\" SET {setting} = '{value}'"))
                .await?;
        }
        // One login does not take the connections of all others.
        held.run(&format!(
            "ALTER ROLE \"{name}\" CONNECTION LIMIT {CONNECTIONS_MAX}"
        ))
        .await?;
        held.commit().await?;
        Ok(about.is_empty())
    }

    /// What this login may do; `None` if it is no member.
    pub async fn me(&self) -> Result<Option<Duty>, EngineError> {
        let mut held = self.held().await?;
        let have = held.have().await?;
        if have != schema::latest() {
            return Err(EngineError::NotMigrated {
                have,
                want: schema::latest(),
            });
        }
        let rows = held
            .rows(
                "SELECT kind, host, person, roles FROM desk.member WHERE login = current_user::text",
                &[],
            )
            .await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        duty(row).map(Some)
    }

    /// Who is a member, by login. For the database's owner.
    pub async fn members(&self) -> Result<Vec<Member>, EngineError> {
        let mut held = self.held().await?;
        held.begin("READ ONLY").await?;
        held.as_owner().await?;
        let rows = held
            .rows(
                "SELECT login, kind, host, person, roles FROM desk.member ORDER BY kind, login LIMIT 10000",
                &[],
            )
            .await?;
        held.commit().await?;
        let member = |row: &Row| {
            Ok(Member {
                login: Login(get(row, "login")?),
                duty: duty(row)?,
            })
        };
        rows.iter().map(member).collect()
    }

    /// Takes a login out of the desk. The login itself stays, and what it wrote.
    pub async fn remove_member(&self, login: &Login) -> Result<(), EngineError> {
        let name = login.as_str();
        let mut held = self.held().await?;
        held.begin("").await?;
        held.as_owner().await?;
        let gone = held
            .rows(
                "DELETE FROM desk.member WHERE login = $1 RETURNING kind",
                &[(&name, Type::TEXT)],
            )
            .await?;
        let Some(row) = gone.first() else {
            return Err(EngineError::Refused(format!(
                "{name} is no member of the desk"
            )));
        };
        let kind: &str = get(row, "kind")?;
        let known = ["host", "reviewer", "gateway", "auditor"].contains(&kind);
        held.run("RESET ROLE").await?;
        if known {
            held.run(&format!("REVOKE desk_{kind} FROM \"{name}\""))
                .await?;
        }
        held.commit().await
    }
}

fn duty(row: &Row) -> Result<Duty, EngineError> {
    let odd = || EngineError::Protocol("a member that is nothing".to_owned());
    Ok(match get::<&str>(row, "kind")? {
        "host" => Duty::Host(get::<Option<String>>(row, "host")?.ok_or_else(odd)?),
        "reviewer" => {
            let person = get::<Option<&str>>(row, "person")?.ok_or_else(odd)?;
            let roles: Vec<String> = get(row, "roles")?;
            let roles: Result<_, _> = roles.iter().map(|role| role.parse()).collect();
            Duty::Reviewer(
                Person::new(person).map_err(|_| odd())?,
                roles.map_err(|_| odd())?,
            )
        }
        "gateway" => Duty::Gateway,
        "auditor" => Duty::Auditor,
        _ => return Err(odd()),
    })
}
