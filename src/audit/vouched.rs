//! What is known of a log's newest checkpoint, for readers that do not compare the whole log with it.

use std::sync::Arc;

use super::AuditError;
use super::error::{Damage, Faults};
use super::layout::Layout;
use super::tlog::{self, Signed, Store, StoreError, TlogError};

/// What must hold of a log beside what it says itself.
#[derive(Clone, Debug, Default)]
pub enum Vouched {
    /// There is no checkpoint.
    #[default]
    Nothing,
    /// It extends this checkpoint.
    By(Arc<(Store, Signed)>),
    /// What is kept of its checkpoints contradicts itself, or is no file.
    Fault(Arc<str>),
}

impl Vouched {
    pub fn by(store: &Store, signed: &Signed) -> Self {
        Self::By(Arc::new((store.clone(), signed.clone())))
    }

    /// What a folder of checkpoints says.
    ///
    /// # Errors
    /// When this reader may not read it.
    pub fn of(store: &Store) -> Result<Self, StoreError> {
        let latest = match store.key() {
            Ok(Some(key)) => store.latest(&key),
            Ok(None) => Ok(None),
            Err(e) => Err(e),
        };
        match latest {
            Ok(None) => Ok(Self::Nothing),
            Ok(Some(signed)) => Ok(Self::by(store, &signed)),
            Err(e) if !e.denies() => Ok(Self::Fault(e.to_string().into())),
            Err(e) => Err(e),
        }
    }

    /// How many records are signed.
    pub fn size(&self) -> u64 {
        match self {
            Self::By(by) => by.1.checkpoint.size,
            Self::Nothing | Self::Fault(_) => 0,
        }
    }

    /// The first record that was written under the key that signs; 1 if that is not known.
    pub fn from(&self) -> u64 {
        let Self::By(by) = self else { return 1 };
        let key = by.0.key().ok().flatten();
        let begun = key.and_then(|key| by.0.begun(&key).ok().flatten());
        begun.map_or(1, |begun| begun.from)
    }

    /// Adds what contradicts it in a log with so many records. The log itself is read only if its last signed record
    /// cannot be found, or is another one.
    pub(super) fn compare(
        &self,
        layout: &Layout,
        records: u64,
        faults: &mut Faults,
    ) -> Result<(), AuditError> {
        // What follows damage is not known.
        if faults.chain.is_some() {
            return Ok(());
        }
        let damage = |file: &str, seq, what: String| Damage {
            file: file.to_owned(),
            line: None,
            seq,
            what,
        };
        let (store, signed) = match self {
            Self::Nothing => return Ok(()),
            Self::Fault(why) => {
                faults.chain = Some(damage("checkpoints", None, why.to_string()));
                return Ok(());
            }
            Self::By(by) => (&by.0, &by.1),
        };
        let size = signed.checkpoint.size;
        if size == 0 {
            return Ok(());
        }
        if records < size {
            let shorter = TlogError::Shorter { records, size };
            faults.chain = Some(damage("log", Some(records + 1), shorter.to_string()));
            return Ok(());
        }
        if tlog::ends_as_signed(layout, store, signed) == Some(true) {
            return Ok(());
        }
        let signed = std::slice::from_ref(signed);
        match tlog::compare(layout, Some(store), signed)? {
            // Retention removed what was signed; the records that are left cannot contradict it.
            Ok(()) | Err(TlogError::NoBeginning(_)) => {}
            Err(e) => faults.chain = Some(damage("checkpoints", Some(size), e.to_string())),
        }
        Ok(())
    }
}
