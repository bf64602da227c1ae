//! `countersign audit export --bundle`.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::audit::bundle::{self, Anchor, Bundled, bundle};
use crate::audit::export::ExportError;
use crate::audit::query::Query;
use crate::audit::{Log, Store, Vouched};
use crate::error::Failure;
use crate::model::visible;

use super::super::folder::{Folder, Kind, Others};
use super::super::out::tell;
use super::export::{count, failure, told_later};
use super::{answers, evidence, prove, whole};

/// The page. It is written last: a folder without it is no whole bundle.
const PAGE: &str = "index.html";

pub fn run(
    dir: &Path,
    query: &Query,
    asked: &str,
    log: &Log,
    store: &Store,
) -> Result<u8, Failure> {
    let shown = visible(&dir.display().to_string()).into_owned();
    new(dir, &shown)?;
    let (key, signed) = prove::latest(store)?;
    let log = &log.clone().vouched(Vouched::by(store, &signed));
    let prover = log.prover(store, &signed);
    let begun = store.begun(&key);
    let begun = begun.map_err(|e| Failure::general(format!("nothing is proved: {e}")))?;
    let anchor = Anchor {
        key: &key,
        signed: &signed,
        begun: begun.as_ref(),
        prover: &prover,
    };
    // Before the whole log is read for it, and again before there is a folder.
    let mut quick = answers(log, "export")?;
    bundle::fits(&mut quick, query).map_err(failure)?;
    drop(quick);
    let mut answers = evidence(log)?;
    whole(answers.faults())?;
    bundle::fits(&mut answers, query).map_err(failure)?;
    let folder = Folder::open(dir)?;
    let mut ended: Result<Bundled, Failure> = Ok(Bundled::default());
    let written = folder.write_with(PAGE, Others::Stay, |page| {
        let mut page = BufWriter::new(page);
        let mut put = |name: &str, content: &[u8]| {
            let put = folder.write(name, content, Kind::Private, Others::Stay);
            put.map(|_| ())
                .map_err(|e| io::Error::new(e.kind(), format!("{name}: {e}")))
        };
        let made = bundle(
            &mut answers,
            (query, asked),
            &anchor,
            &mut put,
            &mut page,
            &mut |_| true,
        );
        ended = made.map_err(|e| match e {
            ExportError::Write(e) => Failure::general(e.to_string()),
            e => failure(e),
        });
        if let (Ok(_), Err(damaged)) = (&ended, whole(answers.faults())) {
            ended = Err(damaged);
        }
        match ended {
            Ok(_) => page.flush(),
            Err(_) => Err(io::Error::other("no bundle")),
        }
    });
    let unfinished = |e: Failure| {
        e.and(format!(
            "{shown} is no whole bundle: it has no {PAGE}; remove it"
        ))
    };
    let done = ended.map_err(unfinished)?;
    written.map_err(|e| unfinished(Failure::general(format!("{PAGE}: {e}"))))?;
    told_later(&answers);
    tell(&format!(
        "wrote {shown}: {}, {}, {}; people open {PAGE}",
        count(done.proposals, "proposal"),
        count(done.records, "record"),
        count(done.contents, "content"),
    ));
    tell(&format!(
        "the key that checks it, to be given on another way: {}",
        visible(&key.to_string())
    ));
    Ok(0)
}

/// Refuses a folder that has anything in it.
fn new(dir: &Path, shown: &str) -> Result<(), Failure> {
    match fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(Failure::usage(format!(
                "{shown} has files already; --bundle takes a new or empty folder"
            ))),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(Failure::usage(format!(
            "{shown} cannot be a bundle's folder: {e}"
        ))),
    }
}
