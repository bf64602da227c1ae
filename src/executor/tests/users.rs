//! What holds for an ordinary user as it does for root.

use super::bench::as_an_ordinary_user;

/// Who owns such a file and is not root needs its mode to open it again.
#[test]
fn memory_files_are_untouched_for_an_ordinary_user_too() {
    as_an_ordinary_user(&[
        "sandbox::memfd::tests::what_several_runs_read_keeps_nothing_of_one_of_them",
    ]);
}
