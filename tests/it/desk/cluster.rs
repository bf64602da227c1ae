//! A PostgreSQL of the tests' own: one server for the process, a database for each test.
//!
//! A shell starts the server and holds the read end of a pipe of ours. However this process ends, the pipe does, and the shell stops
//! the server and removes its folder.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use countersign::audit::Trust;
use countersign::desk::engine::{Address, Duty, Engine, Member};
use nix::unistd::geteuid;
use tokio_postgres::{Client, NoTls};

use crate::common::given;

/// `initdb` refuses root; this is the user of whom nothing belongs.
const NOBODY: u32 = 65_534;

pub struct Cluster {
    /// Of the sockets.
    pub folder: PathBuf,
    pub port: u16,
    /// Whether the server has a certificate, by the authority in `ca.pem`.
    pub has_tls: bool,
    _ends_with_us: ChildStdin,
}

/// Where a copy of another server's data is already, it is not made.
const SERVER: &str = r#"
folder=$1; bin=$2; port=$3
if ! [ -d "$folder/d" ]; then
    "$bin/initdb" --no-sync --no-instructions --auth-local=trust --auth-host=scram-sha-256 --no-locale -E UTF8 \
        -U postgres -D "$folder/d" > "$folder/log" 2>&1 || exit 1
    cat >> "$folder/d/postgresql.conf" < "$folder/conf"
fi
"$bin/postgres" -D "$folder/d" -k "$folder" -p "$port" >> "$folder/log" 2>&1 < /dev/null &
server=$!
read -r end
kill -QUIT $server
wait $server
cd /
rm -rf "$folder"
"#;

const CONF: &str = "fsync = off\nfull_page_writes = off\nsynchronous_commit = off\nlisten_addresses = 'localhost'\n\
                    max_connections = 300\n";

/// The logins of every test's database, each with the password `pw`.
fn members() -> Vec<Member> {
    let roles = |all: &[&str]| all.iter().map(|role| role.parse().unwrap()).collect();
    let member = |login: &str, duty| Member {
        login: login.parse().unwrap(),
        duty,
    };
    vec![
        member("host_a", Duty::Host("a".to_owned())),
        member("host_b", Duty::Host("b".to_owned())),
        member(
            "rev_ana",
            Duty::Reviewer("ana@x".parse().unwrap(), roles(&["data"])),
        ),
        member(
            "rev_ben",
            Duty::Reviewer("ben".parse().unwrap(), roles(&["security", "data"])),
        ),
        member(
            "rev_cem",
            Duty::Reviewer("cem".parse().unwrap(), roles(&[])),
        ),
        member("gate_x", Duty::Gateway),
        member("gate_y", Duty::Gateway),
        member("audit_z", Duty::Auditor),
    ]
}

/// The server of this process; `None`, aloud, if there is none on this machine.
pub fn cluster() -> Option<&'static Cluster> {
    static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
    let made = CLUSTER.get_or_init(|| {
        let bin = server_programs()?;
        // A runtime of its own: this one may be inside another.
        apart(move || Cluster::start(&bin, None)).into()
    });
    given::is_given(made.is_some(), "PostgreSQL server")
        .then_some(made.as_ref())
        .flatten()
}

fn apart(make: impl FnOnce() -> Cluster + Send + 'static) -> Cluster {
    std::thread::spawn(make).join().unwrap()
}

/// A server that one test may stop; [`cluster`] has to have been asked whether there is one.
pub fn another() -> Cluster {
    let bin = server_programs().unwrap();
    apart(move || Cluster::start(&bin, None))
}

/// A server that knows what `of` knew when this was called, and takes no writes until it is [promoted](Cluster::promote).
pub fn copy(of: &Cluster) -> Cluster {
    let bin = server_programs().unwrap();
    let of = (of.folder.join("d"), of.url("postgres", "postgres"));
    apart(move || Cluster::start(&bin, Some(of)))
}

/// As "Making a Base Backup Using the Low Level API" of PostgreSQL's manual says.
async fn copied((from, url): &(PathBuf, String), to: &Path) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let cp = |from: &Path, to: &Path| {
        let copied = Command::new("cp").arg("-a").args([from, to]).status();
        assert!(copied.unwrap().success());
    };
    let begun = "SELECT pg_backup_start('copy', true)";
    client.batch_execute(begun).await.unwrap();
    cp(from, to);
    let ended = "SELECT labelfile FROM pg_backup_stop(false)";
    let label: String = client.query_one(ended, &[]).await.unwrap().get(0);
    std::fs::remove_dir_all(to.join("pg_wal")).unwrap();
    cp(&from.join("pg_wal"), &to.join("pg_wal"));
    std::fs::remove_file(to.join("postmaster.pid")).unwrap();
    for (name, text) in [("backup_label", &*label), ("standby.signal", "")] {
        let path = to.join(name);
        std::fs::write(&path, text).unwrap();
        if geteuid().is_root() {
            chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
}

fn server_programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    // Debian keeps them off PATH.
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|entry| entry.path().join("bin")));
    }
    folders
        .into_iter()
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

