//! The table of formats, continued: headers, addresses and files that carry a secret in a known place.

use super::assign::is_random;
use super::formats::{
    Row, any, is_jwt, is_key_of_64, is_mixed, is_mixed_case, is_no_template, row,
};

pub(super) const CARRIERS: &[Row] = &[
    row(
        "google-oauth-secret",
        "trufflehog: googleoauth2; developers.google.com: OAuth 2.0",
        &["gocspx-", "ya29."],
        r"(GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{20,480})",
        any,
    ),
    row(
        "google-service-account",
        "cloud.google.com: service account keys",
        &["private_key_id"],
        r#"private_key_id\\?["']?\s{0,4}:\s{0,4}\\?["']([0-9a-f]{40})\\?["']"#,
        any,
    ),
    // Discord's pages: the user's number in base64, a time, a signature.
    row(
        "discord-token",
        "docs.discord.com: authentication",
        &["."],
        r"(?:^|[^A-Za-z0-9_.-])([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38})(?:[^A-Za-z0-9_.-]|$)",
        is_mixed_case,
    ),
    row(
        "discord-webhook",
        "discord.com: webhooks",
        &["/api/webhooks/"],
        r"discord(?:app)?\.com/api/webhooks/([0-9]{15,20}/[A-Za-z0-9_-]{60,80})",
        any,
    ),
    row(
        "aws-secret-key",
        "docs.aws.amazon.com: access keys",
        &["secret"],
        r#"(?i)(?:aws[a-z0-9_.-]{0,20}secret|secret_?access)[a-z0-9_.-]{0,20}\\?["']?\]?\s{0,4}(?:=>|=|:|,)\s{0,4}\\?["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
        is_mixed,
    ),
    row(
        "azure-key",
        "learn.microsoft.com: connection strings of storage and service bus",
        &["accountkey=", "sharedaccesskey="],
        r"(?i)\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{43,88}={0,2})(?:[^A-Za-z0-9+/=]|$)",
        any,
    ),
    // The 64 bytes of a storage account's key, without a name. Text and pictures have other bytes.
    row(
        "azure-key",
        "learn.microsoft.com: connection strings of storage and service bus",
        &["=="],
        r"(?:^|[^A-Za-z0-9+/=])([A-Za-z0-9+/]{86}==)(?:[^A-Za-z0-9+/=]|$)",
        is_key_of_64,
    ),
    // Signed addresses: Azure's `sig`, Amazon's and Google's `Signature`.
    row(
        "azure-signature",
        "learn.microsoft.com: shared access signatures",
        &["sig="],
        r"[?&;]sig=([A-Za-z0-9%+/_-]{40,100}={0,2})",
        is_mixed,
    ),
    row(
        "signed-address",
        "docs.aws.amazon.com, cloud.google.com: signed URLs",
        &["signature="],
        r"(?i)[?&]x-(?:amz|goog)-signature=([a-f0-9]{64,512})",
        any,
    ),
    row(
        "jwt",
        "RFC 7515 and 7519",
        &["eyj"],
        r"(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{20,})",
        is_jwt,
    ),
    // RFC 7517 and 7518: the private members of a key.
    row(
        "jwk",
        "RFC 7517 and 7518",
        &["kty"],
        r#"\\?["'](?:d|p|q|dp|dq|qi|k)\\?["']\s{0,4}:\s{0,4}\\?["']([A-Za-z0-9_-]{20,1400})\\?["']"#,
        any,
    ),
    row(
        "bearer-token",
        "RFC 6750",
        &["bearer"],
        r"(?i)\bbearer\s{1,4}([A-Za-z0-9._~+/-]{20,480}={0,2})",
        is_random,
    ),
    row(
        "cookie",
        "RFC 6265",
        &["cookie"],
        r#"(?i)\b(?:set-)?cookie\\?["']?\s{0,4}:\s{0,4}\\?["']?([^\s"'=;,]{1,64}=[^\s"';,]{8,400}(?:;\s{0,4}[^\s"'=;,]{1,64}=[^\s"';,]{1,200}){0,4})"#,
        any,
    ),
    row(
        "url-password",
        "RFC 3986: userinfo",
        &["://"],
        r#"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s:/@"'<>?#]{0,100}:([^\s/"'<>?#]{1,200})@[A-Za-z0-9\[{]"#,
        is_no_template,
    ),
    // A token in the place of a name: `https://TOKEN@host`.
    row(
        "url-password",
        "RFC 3986: userinfo",
        &["://"],
        r#"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://([^\s:/@"'<>?#]{12,200})@[A-Za-z0-9\[{]"#,
        is_random,
    ),
    // Oracle's addresses have a name and a password of another form.
    row(
        "url-password",
        "docs.oracle.com: JDBC thin URLs",
        &["jdbc:oracle:"],
        r#"jdbc:oracle:[a-z]{2,5}:[^\s/@]{1,64}/([^\s/@"']{3,100})@"#,
        is_no_template,
    ),
    // `.pgpass`: host, port, data base, user, password.
    row(
        "password",
        "postgresql.org: the password file",
        &[":543", ":6432:", ":*:"],
        r#"(?m)^[ \t#]{0,8}[A-Za-z0-9_.*\\:-]{1,100}:(?:543[0-9]|6432|\*):[^:\s]{1,64}:[^:\s]{1,64}:([^\s\"']{4,200})\r?$"#,
        is_no_template,
    ),
];
