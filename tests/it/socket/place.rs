//! Where the socket is made, and what prevents it.

use super::*;

#[tokio::test]
async fn folder_and_socket_are_the_users_alone_and_end_with_the_listener() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("a").join("run");
    let path = folder.join("agent.sock");
    let listener = Listener::bind(&at(&path)).await.unwrap();
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&path), 0o600);
    assert!(
        std::fs::symlink_metadata(&path)
            .unwrap()
            .file_type()
            .is_socket()
    );
    assert_eq!(listener.path(), path);
    drop(listener);
    assert!(!path.exists());
}

#[tokio::test]
async fn a_socket_that_nobody_answers_is_taken_over() {
    let (_dir, folder) = private_folder();
    let path = folder.join("agent.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    set_mode(&path, 0o600);
    // A half-made socket of a killed dashboard does not prevent it either.
    std::fs::write(folder.join("agent.sock.new"), "").unwrap();
    let _listener = Listener::bind(&at(&path)).await.unwrap();
    UnixStream::connect(&path).await.unwrap();
}

#[tokio::test]
async fn a_live_socket_is_refused_and_stays() {
    let (_dir, folder) = private_folder();
    let path = folder.join("agent.sock");
    let _first = Listener::bind(&at(&path)).await.unwrap();
    let second = Listener::bind(&at(&path)).await.unwrap_err();
    assert!(matches!(second, SocketError::Live(_)), "{second}");
    UnixStream::connect(&path).await.unwrap();

    // The socket of another program, which holds no lock.
    let path = folder.join("other.sock");
    let _other = std::os::unix::net::UnixListener::bind(&path).unwrap();
    set_mode(&path, 0o600);
    let error = Listener::bind(&at(&path)).await.unwrap_err();
    assert!(matches!(error, SocketError::Live(_)), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_simultaneous_starts_listens() {
    let (_dir, folder) = private_folder();
    let path = folder.join("agent.sock");
    let starts: Vec<_> = (0..16)
        .map(|_| {
            let config = at(&path);
            tokio::spawn(async move { Listener::bind(&config).await })
        })
        .collect();
    let mut listening = Vec::new();
    for start in starts {
        match start.await.unwrap() {
            Ok(listener) => listening.push(listener),
            Err(e) => assert!(matches!(e, SocketError::Live(_)), "{e}"),
        }
    }
    assert_eq!(listening.len(), 1);
    UnixStream::connect(&path).await.unwrap();
}

#[tokio::test]
async fn any_other_file_in_the_sockets_place_stops_the_start_by_name_and_stays() {
    type Make = fn(&Path);
    type Wanted = fn(&SocketError) -> bool;
    let cases: [(Make, Wanted); 6] = [
        (
            |p| std::fs::write(p, "keep").unwrap(),
            |e| matches!(e, SocketError::NotASocket(_)),
        ),
        (
            |p| std::fs::create_dir(p).unwrap(),
            |e| matches!(e, SocketError::Folder(_)),
        ),
        (
            |p| symlink("/nowhere", p).unwrap(),
            |e| matches!(e, SocketError::Symlink(_)),
        ),
        (
            |p| {
                let real = p.with_file_name("real.sock");
                drop(std::os::unix::net::UnixListener::bind(&real).unwrap());
                symlink(&real, p).unwrap();
            },
            |e| matches!(e, SocketError::Symlink(_)),
        ),
        (
            |p| {
                drop(std::os::unix::net::UnixListener::bind(p).unwrap());
                set_mode(p, 0o666);
            },
            |e| matches!(e, SocketError::Mode { mode: 0o666, .. }),
        ),
        (
            |p| nix::unistd::mkfifo(p, nix::sys::stat::Mode::S_IRWXU).unwrap(),
            |e| matches!(e, SocketError::NotASocket(_)),
        ),
    ];
    for (make, expected) in cases {
        let (_dir, folder) = private_folder();
        let path = folder.join("agent.sock");
        make(&path);
        let error = Listener::bind(&at(&path)).await.unwrap_err();
        assert!(expected(&error), "{error:?}");
        assert!(error.to_string().contains("agent.sock"), "{error}");
        assert!(
            std::fs::symlink_metadata(&path).is_ok(),
            "{error} removed it"
        );
    }
}

#[tokio::test]
async fn a_folder_that_is_not_the_users_alone_stops_the_start() {
    let (dir, folder) = private_folder();
    for open_to_others in [0o755, 0o770, 0o711, 0o1777, 0o777] {
        set_mode(&folder, open_to_others);
        let error = Listener::bind(&at(&folder.join("agent.sock")))
            .await
            .unwrap_err();
        assert!(
            matches!(error, SocketError::Mode { mode, .. } if mode == open_to_others),
            "{error}"
        );
        assert_eq!(
            mode(&folder),
            open_to_others,
            "the mode of a foreign folder must stay"
        );
        assert!(error.to_string().contains("chmod 700"), "{error}");
    }
    // Nobody is told to shut a folder that has something else in it, such as /tmp.
    std::fs::write(folder.join("other"), "").unwrap();
    let error = Listener::bind(&at(&folder.join("agent.sock")))
        .await
        .unwrap_err();
    assert!(!error.to_string().contains("chmod"), "{error}");
    std::fs::remove_file(folder.join("other")).unwrap();
    set_mode(&folder, 0o700);
    let link = dir.path().join("link");
    symlink(&folder, &link).unwrap();
    let error = Listener::bind(&at(&link.join("agent.sock")))
        .await
        .unwrap_err();
    assert!(matches!(error, SocketError::Symlink(_)), "{error}");
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Listener::bind(&at(&file.join("agent.sock")))
        .await
        .unwrap_err();
    assert!(matches!(error, SocketError::NotAFolder(_)), "{error}");
    let long = folder.join("x".repeat(120));
    let error = Listener::bind(&at(&long)).await.unwrap_err();
    assert!(matches!(error, SocketError::TooLong { .. }), "{error}");
}

#[tokio::test]
async fn somebody_elses_folder_or_socket_stops_the_start() {
    if !is_given_to_root(geteuid().is_root(), "root, so no file of another user") {
        return;
    }
    let (_dir, folder) = private_folder();
    let path = folder.join("agent.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    set_mode(&path, 0o600);
    std::os::unix::fs::chown(&path, Some(1), None).unwrap();
    let error = Listener::bind(&at(&path)).await.unwrap_err();
    assert!(
        matches!(error, SocketError::Owner { uid: 1, .. }),
        "{error}"
    );
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::chown(&folder, Some(1), None).unwrap();
    let error = Listener::bind(&at(&path)).await.unwrap_err();
    assert!(
        matches!(error, SocketError::Owner { uid: 1, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn the_group_of_allowed_uids_reaches_the_socket_and_nothing_else() {
    let (_dir, folder) = private_folder();
    let path = folder.join("agent.sock");
    let group = nix::unistd::Group::from_gid(getegid())
        .unwrap()
        .map(|g| g.name);
    let shared = SocketConfig {
        path: path.clone(),
        allow_uids: vec![65_534],
        group,
    };
    let listener = Listener::bind(&shared).await.unwrap();
    assert_eq!((mode(&folder), mode(&path)), (0o710, 0o660));
    assert_eq!(std::fs::metadata(&path).unwrap().gid(), getegid().as_raw());
    drop(listener);
    // The modes are restored when nobody else is allowed any more.
    let _listener = Listener::bind(&at(&path)).await.unwrap();
    assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
}

#[tokio::test]
async fn a_folder_with_other_files_is_not_opened_to_a_group() {
    let (_dir, folder) = private_folder();
    std::fs::write(folder.join("diary"), "").unwrap();
    let shared = SocketConfig {
        path: folder.join("agent.sock"),
        allow_uids: vec![65_534],
        group: None,
    };
    let error = Listener::bind(&shared).await.unwrap_err();
    assert!(matches!(error, SocketError::Mode { .. }), "{error}");
    assert_eq!(mode(&folder), 0o700);
    let unknown = SocketConfig {
        path: folder.join("sub").join("agent.sock"),
        allow_uids: vec![65_534],
        group: Some("no-such-group".to_owned()),
    };
    let error = Listener::bind(&unknown).await.unwrap_err();
    assert!(matches!(error, SocketError::NoGroup(_)), "{error}");
}

#[tokio::test]
async fn a_socket_that_replaced_ours_is_not_removed_at_the_end() {
    let (_dir, folder) = private_folder();
    let path = folder.join("agent.sock");
    let listener = Listener::bind(&at(&path)).await.unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "another's").unwrap();
    drop(listener);
    assert!(path.exists());
}
