//! The JSON-RPC 2.0 envelope of a request: version, id, method and params, without their meaning.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::broker::RpcError;

use crate::model::json;

/// Bytes of an id's JSON text. Every answer repeats the id, so it must be much shorter than a
/// frame.
const ID_MAX: usize = 1024;

/// A request's id, exactly as it was written: `1`, `1.0`, `"a"` or `null`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Id(Box<str>);

impl Id {
    /// The id of an answer when the request's id could not be read.
    pub fn null() -> Self {
        Self("null".into())
    }

    /// The id as JSON text.
    pub fn as_json(&self) -> &str {
        &self.0
    }

    fn read(raw: &str) -> Result<Self, String> {
        if raw.len() > ID_MAX {
            return Err(format!("`id` is longer than {ID_MAX} bytes"));
        }
        let kind = raw.as_bytes().first().copied().unwrap_or_default();
        let fine = match kind {
            b'"' => serde_json::from_str::<String>(raw).is_ok(),
            b'-' | b'0'..=b'9' => true,
            _ => raw == "null",
        };
        if fine {
            Ok(Self(raw.into()))
        } else {
            Err("`id` must be a string, a number or null".to_owned())
        }
    }
}

/// A well-formed request or notification.
#[derive(Debug, PartialEq)]
pub(super) struct Envelope {
    pub method: String,
    /// The params object; empty if there was none.
    pub params: Result<Map<String, Value>, RpcError>,
}

/// A line, split into id and call.
#[derive(Debug, PartialEq)]
pub(super) struct Decoded {
    /// The id to answer; `None` for a notification, which is not answered.
    pub id: Option<Id>,
    pub call: Result<Envelope, RpcError>,
}

/// Decodes a line. Never fails: an invalid line becomes the error that answers it.
pub(super) fn decode(line: &[u8]) -> Decoded {
    let refuse = |error| Decoded {
        id: Some(Id::null()),
        call: Err(error),
    };
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(e) => {
            return refuse(
                RpcError::new(
                    RpcError::PARSE,
                    format!(
                        "not UTF-8: the first bad byte is at offset {}",
                        e.valid_up_to()
                    ),
                )
                .with_data(json!({"expected": "one JSON-RPC 2.0 object a line, in UTF-8"})),
            );
        }
    };
    match serde_json::from_str::<Members<'_>>(text) {
        Ok(members) => members.into_decoded(),
        Err(e) => refuse(malformed(text, &e)),
    }
}

fn malformed(text: &str, error: &serde_json::Error) -> RpcError {
    let accepted = json!({
        "expected": {"jsonrpc": "2.0", "id": "string or number", "method": "…", "params": {}}
    });
    // The text after a value of the wrong type was not checked yet.
    let valid = error.is_data() && serde_json::from_str::<IgnoredAny>(text).is_ok();
    if !valid {
        let what = if text.trim_ascii().is_empty() {
            "an empty line".to_owned()
        } else {
            error.to_string()
        };
        return RpcError::new(RpcError::PARSE, format!("not JSON: {what}")).with_data(accepted);
    }
    let what = if text.trim_ascii_start().starts_with('[') {
        "a batch; send each request as a line of its own"
    } else {
        "not an object"
    };
    RpcError::new(RpcError::INVALID_REQUEST, format!("not a request: {what}")).with_data(accepted)
}

/// The top-level members that have a meaning. Others are ignored.
#[derive(Default)]
struct Members<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    repeated: Option<&'static str>,
}

impl<'de: 'a, 'a> serde::Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_map(Object)
    }
}

struct Object;

impl<'de> Visitor<'de> for Object {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC 2.0 object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut members = Members::default();
        while let Some(key) = entries.next_key::<Cow<'de, str>>()? {
            let (slot, name) = match key.as_ref() {
                "jsonrpc" => (&mut members.jsonrpc, "jsonrpc"),
                "id" => (&mut members.id, "id"),
                "method" => (&mut members.method, "method"),
                "params" => (&mut members.params, "params"),
                _ => {
                    entries.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let value = entries.next_value::<&'de RawValue>()?;
            if slot.replace(value).is_some() {
                members.repeated = Some(name);
            }
        }
        Ok(members)
    }
}

