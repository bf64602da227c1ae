//! `countersign doctor --fix`: what it changes, and what it leaves.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

fn set(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn the_doctor_takes_bits_from_modes_once_it_is_told_to_and_nothing_else() {
    let home = Home::new();
    let folder = home.dir.path().join(".config/countersign");
    let log = home.dir.path().join("state/log");
    for path in [&folder, &log] {
        std::fs::create_dir_all(path).unwrap();
        set(path, 0o755);
    }
    let config = folder.join("config.toml");
    std::fs::write(&config, "theme = \"dark\"\n").unwrap();
    set(&config, 0o666);
    let doctor = |more: &'static [&'static str]| {
        let mut command = home.command(&["doctor", "--state-dir", "state"]);
        command.args(["--python", "/usr/bin/python3"]).args(more);
        async move { Finished::of(command.output().await.unwrap()) }
    };
    let asked = doctor(&["--fix"]).await;
    assert_eq!(asked.code, 2, "{asked:?}");
    assert!(asked.out.contains("  chmod go-w "), "{asked:?}");
    assert!(asked.err.contains("nothing was changed"), "{asked:?}");
    assert_eq!((mode(&config), mode(&log)), (0o666, 0o755));
    // What cannot be read hides the rest, so it comes first.
    for (path, after) in [(&config, 0o644), (&log, 0o700)] {
        let done = doctor(&["--fix", "--yes"]).await;
        assert!(done.err.contains("done: chmod"), "{done:?}");
        assert!(done.out.contains("is missing now"), "{done:?}");
        assert_eq!(mode(path), after, "{done:?}");
    }
    let again = doctor(&["--fix", "--yes"]).await;
    assert!(again.out.contains("nothing can be fixed"), "{again:?}");
    assert_eq!(mode(&folder), 0o755);
    assert_eq!(doctor(&["--fix", "--json"]).await.code, 2);
}
