//! What is believed of what comes: only what the host's key signed, and only about that host.

use crate::ballot::Key;
use crate::broker::Event;
use crate::broker::offer::{Offer, Statement};
use crate::desk::Hosts;

/// An offer that this host signed.
pub fn offer(hosts: &Hosts, host: &str, body: &[u8], signature: &str) -> Result<Event, String> {
    hosts.check(host, body, signature)?;
    let offer = Offer::read(body).map_err(|e| e.to_string())?;
    is_its_own(hosts, host, &offer.host, &offer.host_key)?;
    Ok(Event::Offered {
        offer: Box::new(offer),
        bytes: body.into(),
    })
}

/// A statement that this host signed.
pub fn statement(hosts: &Hosts, host: &str, body: &[u8], signature: &str) -> Result<Event, String> {
    hosts.check(host, body, signature)?;
    let statement = Statement::read(body)?;
    is_its_own(hosts, host, &statement.host, &statement.host_key)?;
    Ok(Event::Stated(Box::new(statement)))
}

fn is_its_own(hosts: &Hosts, host: &str, named: &str, key: &str) -> Result<(), String> {
    let own = hosts.key(host).map(Key::fingerprint);
    match named == host && own == Some(key) {
        true => Ok(()),
        false => Err("it names another host than signed it".to_owned()),
    }
}