impl Members<'_> {
    fn into_decoded(self) -> Decoded {
        let invalid = |message: String, accepted: Value| {
            RpcError::new(RpcError::INVALID_REQUEST, message)
                .with_data(json!({"expected": accepted}))
        };
        let id = match self.id.map(|raw| Id::read(raw.get())) {
            // With two ids it is unclear which one to answer, so the answer has `null`.
            _ if self.repeated == Some("id") => Ok(Some(Id::null())),
            None => Ok(None),
            Some(Ok(id)) => Ok(Some(id)),
            Some(Err(message)) => Err(message),
        };
        let id = match id {
            Ok(id) => id,
            Err(message) => {
                return Decoded {
                    id: Some(Id::null()),
                    call: Err(invalid(message, json!({"id": "string or number"}))),
                };
            }
        };
        // An invalid request is answered even without an id: it need not have been meant as a
        // notification.
        let refuse = |message: String, accepted: Value| Decoded {
            id: Some(id.clone().unwrap_or_else(Id::null)),
            call: Err(invalid(message, accepted)),
        };
        if let Some(name) = self.repeated {
            return refuse(format!("`{name}` stands twice"), json!("each member once"));
        }
        let text = |raw: Option<&RawValue>| {
            raw.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok())
        };
        if text(self.jsonrpc).as_deref() != Some("2.0") {
            return refuse(
                "`jsonrpc` must be \"2.0\"".to_owned(),
                json!({"jsonrpc": "2.0"}),
            );
        }
        let Some(method) = text(self.method) else {
            return refuse(
                "`method` must be a string".to_owned(),
                json!({"method": "string"}),
            );
        };
        let params = match self.params.map(RawValue::get) {
            None | Some("null") => Ok(Map::new()),
            Some(raw) => params(raw),
        };
        Decoded {
            id,
            call: Ok(Envelope { method, params }),
        }
    }
}

