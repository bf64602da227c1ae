//! Determines the cause of a failure from the output of `venv`, pip and uv.

use crate::model::visible;

/// The cause behind a failed installation.
#[derive(Debug, PartialEq)]
pub(super) enum Fault {
    Disk,
    Hash,
    Network(String),
    Wheel(String),
    Other,
}

/// Finds the cause in pip's output. Network failures are checked first, because a missing network
/// also ends in a missing package.
pub(super) fn classify(text: &str) -> Fault {
    if text.contains("No space left on device") || text.contains("Disk quota exceeded") {
        return Fault::Disk;
    }
    if text.contains("DO NOT MATCH THE HASHES") || text.contains("Hash mismatch for") {
        return Fault::Hash;
    }
    let network = [
        (
            "CERTIFICATE_VERIFY_FAILED",
            "the server's certificate is not trusted",
        ),
        ("ProxyError", "the proxy cannot be reached"),
        ("407 Proxy", "the proxy wants a login"),
        ("name resolution", "the server's name cannot be resolved"),
        (
            "Name or service not known",
            "the server's name cannot be resolved",
        ),
        ("Network is unreachable", "there is no network"),
        ("Connection refused", "the server refuses connections"),
        ("ConnectTimeout", "the server does not answer"),
        ("ReadTimeout", "the server stopped answering"),
        ("Read timed out", "the server stopped answering"),
        ("NewConnectionError", "the server cannot be reached"),
        ("ConnectionResetError", "the connection was cut"),
        ("IncompleteRead", "the connection was cut"),
        ("HTTP error 4", "the server refuses the download"),
        ("HTTP error 5", "the server fails"),
        ("403 Client Error", "the server refuses the download"),
    ];
    if let Some((_, why)) = network.iter().find(|(mark, _)| text.contains(mark)) {
        return Fault::Network((*why).to_owned());
    }
    let missing = text
        .lines()
        .find_map(|l| l.split_once("No matching distribution found for "))
        .map(|(_, name)| name.split(['=', ' ']).next().unwrap_or_default());
    // With a single try, pip does not mention the network.
    let got = |line: &str| {
        let line = line.trim_start();
        ["Downloading ", "Using cached ", "Processing "]
            .iter()
            .any(|p| line.starts_with(p))
    };
    match missing {
        Some(name) if !text.lines().any(got) => Fault::Network(format!(
            "not even {} could be had, so the server cannot be reached or has no packages",
            visible(name)
        )),
        Some(name) => Fault::Wheel(visible(name).into_owned()),
        None => Fault::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_pip_become_a_cause() {
        for (text, fault) in [
            (
                "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
                Fault::Disk,
            ),
            (
                "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
                Fault::Hash,
            ),
            (
                "error: Failed to download `tabulate==0.9.0`\n  cause: Hash mismatch for `tabulate==0.9.0`",
                Fault::Hash,
            ),
            (
                "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('<pip>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')'\nERROR: No matching distribution found for numpy==2",
                Fault::Network("the server's name cannot be resolved".to_owned()),
            ),
            (
                "  Downloading cycler-1.whl (1 kB)\nERROR: No matching distribution found for numpy==2.4.6",
                Fault::Wheel("numpy".to_owned()),
            ),
            (
                "ERROR: No matching distribution found for cloudpickle==3.1.2",
                Fault::Network(
                    "not even cloudpickle could be had, so the server cannot be reached or has no \
                     packages"
                        .to_owned(),
                ),
            ),
            ("Segmentation fault", Fault::Other),
        ] {
            assert_eq!(classify(text), fault, "{text}");
        }
    }
}
