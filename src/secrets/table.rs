//! The table of formats: prefixes, letters and lengths of what issuers hand out.
//!
//! They are facts that the issuers publish. Most are collected in the rules of gitleaks (`config/gitleaks.toml`, July 2026),
//! against which this table was compared by the names of the rules; the rest names its source. No expression is theirs.

use super::assign::is_random;
use super::formats::{
    Row, any, is_jwt, is_key_of_64, is_mixed, is_mixed_case, is_no_template, row,
};

pub(super) const TABLE: &[Row] = &[
    // Gitleaks has all of these.
    // Words in capitals go on where a key ends.
    row(
        "aws-access-key",
        &["akia", "asia", "abia", "acca", "a3t"],
        r"((?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b",
        any,
    ),
    row(
        "aws-access-key",
        &["akia", "asia", "abia", "acca", "a3t"],
        r"((?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})",
        is_mixed,
    ),
    row(
        "aws-bedrock-key",
        &["absk", "bedrock-api-key-"],
        r"(ABSK[A-Za-z0-9+/]{109,269}={0,2}|bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/=_-]{0,440})",
        any,
    ),
    row(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"((?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}))",
        any,
    ),
    row(
        "gitlab-token",
        &[
            "glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "gloas-", "glsoat-", "glft-", "glimt-",
            "glagent-", "glffct-",
        ],
        r"(gl(?:pat|rt)-[A-Za-z0-9_-]{27,300}\.[0-9a-z]{2}\.?[0-9a-z]{7,9}|gl(?:pat|ptt|dt|rt|cbt|oas|soat|ft|imt|agent|ffct)-[A-Za-z0-9_-]{20,64})",
        is_mixed,
    ),
    row(
        "gitlab-token",
        &["gr1348941", "_gitlab_session="],
        r"(GR1348941[A-Za-z0-9_-]{20})",
        any,
    ),
    row(
        "gitlab-token",
        &["_gitlab_session="],
        r"_gitlab_session=([0-9a-z]{32})",
        any,
    ),
    row(
        "slack-token",
        &[
            "xoxb-", "xoxp-", "xoxa-", "xoxe", "xoxr-", "xoxs-", "xoxo-", "xapp-",
        ],
        r"((?:xox[abeoprs](?:\.xox[bp])?|xapp)-[0-9A-Za-z-]{15,250})",
        is_mixed,
    ),
    row(
        "slack-webhook",
        &["hooks.slack.com"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{43,80})",
        any,
    ),
    row(
        "teams-webhook",
        &["webhook.office.com"],
        r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{60,200}(?:/IncomingWebhook/[A-Za-z0-9/-]{20,100})?)",
        any,
    ),
    row(
        "anthropic-key",
        &["sk-ant-"],
        r"(sk-ant-[a-z]{2,6}[0-9]{2}-[A-Za-z0-9_-]{80,120})",
        any,
    ),
    row(
        "openai-key",
        &["t3blbkfj"],
        r"(sk-(?:[a-z]{2,10}-)?[A-Za-z0-9_-]{20,120}T3BlbkFJ[A-Za-z0-9_-]{20,120})",
        any,
    ),
    row(
        "sk-key",
        &["sk-"],
        r"\b(sk-[A-Za-z0-9_-]{32,250})",
        is_random,
    ),
    row("google-api-key", &["aiza"], r"(AIza[A-Za-z0-9_-]{35})", any),
    row(
        "stripe-key",
        &[
            "sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", "whsec_",
        ],
        r"((?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,99}|whsec_[A-Za-z0-9+/]{32,64}))",
        is_mixed,
    ),
    row(
        "azure-client-secret",
        &["q~"],
        r"(?:^|[^A-Za-z0-9_~.-])([A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})(?:[^A-Za-z0-9_~.-]|$)",
        any,
    ),
    row("npm-token", &["npm_"], r"(npm_[A-Za-z0-9]{36})", any),
    row(
        "pypi-token",
        &["pypi-ageichlwa", "pypi-agendgv"],
        r"(pypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZ)[A-Za-z0-9_-]{50,480})",
        any,
    ),
    row(
        "huggingface-token",
        &["hf_", "api_org_"],
        r"((?:hf_|api_org_)[A-Za-z0-9]{34,40})",
        any,
    ),
    row(
        "sendgrid-key",
        &["sg."],
        r"(SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})",
        any,
    ),
    row("twilio-key", &["sk"], r"\b(SK[0-9a-f]{32})", any),
    row(
        "digitalocean-token",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        r"(do[por]_v1_[a-f0-9]{64})",
        any,
    ),
    row(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        r"(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})",
        any,
    ),
    row(
        "databricks-token",
        &["dapi"],
        r"(dapi[a-f0-9]{32}(?:-[0-9])?)",
        any,
    ),
    row(
        "vault-token",
        &["hvs.", "hvb.", "hvr."],
        r"\b(hv[sbr]\.[A-Za-z0-9_-]{24,300})",
        is_mixed,
    ),
    row(
        "vault-token",
        &["s."],
        r"(?:^|[^A-Za-z0-9_.\])])(s\.[A-Za-z0-9]{24})(?:[^A-Za-z0-9_.(]|$)",
        is_mixed_case,
    ),
    row(
        "doppler-token",
        &[
            "dp.pt.",
            "dp.st.",
            "dp.ct.",
            "dp.sa.",
            "dp.scim.",
            "dp.audit.",
        ],
        r"\b(dp\.(?:pt|ct|sa|scim|audit|st(?:\.[a-z0-9_-]{2,35})?)\.[A-Za-z0-9]{40,44})",
        any,
    ),
    row(
        "linear-key",
        &["lin_api_", "lin_oauth_"],
        r"(lin_(?:api|oauth)_[A-Za-z0-9]{40,64})",
        any,
    ),
    row("mailgun-key", &["key-"], r"\b(key-[a-f0-9]{32})\b", any),
    row(
        "mailchimp-key",
        &["-us"],
        r"\b([a-f0-9]{32}-us[0-9]{1,2})\b",
        any,
    ),
    row(
        "square-token",
        &["sq0atp-", "sq0csp-", "sq0idp-", "eaaa"],
        r"(sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,60})",
        any,
    ),
    row(
        "square-token",
        &["eaaa"],
        r"\b(EAAA[A-Za-z0-9_-]{22,60})",
        is_mixed_case,
    ),
    row(
        "facebook-token",
        &["eaac", "eaam", "eaab"],
        r"\b(EAA[A-Z][A-Za-z0-9]{100,480})",
        is_mixed,
    ),
    row(
        "telegram-token",
        &[":aa"],
        r"(?:^|[^0-9])([0-9]{6,16}:AA[A-Za-z0-9_-]{32,33})(?:[^A-Za-z0-9_-]|$)",
        any,
    ),
    row(
        "1password-key",
        &["a3-", "ops_eyj"],
        r"(A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}|ops_eyJ[A-Za-z0-9+/]{250,1400}={0,3})",
        any,
    ),
    row("adobe-secret", &["p8e-"], r"\b(p8e-[A-Za-z0-9]{32})", any),
    row(
        "age-key",
        &["age-secret-key-"],
        r"(AGE-SECRET-KEY-(?:PQ-)?1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58})",
        any,
    ),
    row(
        "airtable-token",
        &["pat"],
        r"\b(pat[A-Za-z0-9]{14}\.[a-f0-9]{64})",
        any,
    ),
    row(
        "alibaba-key",
        &["ltai"],
        r"\b(LTAI[A-Za-z0-9]{12,20})\b",
        is_mixed,
    ),
    row(
        "artifactory-key",
        &["akcp", "cmvmd"],
        r"\b(AKCp[A-Za-z0-9]{69}|cmVmd[A-Za-z0-9]{59})\b",
        any,
    ),
    row(
        "atlassian-token",
        &["atatt3", "atctt3"],
        r"(AT[AC]TT3[A-Za-z0-9_=-]{100,220})",
        any,
    ),
    row(
        "clickhouse-key",
        &["4b1d"],
        r"\b(4b1d[A-Za-z0-9]{38})\b",
        is_mixed_case,
    ),
    row(
        "clojars-token",
        &["clojars_"],
        r"((?i:CLOJARS)_[a-z0-9]{60})",
        any,
    ),
    row(
        "cloudflare-key",
        &["v1.0-"],
        r"(v1\.0-[a-f0-9]{24}-[a-f0-9]{146})",
        any,
    ),
    row(
        "defined-token",
        &["dnkey-"],
        r"(dnkey-[a-z0-9=_-]{26}-[a-z0-9=_-]{52})",
        any,
    ),
    row(
        "dropbox-token",
        &["sl."],
        r"\b(sl\.(?:u\.)?[A-Za-z0-9=_-]{130,480})",
        is_mixed,
    ),
    row(
        "duffel-token",
        &["duffel_"],
        r"(duffel_(?:test|live)_[A-Za-z0-9_=-]{43})",
        any,
    ),
    row(
        "dynatrace-token",
        &["dt0"],
        r"(dt0[a-z][0-9]{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64})",
        any,
    ),
    row(
        "easypost-key",
        &["ezak", "eztk"],
        r"\b(EZ[AT]K[A-Za-z0-9]{54})\b",
        any,
    ),
    row(
        "flutterwave-key",
        &["flwseck"],
        r"(FLWSECK(?:_TEST)?-[a-zA-Z0-9]{12,32}(?:-X)?)",
        any,
    ),
    row(
        "fly-token",
        &["fo1_", "fm1a_", "fm1r_", "fm2_"],
        r"((?:fo1_[A-Za-z0-9_-]{43}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{100,480}={0,3}))",
        any,
    ),
    row(
        "frameio-token",
        &["fio-u-"],
        r"(fio-u-[A-Za-z0-9_=-]{64})",
        any,
    ),
    row(
        "grafana-token",
        &["glc_", "glsa_", "eyjrijoi"],
        r"\b(glc_[A-Za-z0-9+/]{32,400}={0,3}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|eyJrIjoi[A-Za-z0-9]{70,400}={0,3})",
        any,
    ),
    row(
        "harness-key",
        &["pat.", "sat."],
        r"\b([ps]at\.[A-Za-z0-9_-]{22}\.[a-zA-Z0-9]{24}\.[a-zA-Z0-9]{20})",
        any,
    ),
    row(
        "terraform-token",
        &["atlasv1"],
        r"([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70})",
        any,
    ),
    row(
        "heroku-key",
        &["hrku-aa"],
        r"(HRKU-AA[A-Za-z0-9_-]{58})",
        any,
    ),
    row(
        "infracost-key",
        &["ico-"],
        r"\b(ico-[A-Za-z0-9]{32})\b",
        is_mixed,
    ),
    row(
        "intra42-secret",
        &["s-s4t2"],
        r"(s-s4t2(?:ud|af)-[a-f0-9]{64})",
        any,
    ),
    row(
        "maxmind-key",
        &["_mmk"],
        r"([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)",
        any,
    ),
    row(
        "new-relic-key",
        &["nrak-", "nrjs-", "nrii-"],
        r"\b(NR(?:AK-[A-Za-z0-9]{27}|JS-[a-f0-9]{19}|II-[A-Za-z0-9_-]{32}))",
        any,
    ),
    row(
        "notion-token",
        &["ntn_"],
        r"(ntn_[0-9]{11}[A-Za-z0-9]{35})",
        any,
    ),
    row(
        "octopus-key",
        &["api-"],
        r"\b(API-[A-Z0-9]{26})\b",
        is_mixed,
    ),
    row(
        "openshift-token",
        &["sha256~"],
        r"(sha256~[A-Za-z0-9_-]{43})",
        any,
    ),
    row("perplexity-key", &["pplx-"], r"(pplx-[A-Za-z0-9]{48})", any),
    row(
        "plaid-token",
        &["access-"],
        r"(access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})",
        any,
    ),
    row(
        "planetscale-token",
        &["pscale_"],
        r"(pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_=.-]{32,64})",
        any,
    ),
    row(
        "postman-key",
        &["pmak-"],
        r"(PMAK-[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34})",
        any,
    ),
    row("prefect-token", &["pnu_"], r"(pnu_[A-Za-z0-9]{36})", any),
    row("pulumi-token", &["pul-"], r"\b(pul-[a-f0-9]{40})\b", any),
    row("readme-token", &["rdme_"], r"(rdme_[a-z0-9]{70})", any),
    row(
        "rubygems-token",
        &["rubygems_"],
        r"(rubygems_[a-f0-9]{48})",
        any,
    ),
    row(
        "scalingo-token",
        &["tk-us-"],
        r"(tk-us-[A-Za-z0-9_-]{48})",
        any,
    ),
    row(
        "brevo-key",
        &["xkeysib-", "xsmtpsib-"],
        r"(x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16})",
        any,
    ),
    row(
        "sentry-token",
        &["sntrys_", "sntryu_"],
        r"(sntrys_eyJpYXQiO[A-Za-z0-9+/_=]{60,480}|sntryu_[a-f0-9]{64})",
        any,
    ),
    row(
        "settlemint-token",
        &["sm_aat_", "sm_pat_", "sm_sat_"],
        r"(sm_[aps]at_[A-Za-z0-9]{16})",
        any,
    ),
    row(
        "shippo-token",
        &["shippo_"],
        r"(shippo_(?:live|test)_[A-Fa-f0-9]{40})",
        any,
    ),
    row(
        "sourcegraph-token",
        &["sgp_"],
        r"(sgp_(?:(?:[A-Fa-f0-9]{16}|local)_)?[A-Fa-f0-9]{40})",
        any,
    ),
    row(
        "typeform-token",
        &["tfp_"],
        r"(tfp_[A-Za-z0-9_.=-]{59})",
        any,
    ),
    // Headers, addresses and files.
    // Google's own pages have these two.
    row(
        "google-oauth-secret",
        &["gocspx-", "ya29."],
        r"(GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{20,480})",
        any,
    ),
    row(
        "google-service-account",
        &["private_key_id"],
        r#"private_key_id\\?["']?\s{0,4}:\s{0,4}\\?["']([0-9a-f]{40})\\?["']"#,
        any,
    ),
    // Discord's pages: the user's number in base64, a time, a signature.
    row(
        "discord-token",
        &["."],
        r"(?:^|[^A-Za-z0-9_.-])([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38})(?:[^A-Za-z0-9_.-]|$)",
        is_mixed_case,
    ),
    row(
        "discord-webhook",
        &["/api/webhooks/"],
        r"discord(?:app)?\.com/api/webhooks/([0-9]{15,20}/[A-Za-z0-9_-]{60,80})",
        any,
    ),
    row(
        "aws-secret-key",
        &["secret"],
        r#"(?i)(?:aws[a-z0-9_.-]{0,20}secret|secret_?access)[a-z0-9_.-]{0,20}\\?["']?\s{0,4}(?:=>|=|:|,)\s{0,4}\\?["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
        is_mixed,
    ),
    row(
        "azure-key",
        &["accountkey=", "sharedaccesskey="],
        r"(?i)\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{43,88}={0,2})(?:[^A-Za-z0-9+/=]|$)",
        any,
    ),
    // The 64 bytes of a storage account's key, without a name. Text and pictures have other bytes.
    row(
        "azure-key",
        &["=="],
        r"(?:^|[^A-Za-z0-9+/=])([A-Za-z0-9+/]{86}==)(?:[^A-Za-z0-9+/=]|$)",
        is_key_of_64,
    ),
    // Signed addresses: Azure's `sig`, Amazon's and Google's `Signature`.
    row(
        "azure-signature",
        &["sig="],
        r"[?&;]sig=([A-Za-z0-9%+/_-]{40,100}={0,2})",
        is_mixed,
    ),
    row(
        "signed-address",
        &["signature="],
        r"(?i)[?&]x-(?:amz|goog)-signature=([a-f0-9]{64,512})",
        any,
    ),
    row(
        "jwt",
        &["eyj"],
        r"(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{20,})",
        is_jwt,
    ),
    // RFC 7517 and 7518: the private members of a key.
    row(
        "jwk",
        &["kty"],
        r#"\\?["'](?:d|p|q|dp|dq|qi|k)\\?["']\s{0,4}:\s{0,4}\\?["']([A-Za-z0-9_-]{20,1400})\\?["']"#,
        any,
    ),
    row(
        "bearer-token",
        &["bearer"],
        r"(?i)\bbearer\s{1,4}([A-Za-z0-9._~+/-]{20,480}={0,2})",
        is_random,
    ),
    row(
        "cookie",
        &["cookie"],
        r#"(?i)\b(?:set-)?cookie\\?["']?\s{0,4}:\s{0,4}\\?["']?([^\s"'=;,]{1,64}=[^\s"';,]{8,400}(?:;\s{0,4}[^\s"'=;,]{1,64}=[^\s"';,]{1,200}){0,4})"#,
        any,
    ),
    row(
        "url-password",
        &["://"],
        r#"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s:/@"'<>?#]{0,100}:([^\s/"'<>?#]{1,200})@[A-Za-z0-9\[{]"#,
        is_no_template,
    ),
    // A token in the place of a name: `https://TOKEN@host`.
    row(
        "url-password",
        &["://"],
        r#"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://([^\s:/@"'<>?#]{12,200})@[A-Za-z0-9\[{]"#,
        is_random,
    ),
    // `curl -u ana:…`
    row(
        "password",
        &["curl", "wget", "http"],
        r#"(?:\bcurl|\bhttps?)\b[^\n]{0,300}?[\s"',](?:-u|--user|--proxy-user|-U|-a|--auth)[\s"',=]{1,6}[^\s:"',]{1,100}:([^\s"']{3,200})"#,
        is_no_template,
    ),
    // `sshpass -p …`, `mysql -p…`
    row(
        "password",
        &["sshpass", "mysql", "mariadb"],
        r#"\b(?:sshpass\b[^\n]{0,20}?[\s"']-p[\s"',]{1,4}|(?:mysql(?:dump|admin)?|mariadb)\b[^\n]{0,200}?[\s"']-p)([^\s"']{4,200})"#,
        is_no_template,
    ),
    // Oracle's addresses have a name and a password of another form.
    row(
        "url-password",
        &["jdbc:oracle:"],
        r#"jdbc:oracle:[a-z]{2,5}:[^\s/@]{1,64}/([^\s/@"']{3,100})@"#,
        is_no_template,
    ),
    // `.pgpass`: host, port, data base, user, password.
    row(
        "password",
        &[":543", ":6432:", ":*:"],
        r#"(?m)^[ \t#]{0,8}[A-Za-z0-9_.*\\:-]{1,100}:(?:543[0-9]|6432|\*):[^:\s]{1,64}:[^:\s]{1,64}:([^\s\"']{4,200})\r?$"#,
        is_no_template,
    ),
];