fn params(raw: &str) -> Result<Map<String, Value>, RpcError> {
    let invalid = |message: String| {
        RpcError::new(RpcError::INVALID_PARAMS, message)
            .with_data(json!({"expected": "an object of named params"}))
    };
    if raw.starts_with('[') {
        return Err(invalid(
            "params by position; name them, as in {\"id\": …}".to_owned(),
        ));
    }
    match json::parse(raw) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(invalid("`params` must be an object".to_owned())),
        Err(json::Refused::TooLong(number)) => Err(RpcError::new(
            RpcError::INVALID_PARAMS,
            format!("params: {number} is a whole number beyond 64 bits"),
        )
        .with_data(json!({"expected": "a number up to 18446744073709551615, or text"}))),
        Err(json::Refused::Wrong(e)) => Err(invalid(format!("params: {e}"))),
        Err(json::Refused::TooMany) => Err(RpcError::new(
            RpcError::TOO_LARGE,
            format!("params: more than {} values", json::VALUES_MAX),
        )
        .with_data(json!({
            "limit_values": json::VALUES_MAX,
            "expected": "a large table as {text, format}",
        }))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_and_code(line: &[u8]) -> (Option<String>, i64) {
        let decoded = decode(line);
        let id = decoded.id.map(|id| id.as_json().to_owned());
        let code = match decoded.call {
            Ok(envelope) => envelope.params.err().map_or(0, |e| e.code),
            Err(error) => error.code,
        };
        (id, code)
    }

    fn expected(id: &str, code: i64) -> (Option<String>, i64) {
        (Some(id.to_owned()), code)
    }

    #[test]
    fn ids_come_back_exactly_as_they_were_written() {
        for id in [
            "1",
            "-1",
            "1.0",
            "1e5",
            "123456789012345678901234567890",
            "0.10",
            "\"\"",
            r#""a\u0062\n""#,
            "null",
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id": {id} ,"method":"x"}}"#);
            assert_eq!(id_and_code(line.as_bytes()), expected(id, 0), "{id}");
        }
    }

    #[test]
    fn an_invalid_or_overlong_id_is_refused_with_null() {
        let huge = format!("\"{}\"", "i".repeat(100_000));
        let digits = "9".repeat(5_000);
        for id in [
            "{}",
            "[1]",
            "true",
            huge.as_str(),
            digits.as_str(),
            r#""\ud800""#,
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#);
            assert_eq!(
                id_and_code(line.as_bytes()),
                expected("null", RpcError::INVALID_REQUEST)
            );
        }
    }

    #[test]
    fn invalid_json_is_a_parse_error() {
        let deep = "[".repeat(100_000);
        for broken in [
            "",
            " ",
            "{",
            "{nonsense",
            "nonsense",
            "[1,",
            "[nonsense]",
            "{} x",
            "\"\\q\"",
            "{\"a\":}",
            "\u{feff}{}",
            deep.as_str(),
            "{'a':1}",
            "{\"a\":\"\0\"}",
        ] {
            assert_eq!(
                id_and_code(broken.as_bytes()),
                expected("null", RpcError::PARSE),
                "{broken:.20}"
            );
        }
        assert_eq!(
            id_and_code(b"{\"a\":\"\xff\"}"),
            expected("null", RpcError::PARSE)
        );
        assert_eq!(id_and_code(b"\0"), expected("null", RpcError::PARSE));
    }

    #[test]
    fn json_that_is_no_request_is_an_invalid_request() {
        for text in [
            "[]",
            r#"[{"jsonrpc":"2.0","id":1,"method":"hello"}]"#,
            "1",
            "null",
            "\"x\"",
            "{}",
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"method":"hello"}"#,
        ] {
            let (id, code) = id_and_code(text.as_bytes());
            assert_eq!(
                (id.as_deref(), code),
                (Some("null"), RpcError::INVALID_REQUEST),
                "{text}"
            );
        }
    }

    #[test]
    fn an_invalid_request_keeps_the_id_that_could_be_read() {
        for text in [
            r#"{"id":7,"method":"hello"}"#,
            r#"{"jsonrpc":"1.0","id":7,"method":"hello"}"#,
            r#"{"jsonrpc":2.0,"id":7,"method":"hello"}"#,
            r#"{"jsonrpc":"2.0","id":7}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":1}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"a","method":"b"}"#,
        ] {
            assert_eq!(
                id_and_code(text.as_bytes()),
                expected("7", RpcError::INVALID_REQUEST),
                "{text}"
            );
        }
        let twice = br#"{"jsonrpc":"2.0","id":7,"id":8,"method":"a"}"#;
        assert_eq!(
            id_and_code(twice),
            expected("null", RpcError::INVALID_REQUEST)
        );
    }

    #[test]
    fn params_are_named_and_unique() {
        for text in [
            "[]",
            "[1]",
            "1",
            "\"x\"",
            r#"{"a":1,"a":2}"#,
            r#"{"a":{"b":1,"b":2}}"#,
            r#"{"a":"\ud800"}"#,
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{text}}}"#);
            assert_eq!(
                id_and_code(line.as_bytes()),
                expected("1", RpcError::INVALID_PARAMS),
                "{text}"
            );
        }
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{}{}}}}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert_eq!(
            id_and_code(deep.as_bytes()),
            expected("1", RpcError::INVALID_PARAMS)
        );
        let none = br#"{"jsonrpc":"2.0","id":1,"method":"x","params":null}"#;
        assert_eq!(id_and_code(none), expected("1", 0));
    }

    proptest::proptest! {
        #[test]
        fn no_line_whatsoever_goes_unanswered_or_breaks_the_reader(line: Vec<u8>) {
            let decoded = decode(&line);
            // Only a well-formed notification has no id.
            proptest::prop_assert!(decoded.id.is_some() || decoded.call.is_ok());
        }

        #[test]
        fn no_request_breaks_the_reader(
            id in "[0-9]{1,30}|\"[^\"\\\\]{0,20}\"|[a-z\\[{]{0,4}",
            method in "hello|propose|wait|status|withdraw|check|datasets|artifact|.{0,9}",
            params in "\\{(\"(code|id|inputs|agent|ttl_s|x)\":(1|-1|\"a\"|null|\\{\\}|\\[\\]|true),?){0,3}\\}|.{0,20}",
        ) {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
            let decoded = decode(line.as_bytes());
            proptest::prop_assert!(decoded.id.is_some());
            if let Ok(envelope) = decoded.call {
                let answer = crate::ipc::request::decode(envelope);
                if let Err(error) = answer {
                    proptest::prop_assert!(!error.data.is_null(), "{error:?}");
                }
            }
        }
    }

    #[test]
    fn a_request_without_an_id_is_a_notification() {
        let decoded = decode(br#"{"jsonrpc":"2.0","method":"x"}"#);
        assert_eq!(decoded.id, None);
        assert!(decoded.call.is_ok());
    }
}
