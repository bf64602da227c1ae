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
    let place = open_folder(folder)?;
    save_all(&place, files, |file| Ok(file.name.clone().into_bytes()))
}

#[test]
fn files_are_saved_for_their_owner_and_over_nothing() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("new");
    let files = [file("a.csv", "text/csv"), file("out/b.txt", "text/plain")];
    assert_eq!(saved(&folder, &files).unwrap(), "saved 2 files");
    let mode = |path: &str| {
        std::fs::metadata(folder.join(path))
            .unwrap()
            .permissions()
            .mode()
    };
    assert_eq!(mode("a.csv") & 0o777, 0o600);
    assert_eq!(mode("out") & 0o777, 0o700);
    std::fs::write(folder.join("a.csv"), "mine").unwrap();
    assert_eq!(
        saved(&folder, &files).unwrap(),
        "saved 0 files, not over what is there (a.csv, out/b.txt)"
    );
    assert_eq!(
        std::fs::read_to_string(folder.join("a.csv")).unwrap(),
        "mine"
    );
}

#[test]
fn no_link_is_followed() {
    let home = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let link = home.path().join("link");
    symlink(elsewhere.path(), &link).unwrap();
    assert!(
        saved(&link, &[file("a", "text/plain")])
            .unwrap_err()
            .contains("a link")
    );
    symlink(elsewhere.path(), home.path().join("out")).unwrap();
    symlink(elsewhere.path().join("new"), home.path().join("b")).unwrap();
    let error = saved(home.path(), &[file("out/a", "text/plain")]).unwrap_err();
    assert_eq!(error, "out/a is not saved: a link or a file is in its way");
    let said = saved(home.path(), &[file("b", "text/plain")]).unwrap();
    assert_eq!(said, "saved 0 files, not over what is there (b)");
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
    ] {
        assert!(harmless(&plain, bad.as_bytes()).is_err(), "{bad}");
    }
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