impl Cluster {
    fn start(bin: &Path, of: Option<(PathBuf, String)>) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        // The path of a socket has 107 bytes.
        let folder = tempfile::Builder::new()
            .prefix("cs-pg")
            .tempdir_in("/tmp")
            .unwrap();
        let folder = folder.keep();
        // Its socket is for every user of the machine; what is in it has its own rights.
        let open = std::fs::Permissions::from_mode(0o711);
        std::fs::set_permissions(&folder, open).unwrap();
        let port = TcpListener::bind("localhost:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let has_tls = certify(&folder);
        let mut conf = CONF.to_owned();
        if has_tls {
            let at = folder.display();
            let _ = write!(
                conf,
                "ssl = on\nssl_cert_file = '{at}/server.pem'\nssl_key_file = '{at}/server.key'\n"
            );
        }
        std::fs::write(folder.join("conf"), conf).unwrap();
        let mut shell = Command::new("sh");
        shell
            .args(["-c", SERVER, "sh"])
            .arg(&folder)
            .arg(bin)
            .arg(port.to_string());
        if let Some(of) = &of {
            runtime.block_on(copied(of, &folder.join("d")));
        }
        if geteuid().is_root() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                chown(entry.unwrap().path(), Some(NOBODY), Some(NOBODY)).unwrap();
            }
            chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
            shell.uid(NOBODY).gid(NOBODY);
        }
        shell.current_dir("/").stdin(Stdio::piped());
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = shell.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let cluster = Self {
            folder,
            port,
            has_tls,
            _ends_with_us: stdin,
        };
        runtime.block_on(async {
            let admin = cluster.comes(&mut child).await;
            if of.is_none() {
                cluster.furnish(&admin).await;
            }
        });
        cluster
    }

    /// Waits for the server.
    async fn comes(&self, child: &mut Child) -> Client {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            if let Ok(client) = self.try_client("postgres", "postgres").await {
                return client;
            }
            let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(child.try_wait().unwrap().is_none(), "{log}");
            assert!(Instant::now() < until, "{log}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The database that all others are copies of.
    async fn furnish(&self, admin: &Client) {
        admin.batch_execute("CREATE DATABASE tpl").await.unwrap();
        let engine = self.engine("postgres", "tpl");
        assert_eq!(engine.init().await.unwrap(), [1, 2]);
        for member in members() {
            assert!(engine.add_member(&member).await.unwrap());
            let login = member.login.as_str();
            let secret = format!("ALTER ROLE \"{login}\" PASSWORD 'pw'");
            admin.batch_execute(&secret).await.unwrap();
        }
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.join(format!(".s.PGSQL.{}", self.port))
    }

    /// Lets a copy take writes.
    pub async fn promote(&self) {
        let admin = self.client("postgres", "postgres").await;
        let promoted = admin.query_one("SELECT pg_promote()", &[]).await.unwrap();
        assert!(promoted.get::<_, bool>(0));
    }

    pub fn url(&self, login: &str, database: &str) -> String {
        url(&self.folder, self.port, login, database)
    }

    pub fn engine(&self, login: &str, database: &str) -> Engine {
        engine(&self.url(login, database), Duration::from_secs(20))
    }

    async fn try_client(
        &self,
        login: &str,
        database: &str,
    ) -> Result<Client, tokio_postgres::Error> {
        let url = self.url(login, database);
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await?;
        tokio::spawn(async move {
            let _ = connection.await;
        });
        Ok(client)
    }

    pub async fn client(&self, login: &str, database: &str) -> Client {
        self.try_client(login, database).await.unwrap()
    }
}

/// The URL of a Unix socket in a folder.
pub fn url(folder: &Path, port: u16, login: &str, database: &str) -> String {
    let folder = folder.to_str().unwrap().replace('/', "%2F");
    format!("postgresql://{login}@{folder}:{port}/{database}")
}

pub fn engine(url: &str, limit: Duration) -> Engine {
    let address = Address::parse(url, None).unwrap();
    Engine::new(address, &Trust::default(), limit).unwrap()
}

/// A database of one test.
pub struct Database {
    pub cluster: &'static Cluster,
    pub name: String,
}

/// An empty one, without a desk.
pub async fn empty() -> Option<Database> {
    made("TEMPLATE template0").await
}

/// One with the desk's tables and members.
pub async fn desk() -> Option<Database> {
    let database = made("TEMPLATE tpl").await?;
    // What is granted on a database is not copied; and a second time changes nothing.
    assert_eq!(
        database.engine("postgres").init().await.unwrap(),
        Vec::<u32>::new()
    );
    Some(database)
}

async fn made(how: &str) -> Option<Database> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let cluster = cluster()?;
    let name = format!("t{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let admin = cluster.client("postgres", "postgres").await;
    let sql = format!("CREATE DATABASE {name} {how} STRATEGY file_copy");
    admin.batch_execute(&sql).await.unwrap();
    Some(Database { cluster, name })
}

impl Database {
    pub fn engine(&self, login: &str) -> Engine {
        self.cluster.engine(login, &self.name)
    }

    pub async fn client(&self, login: &str) -> Client {
        self.cluster.client(login, &self.name).await
    }

    pub fn url(&self, login: &str) -> String {
        self.cluster.url(login, &self.name)
    }
}

/// An authority, and a certificate of it for `localhost`; false without openssl.
pub fn certify(folder: &Path) -> bool {
    let script = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=ca -days 2 \
                    -keyout ca.key -out ca.pem && \
                  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \
                    -keyout server.key -out server.csr && \
                  openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
                    -extfile ext -out server.pem && chmod 600 server.key";
    let mut ext = std::fs::File::create(folder.join("ext")).unwrap();
    ext.write_all(b"subjectAltName = DNS:localhost\n").unwrap();
    let made = Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    made.is_ok_and(|status| status.success())
}
