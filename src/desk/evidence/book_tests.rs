#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::desk::HostKey;
use crate::model::Digest;

/// Keys of the hosts a and b, and of nobody.
fn keys() -> [HostKey; 3] {
    [(); 3].map(|()| HostKey::open_or_make(tempfile::tempdir().unwrap().path()).unwrap())
}

#[test]
fn a_wrong_line_in_the_file_of_hosts_is_told_once_and_accuses_nobody() {
    let [a, b, nobody] = keys();
    let line = |key: &HostKey| key.public().line();
    // Whose keys the file has for a and b; how many sentences there are, about whom, and what the first one says.
    let rows = [
        (&a, &b, 0, ""),
        (
            &nobody,
            &b,
            1,
            "none of 3 rows is signed with the key in line 1 of the file of hosts; all name the key SHA256:",
        ),
        (&b, &a, 2, ", which is `b`'s there"),
    ];
    for (of_a, of_b, n, words) in rows {
        let text = format!("a {}\nb {}\n", line(of_a), line(of_b));
        let mut book = Book::new(Hosts::read(text.as_bytes()).unwrap());
        for (host, key) in [("a", &a), ("b", &b)] {
            for bytes in [b"1", b"2", b"3"] {
                book.is_signed(host, bytes, &key.sign(bytes).unwrap(), "what it says");
            }
        }
        // b signed a's checkpoint, under the key that a really has.
        let link = (7, Digest::of(b"x"));
        let signed = cosigned_text(("a", a.public().fingerprint()), link, "b");
        book.chains
            .entry("a".to_owned())
            .or_default()
            .know(link, 1, jiff::Timestamp::UNIX_EPOCH);
        book.cosignature(CosignatureRow {
            host: "a".to_owned(),
            size: 7,
            root: link.1,
            cosigner: "b".to_owned(),
            signature: b.sign(&signed).unwrap(),
        });
        book.close(true);
        assert_eq!(book.faults.len(), n, "{:?}", book.faults);
        if n > 0 {
            assert_eq!(book.faults[0].host, "a");
            assert!(book.faults[0].what.contains(words), "{:?}", book.faults);
        }
    }
    // One row among good ones is that row's.
    let text = format!("a {}\n", line(&a));
    let mut book = Book::new(Hosts::read(text.as_bytes()).unwrap());
    book.is_signed("a", b"1", &a.sign(b"1").unwrap(), "the first");
    book.is_signed("a", b"2", &a.sign(b"1").unwrap(), "the second");
    book.is_signed("a", b"3", &a.sign(b"1").unwrap(), "the third");
    book.close(true);
    let what: Vec<&str> = book
        .faults
        .iter()
        .map(|fault| fault.what.as_str())
        .collect();
    assert!(
        what.len() == 2 && what[0].starts_with("the second: `a` did not sign this"),
        "{what:?}"
    );
}

/// Of what others signed and is not there: it is gone only where everything of that host was read.
#[test]
fn nothing_is_gone_that_may_lie_behind_rows_that_were_not_read() {
    let [a, b, nobody] = keys();
    let text = format!("a {}\nb {}\n", a.public().line(), b.public().line());
    let noise = |n: usize| CheckpointRow {
        host: "a".to_owned(),
        size: n as u64,
        body: n.to_string().into_bytes(),
        signature: nobody.sign(b"x").unwrap(),
    };
    let rows = [
        (Extent::Newest, 0, "signed is gone from the engine"),
        (Extent::All, 12, "signed is gone from the engine"),
        (
            Extent::Most(12),
            12,
            "signed is not among the newest 12 rows of this host, which were read",
        ),
    ];
    for (extent, foreign, words) in rows {
        let mut book = Book::new(Hosts::read(text.as_bytes()).unwrap());
        book.is_signed("a", b"1", &a.sign(b"1").unwrap(), "the first");
        book.gathered(
            "a",
            &Gathered {
                rows: (0..foreign).map(noise).collect(),
                foreign,
                extent,
            },
        );
        let link = (7, Digest::of(b"x"));
        let signed = cosigned_text(("a", a.public().fingerprint()), link, "b");
        book.cosignature(CosignatureRow {
            host: "a".to_owned(),
            size: 7,
            root: link.1,
            cosigner: "b".to_owned(),
            signature: b.sign(&signed).unwrap(),
        });
        book.close(false);
        let told: Vec<&str> = book.faults.iter().map(|f| f.what.as_str()).collect();
        assert!(told.iter().any(|what| what.contains(words)), "{told:?}");
        // Noise is one sentence, however much there is.
        let intruded = "12 of 13 rows under its name are not signed by its key";
        let is_told = told.iter().any(|what| what.starts_with(intruded));
        assert_eq!((told.len(), is_told), (1 + foreign / 12, foreign > 0));
    }
}
