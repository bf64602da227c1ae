use super::*;

fn ask(method: &str, params: Value) -> Result<Request, RpcError> {
    let Value::Object(params) = params else {
        panic!("params are an object");
    };
    decode(Envelope {
        method: method.to_owned(),
        params: Ok(params),
    })
}

fn refused(method: &str, params: Value) -> RpcError {
    ask(method, params.clone()).expect_err(&format!("{method} {params}"))
}

fn draft(params: Value) -> Draft {
    match ask("propose", params).unwrap() {
        Request::Propose { draft, .. } => *draft,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_proposal_keeps_every_field_it_came_with() {
    let title = "\u{1b}[31m".repeat(2_000);
    assert_eq!(title.len(), 10_000);
    let proposal = draft(json!({
        "code": "print(1)\0\r\n", "profile": "analysis", "title": title, "reason": "why",
        "agent": {"name": "etl", "version": "2", "session": "s", "model": "m"},
        "inputs": {
            "a": {"dataset": "sales"}, "b": {"json": null}, "c": {"json": {"x": [1, 2]}},
            "d": {"text": "a,b\n", "format": "csv"},
        },
        "ttl_s": 5, "stream": true, "idempotency_key": "k",
        "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    }));
    assert_eq!(&*proposal.code, "print(1)\0\r\n");
    assert_eq!(proposal.title.unwrap(), title);
    assert_eq!(proposal.agent.unwrap().model.unwrap(), "m");
    assert_eq!(proposal.inputs.len(), 4);
    assert_eq!(
        proposal.inputs["b"],
        InputRequest::Json { json: Value::Null }
    );
    assert_eq!((proposal.ttl_s, proposal.stream), (Some(5), true));
    assert_eq!(proposal.idempotency_key.unwrap(), "k");
    assert!(proposal.traceparent.unwrap().ends_with("902b7-01"));
}

#[test]
fn code_alone_is_a_proposal_and_null_counts_as_absent() {
    assert_eq!(&*draft(json!({"code": ""})).code, "");
    let proposal = draft(json!({"code": "x", "title": null, "ttl_s": null, "inputs": null}));
    assert_eq!(
        (proposal.title, proposal.ttl_s, proposal.inputs.len()),
        (None, None, 0)
    );
}

#[test]
fn code_is_accepted_at_64_kib_and_refused_above() {
    for method in ["propose", "check"] {
        assert!(ask(method, json!({"code": "#".repeat(65_536)})).is_ok());
        let error = refused(method, json!({"code": "#".repeat(65_537)}));
        assert_eq!(error.code, RpcError::TOO_LARGE);
        assert_eq!(error.data["limit_bytes"], 65_536);
        // The limit counts bytes, not characters.
        assert_eq!(
            refused(method, json!({"code": "é".repeat(32_769)})).code,
            RpcError::TOO_LARGE
        );
    }
}

#[test]
fn a_misspelt_field_is_refused_with_the_nearest_name() {
    for (method, params, near) in [
        ("propose", json!({"code": "x", "titel": "t"}), "title"),
        ("propose", json!({"code": "x", "ttl": 1}), "ttl_s"),
        ("wait", json!({"id": "x", "timeout": 1}), "timeout_s"),
        ("check", json!({"code": "x", "profil": "y"}), "profile"),
    ] {
        let error = refused(method, params);
        assert_eq!(error.code, RpcError::INVALID_PARAMS);
        assert_eq!(error.data["nearest"], near, "{error:?}");
        assert!(error.message.contains(near), "{error:?}");
    }
    let nested = refused(
        "propose",
        json!({"code": "x", "agent": {"name": "a", "modle": "m"}}),
    );
    assert!(nested.message.contains("agent.modle"), "{nested:?}");
}

#[test]
fn fields_of_a_newer_protocol_are_ignored() {
    let proposal = draft(json!({
        "code": "x", "priority": 3, "profile_version": 2, "sandbox": {"network": true},
        "agent": {"name": "a", "homepage": "h"},
        "inputs": {"d": {"dataset": "sales"}},
    }));
    assert_eq!(
        proposal,
        draft(json!({
            "code": "x", "agent": {"name": "a"}, "inputs": {"d": {"dataset": "sales"}},
        }))
    );
    assert!(ask("datasets", json!({"page": 2})).is_ok());
    // An input is still exactly one of the kinds that are known here.
    assert!(
        ask(
            "propose",
            json!({"code": "x", "inputs": {"d": {"url": "u"}}})
        )
        .is_err()
    );
    let many = |n: usize| {
        (0..n)
            .map(|i| (format!("x{i}"), json!(1)))
            .collect::<Map<_, _>>()
    };
    assert!(ask("datasets", Value::Object(many(64))).is_ok());
    let error = refused("datasets", Value::Object(many(65)));
    assert!(error.message.contains("65 unknown fields"), "{error:?}");
}

#[test]
fn another_version_of_the_protocol_is_told_which_ones_are_spoken() {
    assert!(ask("hello", json!({"protocol": 1})).is_ok());
    assert!(ask("hello", json!({})).is_ok());
    for other in [json!(0), json!(2), json!("1"), json!(1.5), json!([1])] {
        let error = refused("hello", json!({"protocol": other}));
        assert_eq!(error.code, RpcError::INVALID_PARAMS);
        assert_eq!(error.data["protocols"], json!([1]), "{error:?}");
    }
}

#[test]
fn a_wrong_type_is_refused_by_name_with_the_expected_type() {
    for (params, name) in [
        (json!({}), "code"),
        (json!({"code": 1}), "code"),
        (json!({"code": null}), "code"),
        (json!({"code": ["x"]}), "code"),
        (json!({"code": "x", "title": 1}), "title"),
        (json!({"code": "x", "agent": "etl"}), "agent"),
        (json!({"code": "x", "agent": {}}), "agent.name"),
        (json!({"code": "x", "ttl_s": 0}), "ttl_s"),
        (json!({"code": "x", "ttl_s": -1}), "ttl_s"),
        (json!({"code": "x", "ttl_s": 1.5}), "ttl_s"),
        (json!({"code": "x", "ttl_s": "1"}), "ttl_s"),
        (json!({"code": "x", "stream": 1}), "stream"),
        (json!({"code": "x", "inputs": []}), "inputs"),
        (
            json!({"code": "x", "idempotency_key": ""}),
            "idempotency_key",
        ),
        (json!({"code": "x", "inputs": {"a": 1}}), "inputs.a"),
        (json!({"code": "x", "inputs": {"a": {}}}), "inputs.a"),
        (
            json!({"code": "x", "inputs": {"a": {"path": "/etc/passwd"}}}),
            "inputs.a.path",
        ),
        (
            json!({"code": "x", "inputs": {"a": {"dataset": "d", "json": 1}}}),
            "inputs.a",
        ),
        (
            json!({"code": "x", "inputs": {"a": {"dataset": null}}}),
            "inputs.a.dataset",
        ),
        (
            json!({"code": "x", "inputs": {"a": {"text": "t"}}}),
            "inputs.a.format",
        ),
        (
            json!({"code": "x", "inputs": {"a": {"text": "t", "format": "xls"}}}),
            "inputs.a.format",
        ),
        (
            json!({"code": "x", "inputs": {"a": {"json": 1, "format": "csv"}}}),
            "inputs.a.format",
        ),
    ] {
        let error = refused("propose", params);
        assert_eq!(error.code, RpcError::INVALID_PARAMS, "{error:?}");
        assert!(
            error.message.contains(&format!("`{name}`")),
            "{name}: {error:?}"
        );
    }
}

#[test]
fn an_input_cannot_have_a_name_that_python_could_not_read() {
    for name in ["", "a-b", "2", "class", "__builtins__", "é", "a\u{202e}"] {
        let error = refused(
            "propose",
            json!({"code": "x", "inputs": {name: {"json": 1}}}),
        );
        assert_eq!(error.code, RpcError::INVALID_PARAMS);
    }
    let many: Map<String, Value> = (0..65)
        .map(|i| (format!("i{i}"), json!({"json": 1})))
        .collect();
    let error = refused("propose", json!({"code": "x", "inputs": many}));
    assert_eq!(error.data["limit_inputs"], 64);
}

#[test]
fn no_method_decides_and_the_error_lists_the_methods() {
    for method in [
        "grant",
        "approve",
        "decide",
        "deny",
        "allow",
        "Propose",
        "propose ",
        "",
        "artifacts",
        "rpc.discover",
    ] {
        let error = refused(method, json!({}));
        assert_eq!(error.code, RpcError::METHOD_NOT_FOUND, "{method}");
        assert_eq!(error.data["methods"], json!(METHODS));
    }
    let long = refused(&"x\u{1b}".repeat(100_000), json!({}));
    assert!(long.message.len() < 1_000 && !long.message.contains('\u{1b}'));
}

#[test]
fn an_unknown_method_is_reported_before_its_params_are_judged() {
    let request = decode(Envelope {
        method: "grant".to_owned(),
        params: Err(invalid("by position")),
    });
    assert_eq!(request.unwrap_err().code, RpcError::METHOD_NOT_FOUND);
}

#[test]
fn an_id_that_was_never_issued_is_unknown() {
    for method in ["wait", "status", "withdraw"] {
        assert_eq!(
            refused(method, json!({"id": "nope"})).code,
            RpcError::UNKNOWN_ID
        );
        assert_eq!(
            refused(method, json!({"id": 1})).code,
            RpcError::INVALID_PARAMS
        );
        assert_eq!(refused(method, json!({})).code, RpcError::INVALID_PARAMS);
    }
}

#[test]
fn any_wait_that_is_a_number_of_seconds_is_bounded() {
    let id = ProposalId::new();
    for (given, expected) in [
        (json!(0), Some(Duration::ZERO)),
        (json!(0.5), Some(Duration::from_millis(500))),
        (json!(1e300), Some(WAIT_MAX)),
        (json!(null), None),
    ] {
        let request = ask("wait", json!({"id": id.to_string(), "timeout_s": given}));
        assert_eq!(
            request.unwrap(),
            Request::Wait {
                id,
                timeout: expected
            }
        );
    }
    for timeout in [json!(-1), json!("1"), json!(true)] {
        let error = refused("wait", json!({"id": id.to_string(), "timeout_s": timeout}));
        assert_eq!(error.code, RpcError::INVALID_PARAMS);
    }
}

#[test]
fn a_session_token_is_fresh_each_time() {
    let fresh = || match ask("hello", json!({"protocol": 1, "session": "old"})).unwrap() {
        Request::Hello { fresh, resume, .. } => {
            assert_eq!(resume.as_deref(), Some("old"));
            fresh
        }
        other => panic!("{other:?}"),
    };
    let (a, b) = (fresh(), fresh());
    assert_eq!((a.len(), b.len()), (64, 64));
    assert_ne!(a, b);
    assert_eq!(
        refused("hello", json!({"protocol": 2})).data["protocols"],
        json!([1])
    );
}
