//! TLS for witnesses and for the desk's engine: whose certificates count. Version 1.3 only.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::model::visible;

/// Who vouches for servers. By default nobody does.
#[derive(Clone, Debug, Default)]
pub struct Trust(Option<Arc<ClientConfig>>);

impl Trust {
    /// Those of this machine, and those in a file of PEM certificates.
    ///
    /// # Errors
    /// If there is none, or if the file cannot be read or has none, in words.
    pub fn here(file: Option<&Path>) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        let found = rustls_native_certs::load_native_certs();
        // Some of a machine's are odd; those that are left count.
        roots.add_parsable_certificates(found.certs);
        if let Some(path) = file {
            let name = path.display().to_string();
            let name = visible(&name);
            let fault = |e: &dyn std::fmt::Display| format!("{name}: {e}");
            let all = CertificateDer::pem_file_iter(path).map_err(|e| fault(&e))?;
            let before = roots.len();
            for certificate in all {
                let certificate = certificate.map_err(|e| fault(&e))?;
                roots.add(certificate).map_err(|e| fault(&e))?;
            }
            if roots.len() == before {
                return Err(fault(&"it has no certificate in PEM"));
            }
        }
        if roots.is_empty() {
            return Err(
                "this machine has no certificates of authorities (as those of `ca-certificates`)"
                    .to_owned(),
            );
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|e| e.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self(Some(Arc::new(config))))
    }

    /// For other clients; `None` if nobody vouches.
    pub fn config(&self) -> Option<&Arc<ClientConfig>> {
        self.0.as_ref()
    }

    /// A session with a server of this name.
    pub(super) fn session(&self, name: &str) -> io::Result<ClientConnection> {
        let none = || io::Error::other("no certificates of authorities were read");
        let config = self.0.clone().ok_or_else(none)?;
        let name = ServerName::try_from(name.to_owned()).map_err(io::Error::other)?;
        ClientConnection::new(config, name).map_err(io::Error::other)
    }
}

/// Why a server's certificate was refused, if that is what failed.
pub(super) fn refused(e: &io::Error) -> Option<String> {
    let inner = e.get_ref()?.downcast_ref::<rustls::Error>()?;
    match inner {
        rustls::Error::InvalidCertificate(why) => Some(why.to_string()),
        _ => None,
    }
}
