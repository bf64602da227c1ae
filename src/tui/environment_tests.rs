//! How the screen shows a changed environment.

use crate::broker::{Event, ExecNote};
use crate::model::{Environment, RunEvent};

use super::bench::*;
use super::snapshot_tests::at_sizes;

#[test]
fn environment_changed() {
    at_sizes("environment_changed", |b| {
        b.propose(Making::clear("print(len(df))\n"));
        b.settle();
        b.keys("a");
        b.apply(Event::Environment(Environment::Changed {
            what: "lib/python3.13/site-packages/sklearn/__init__.py was changed, \
                   lib/python3.13/site-packages/numpy.py was added"
                .to_owned(),
        }));
    });
}

#[test]
fn environment_changed_before_the_release() {
    at_sizes("environment_changed_before_the_release", |b| {
        b.propose(Making::clear("print(len(df))\n"));
        b.settle();
        let id = b.ui.selected().unwrap();
        b.open_sheet();
        b.keys("y");
        b.carry_out();
        b.exec(id, ExecNote::Prepared(isolation()));
        b.exec(
            id,
            ExecNote::Noted(vec![RunEvent {
                kind: RunEvent::ENVIRONMENT.to_owned(),
                message: "lib/python3.13/site-packages/sklearn/__init__.py was changed".to_owned(),
                line: None,
            }]),
        );
        let message =
            "the Python environment is not the one that was granted: it changed meanwhile";
        b.exec(
            id,
            ExecNote::Failed {
                message: message.to_owned(),
            },
        );
        b.settle();
    });
}
