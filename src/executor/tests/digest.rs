//! The code's digest is checked three times: by the broker (`refusal.rs`), by the helper and by the
//! child. Each test changes the code so that only one of the checks can refuse it.

use std::os::fd::AsFd;

use super::TIER;
use crate::child::{self, Files};
use crate::executor::fault::Why;
use crate::executor::python::{bundle, runner};
use crate::executor::run::given;
use crate::executor::tests::bench::*;
use crate::executor::tests::look::{Looked, handed, look_at};
use crate::model::{Digest, RunErrorKind};
use crate::sandbox::refusal::Reason;

const SHOWN: &str = "print('shown')";
const ANOTHER: &str = "print('another')";

/// A child with `ANOTHER` as its code, under the digests of these two texts.
fn launch(for_the_helper: &str, for_the_child: &str) -> Result<Looked, Why> {
    let spec = spec(for_the_child, raw_policy(TIER));
    let files = Files {
        setup: given::file("setup", runner::setup(&spec, 0)).unwrap(),
        bundle: bundle::file(&spec.env).unwrap(),
        handed: handed(&spec, ANOTHER, Digest::of(for_the_helper.as_bytes())),
    };
    let launched = child::cold(exe().as_fd(), spec.confinement(0, 0), files).unwrap();
    look_at(launched, None).map_err(|fault| fault.why)
}

#[test]
fn a_helper_whose_code_differs_from_the_shown_code_starts_no_child() {
    if !available(TIER) {
        return;
    }
    let Err(why) = launch(SHOWN, ANOTHER) else {
        panic!("a child was started");
    };
    assert_eq!(why, Why::Child(child::Why::Refused(Reason::OtherCode)));
    let expected = "the code is not the code that was shown: the sandbox helper read other code";
    assert_eq!(why.to_string(), expected);
}

#[test]
fn a_child_whose_code_differs_from_the_shown_code_runs_none_of_it() {
    if !available(TIER) {
        return;
    }
    let looked = launch(ANOTHER, SHOWN).unwrap();
    assert_eq!(looked.stdout, "", "{}", looked.stderr);
    let error = looked.error.expect("the code is refused");
    assert_eq!(error.kind, RunErrorKind::SandboxError);
    let expected = "the code is not the code that was shown: the child read other code";
    assert_eq!(error.message, expected);
}

#[test]
fn a_child_whose_code_is_the_shown_code_runs_it() {
    if !available(TIER) {
        return;
    }
    let looked = launch(ANOTHER, ANOTHER).unwrap();
    assert_eq!(looked.error, None);
    assert_eq!(looked.stdout, "another\n", "{}", looked.stderr);
}
