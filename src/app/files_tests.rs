use std::os::unix::fs::symlink;

use super::*;

fn file(name: &str, media_type: &str) -> Artifact {
    Artifact {
        name: name.to_owned(),
        media_type: media_type.to_owned(),
        bytes: 3,
        sha256: crate::model::Digest::of(name.as_bytes()).hex(),
    }
}

fn saved(folder: &Path, files: &[Artifact]) -> Result<String, String> {
    let wanted = Saving {
        files: files.to_vec(),
        folder: "~/typed".to_owned(),
        own: "countersign-a-1".to_owned(),
    };
    save_all(folder, &wanted, |file| match file.name.contains("gone") {
        true => Err("it is gone".to_owned()),
        false => Ok(file.name.clone().into_bytes()),
    })
}

#[test]
fn files_are_saved_for_their_owner_in_a_new_folder_of_their_own() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("new");
    let files = [file("a.csv", "text/csv"), file("out/b.txt", "text/plain")];
    assert_eq!(
        saved(&folder, &files).unwrap(),
        "saved 2 files in ~/typed/countersign-a-1"
    );
    let own = folder.join("countersign-a-1");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&own), 0o700);
    assert_eq!(mode(&own.join("a.csv")), 0o600);
    assert_eq!(mode(&own.join("out")), 0o700);
    std::fs::write(own.join("a.csv"), "mine").unwrap();
    assert_eq!(
        saved(&folder, &files).unwrap_err(),
        "nothing is saved: ~/typed/countersign-a-1 is there already, so these files were saved before; move it away \
         to save them again"
    );
    assert_eq!(std::fs::read_to_string(own.join("a.csv")).unwrap(), "mine");
}

#[test]
fn names_that_programs_read_by_themselves_are_not_saved() {
    let home = tempfile::tempdir().unwrap();
    let hostile = [
        ".bash_profile",
        ".config/autostart/x.desktop",
        ".ssh/authorized_keys",
        "a/.git/hooks/post-checkout",
        "../.bashrc",
    ];
    let mut files: Vec<Artifact> = hostile
        .iter()
        .map(|name| file(name, "text/plain"))
        .collect();
    let said = saved(home.path(), &files).unwrap_err();
    assert!(
        said.starts_with("nothing is saved; not saved: \".bash_profile\", "),
        "{said}"
    );
    assert!(
        said.ends_with("(a name that programs read by themselves)"),
        "{said}"
    );
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    files.push(file("report.csv", "text/csv"));
    let said = saved(home.path(), &files).unwrap();
    assert!(said.starts_with("saved 1 of 6 files in ~/typed/countersign-a-1; not saved: "));
    let names: Vec<_> = std::fs::read_dir(home.path().join("countersign-a-1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["report.csv"]);
}

#[test]
fn what_cannot_be_saved_is_named_and_the_others_are_saved() {
    let home = tempfile::tempdir().unwrap();
    let files = [
        file("a", "text/plain"),
        file("gone.csv", "text/csv"),
        file("a/b", "text/plain"),
        file("c", "text/plain"),
    ];
    assert_eq!(
        saved(home.path(), &files).unwrap(),
        "saved 2 of 4 files in ~/typed/countersign-a-1; not saved: \"gone.csv\" (it is gone), \"a/b\" (something \
         is in its way)"
    );
}

#[test]
fn no_link_below_the_folder_is_followed() {
    let home = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let a = [file("a", "text/plain")];
    let missing = saved(&home.path().join("no/such"), &a).unwrap_err();
    let no = home.path().join("no").display().to_string();
    assert_eq!(
        missing,
        format!("nothing is saved: {no} does not exist; make it first, or name another folder")
    );
    symlink(elsewhere.path(), home.path().join("countersign-a-1")).unwrap();
    assert!(
        saved(home.path(), &a)
            .unwrap_err()
            .contains("there already")
    );
    let own = home.path().join("own");
    std::fs::create_dir(&own).unwrap();
    symlink(elsewhere.path(), own.join("out")).unwrap();
    symlink(elsewhere.path().join("new"), own.join("b")).unwrap();
    let own = open_folder(&own, Make::Last).unwrap();
    assert!(save(&own, "out/a", b"x").is_err());
    assert_eq!(save(&own, "b", b"x"), Err(Errno::EEXIST));
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_is_absolute_or_below_home() {
    let home = Some(OsStr::new("/home/me"));
    let of = |typed| folder_of(typed, home).map(|path| path.display().to_string());
    assert_eq!(of("~/runs").unwrap(), "/home/me/runs");
    assert_eq!(of("~").unwrap(), "/home/me/");
    assert_eq!(of("/srv/x").unwrap(), "/srv/x");
    for wrong in ["", "runs", "~other/runs", "../x"] {
        assert!(
            of(wrong).unwrap_err().contains("begins with / or ~/"),
            "{wrong}"
        );
    }
}

#[test]
fn only_text_that_does_nothing_is_opened() {
    let plain = file("a.desktop", "text/plain");
    for good in ["x,y\n1,2\n", "", "a < b, c > d", "[1, 2]", "naïve"] {
        assert_eq!(harmless(&plain, good.as_bytes()), Ok(()), "{good}");
    }
    for bad in [
        "#!/bin/sh\nrm x",
        "\u{feff} #!/bin/sh",
        "[Desktop Entry]\nExec=sh",
        "text <ScRiPt>fetch('http://x')</script>",
        "<!DOCTYPE html>",
        "%PDF-1.7",
        "{\\rtf1",
        "<?xml version='1.0'?>",
        "[InternetShortcut]\nURL=file:///x",
        "a\nvim: set modelines=5:\n",
        "-*- mode: x; eval: (shell-command \"id\") -*-",
        "x\nLocal Variables:\neval: (x)\nEnd:\n",
        "\u{1b}]0;owned\u{7}",
        "a\u{202e}b",
        "a\u{200b}b",
    ] {
        assert!(harmless(&plain, bad.as_bytes()).is_err(), "{bad}");
    }
    assert_eq!(
        harmless(&plain, b"a\n\x1b[2J").unwrap_err(),
        "a.desktop is not opened: line 2 has a control character; it can be saved"
    );
    assert!(harmless(&plain, b"\xff\xfe").is_err());
    for kind in [
        "text/html",
        "image/svg+xml",
        "application/pdf",
        "application/zip",
        "application/octet-stream",
    ] {
        assert!(harmless(&file("a.txt", kind), b"x").is_err(), "{kind}");
    }
}

#[test]
fn a_copy_has_the_extension_of_its_kind_in_a_folder_of_its_owner() {
    let mut copies = Copies::default();
    let path = copies
        .write(&file("out/run.desktop", "text/plain"), b"x", "txt")
        .unwrap();
    assert_eq!(path.file_name().unwrap(), "1-run.desktop.txt");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    let again = copies
        .write(&file("out/run.desktop", "text/plain"), b"y", "txt")
        .unwrap();
    assert_ne!(path, again);
    drop(copies);
    assert!(!path.exists());
}
