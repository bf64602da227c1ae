//! Merges the configuration layers.
//!
//! The administrator's file is binding for `profiles`, `tier`, `python`, the maxima, `[audit]`, `[feature.lift]` and
//! `[desk]` (but `key` and `password_file`), as far as it sets them: of ordered values the stricter one applies, a
//! list may only be narrowed, and any other difference stops the start instead of being ignored. Its other values
//! are defaults for all users.

use std::collections::BTreeMap;

use super::desk::DeskLayer;
use super::error::{ConfigError, Origin};
use super::file::Layer;
use super::notify::NotifyLayer;
use super::table::Set;
use super::{
    AuditSection, Built, ContentDays, DEFAULT_PROFILE, DrillsSection, FeatureSection, PublicKey,
    Queue, RunSection, SocketSection, TTL_MAX_S, TTL_S,
};

/// Merges the layers of `user`, the weakest first, under `admin`.
pub(super) fn merge(admin: Option<Layer>, user: Vec<Layer>) -> Result<Built, ConfigError> {
    let admin = admin.unwrap_or_default();
    let mine = user.into_iter().fold(Layer::default(), over);

    let tier = stricter(&admin.tier, &mine.tier, |a, b| a.max(b));
    let python = fixed("python", &admin.python, &mine.python, |p| {
        p.display().to_string()
    })?;
    let retention_days = fixed(
        "audit.retention_days",
        &admin.retention_days,
        &mine.retention_days,
        u64::to_string,
    )?;
    // An administrator who bounds days alone keeps all that they have.
    let all = admin.retention_days.clone().map(|set| set.map(|_| 0));
    let kind = |key: &str, admin: &Option<Set<u64>>, mine: &Option<Set<u64>>| {
        let key = format!("audit.retention.{key}");
        let admin = admin.clone().or_else(|| all.clone());
        fixed(&key, &admin, mine, u64::to_string).map(|set| set.map_or(0, |set| set.value))
    };
    let retention = ContentDays {
        code: kind("code_days", &admin.code_days, &mine.code_days)?,
        output: kind("output_days", &admin.output_days, &mine.output_days)?,
        files: kind("files_days", &admin.files_days, &mine.files_days)?,
    };
    let retention_bytes = fixed(
        "audit.retention_bytes",
        &admin.retention_bytes.clone().or_else(|| all.clone()),
        &mine.retention_bytes,
        u64::to_string,
    )?;
    let keep_code = fixed(
        "audit.keep_code",
        &admin.keep_code,
        &mine.keep_code,
        bool::to_string,
    )?;
    let checkpoints = fixed(
        "audit.checkpoints",
        &admin.checkpoints,
        &mine.checkpoints,
        |p| p.display().to_string(),
    )?;
    let anchor_command = fixed(
        "audit.anchor_command",
        &admin.anchor_command,
        &mine.anchor_command,
        |command| format!("{command:?}"),
    )?;
    let key_command = fixed(
        "audit.key_command",
        &admin.key_command,
        &mine.key_command,
        |command| format!("{command:?}"),
    )?;
    let key_public = fixed(
        "audit.key_public",
        &admin.key_public,
        &mine.key_public,
        PublicKey::to_string,
    )?;
    let witnesses = fixed(
        "audit.witnesses",
        &admin.witnesses,
        &mine.witnesses,
        |all| format!("{all:?}"),
    )?;
    let witness_ca = fixed(
        "audit.witness_ca",
        &admin.witness_ca,
        &mine.witness_ca,
        |p| p.display().to_string(),
    )?;
    // Both hold.
    let hold = [&admin.hold, &mine.hold];
    let hold = hold.into_iter().flatten().map(|set| set.value.clone());
    let hold = hold.filter(|query| !query.trim().is_empty()).collect();
    // Here too: what the administrator adds, nobody takes away.
    let secrets = [&admin.secrets, &mine.secrets];
    let secrets = secrets.into_iter().flat_map(BTreeMap::values);
    let secrets = secrets.cloned().collect();
    let ttl_max_s = stricter(&admin.ttl_max_s, &mine.ttl_max_s, |a, b| a.min(b));
    let max_pending = stricter(&admin.max_pending, &mine.max_pending, |a, b| a.min(b));
    let max_pending_per_peer = stricter(
        &admin.max_pending_per_peer,
        &mine.max_pending_per_peer,
        |a, b| a.min(b),
    );
    let max_connections = stricter(&admin.max_connections, &mine.max_connections, |a, b| {
        a.min(b)
    });
    let lift = stricter(&admin.lift, &mine.lift, |a, b| a | b);
    let profiles = profiles(&admin, &mine)?;
    let rest = over(admin.clone(), mine.clone());
    let profile = default_profile(&admin, &rest, profiles.as_ref())?;
    let (ttl_s, ttl_max) = times(&admin, &rest, ttl_max_s.as_ref())?;

    let mut origins = BTreeMap::new();
    let mut note = |key: &str, origin: Option<&Origin>| {
        if let Some(origin) = origin {
            origins.insert(key.to_owned(), origin.clone());
        }
    };
    note("profile", rest.profile.as_ref().map(|s| &s.origin));
    note("theme", rest.theme.as_ref().map(|s| &s.origin));
    note("tier", tier.as_ref().map(|s| &s.origin));
    note("python", python.as_ref().map(|s| &s.origin));
    note("socket.group", rest.group.as_ref().map(|s| &s.origin));
    note("audit.key_command", key_command.as_ref().map(|s| &s.origin));
    note("audit.key_public", key_public.as_ref().map(|s| &s.origin));
    note("audit.witness_ca", witness_ca.as_ref().map(|s| &s.origin));
    note("audit.witnesses", witnesses.as_ref().map(|s| &s.origin));
    let every = rest.drills_every.as_ref();
    note("drills.every", every.map(|s| &s.origin));
    for (name, set) in &rest.datasets {
        note(&format!("datasets.{name}"), Some(&set.origin));
    }
    for (name, set) in &rest.keys {
        note(&format!("keys.{name}"), Some(&set.origin));
    }
    for listed in profiles.iter().flatten() {
        note(&format!("profiles.{}", listed.value), Some(&listed.origin));
    }

    let datasets = rest.datasets.keys().map(String::as_str).collect();
    let desk = DeskLayer::merge(admin.desk.clone(), mine.desk.clone(), &datasets, &mut note)?;
    let (told, calls) = (admin.notify.clone(), mine.notify.clone());
    let notify = NotifyLayer::merge(told, calls, desk.is_some(), &mut note)?;

    let value = |set: Option<Set<u64>>, builtin: u64| set.map_or(builtin, |s| s.value);
    Ok(Built {
        profile,
        profiles: profiles.map(|list| list.into_iter().map(|p| p.value).collect()),
        profiles_bound: admin.profiles.as_ref().map(|s| s.origin.clone()),
        tier: tier.map(|s| s.value),
        theme: rest.theme.map(|s| s.value),
        charset: rest.charset.map(|s| s.value),
        mouse: rest.mouse.is_some_and(|s| s.value),
        python: python.map(|s| s.value),
        ttl_s,
        ttl_max_s: ttl_max,
        datasets: rest
            .datasets
            .into_iter()
            .map(|(name, set)| (name, set.value))
            .collect(),
        queue: Queue {
            max_pending: value(max_pending, Queue::default().max_pending),
            max_pending_per_peer: value(
                max_pending_per_peer,
                Queue::default().max_pending_per_peer,
            ),
        },
        socket: SocketSection {
            allow_uids: rest.allow_uids.map(|s| s.value).unwrap_or_default(),
            group: rest.group.map(|s| s.value).filter(|g| !g.is_empty()),
            max_connections: value(max_connections, SocketSection::default().max_connections),
        },
        run: RunSection {
            kill_on_disconnect: rest.kill_on_disconnect.is_some_and(|s| s.value),
        },
        keys: rest
            .keys
            .into_iter()
            .map(|(name, set)| (name, set.value))
            .collect(),
        audit: AuditSection {
            retention_days: value(retention_days, 0),
            retention_bytes: value(retention_bytes, 0),
            retention,
            keep_code: keep_code.is_none_or(|set| set.value),
            checkpoints: checkpoints.map(|set| set.value),
            anchor_command: anchor_command.map(|set| set.value).unwrap_or_default(),
            key_command: key_command.map(|set| set.value).unwrap_or_default(),
            key_public: key_public.map(|set| set.value),
            witnesses: witnesses.map(|set| set.value).unwrap_or_default(),
            witness_ca: witness_ca.map(|set| set.value),
            hold,
            secrets,
        },
        notify,
        drills: drills(rest.drills_every, rest.drills_seed)?,
        feature: FeatureSection {
            lift: lift.is_some_and(|s| s.value),
        },
        desk,
        origins,
    })
}

/// Drills are off without `every`; a seed alone would do nothing.
fn drills(every: Option<Set<u64>>, seed: Option<Set<u64>>) -> Result<DrillsSection, ConfigError> {
    let every = every.map_or(0, |set| set.value);
    match seed {
        Some(seed) if every == 0 => Err(ConfigError::value(
            seed.origin,
            "`drills.seed` does nothing without drills; set `drills.every` to about how many decisions pass between \
             two of them, such as 25, or leave `seed` out",
        )),
        seed => Ok(DrillsSection {
            every,
            seed: seed.map(|set| set.value),
        }),
    }
}

/// `above` where it sets a value, else `below`. Data sets, keys and patterns are combined by name.
pub(super) fn over(below: Layer, above: Layer) -> Layer {
    let mut datasets = below.datasets;
    datasets.extend(above.datasets);
    let mut keys = below.keys;
    keys.extend(above.keys);
    let mut secrets = below.secrets;
    secrets.extend(above.secrets);
    Layer {
        profile: above.profile.or(below.profile),
        profiles: above.profiles.or(below.profiles),
        tier: above.tier.or(below.tier),
        theme: above.theme.or(below.theme),
        charset: above.charset.or(below.charset),
        mouse: above.mouse.or(below.mouse),
        python: above.python.or(below.python),
        ttl_s: above.ttl_s.or(below.ttl_s),
        ttl_max_s: above.ttl_max_s.or(below.ttl_max_s),
        datasets,
        max_pending: above.max_pending.or(below.max_pending),
        max_pending_per_peer: above.max_pending_per_peer.or(below.max_pending_per_peer),
        allow_uids: above.allow_uids.or(below.allow_uids),
        max_connections: above.max_connections.or(below.max_connections),
        group: above.group.or(below.group),
        kill_on_disconnect: above.kill_on_disconnect.or(below.kill_on_disconnect),
        keys,
        retention_days: above.retention_days.or(below.retention_days),
        code_days: above.code_days.or(below.code_days),
        output_days: above.output_days.or(below.output_days),
        files_days: above.files_days.or(below.files_days),
        retention_bytes: above.retention_bytes.or(below.retention_bytes),
        keep_code: above.keep_code.or(below.keep_code),
        checkpoints: above.checkpoints.or(below.checkpoints),
        anchor_command: above.anchor_command.or(below.anchor_command),
        key_command: above.key_command.or(below.key_command),
        key_public: above.key_public.or(below.key_public),
        witnesses: above.witnesses.or(below.witnesses),
        witness_ca: above.witness_ca.or(below.witness_ca),
        hold: above.hold.or(below.hold),
        secrets,
        notify: NotifyLayer::over(below.notify, above.notify),
        drills_every: above.drills_every.or(below.drills_every),
        drills_seed: above.drills_seed.or(below.drills_seed),
        lift: above.lift.or(below.lift),
        desk: DeskLayer::over(below.desk, above.desk),
    }
}

/// The stricter of the administrator's and the user's value.
fn stricter<T: Copy>(
    admin: &Option<Set<T>>,
    mine: &Option<Set<T>>,
    choose: impl Fn(T, T) -> T,
) -> Option<Set<T>> {
    match (admin, mine) {
        (Some(a), Some(m)) => Some(Set {
            value: choose(a.value, m.value),
            origin: m.origin.clone(),
        }),
        (a, m) => a.clone().or_else(|| m.clone()),
    }
}

/// If the administrator set the value, the user may set no other one.
pub(super) fn fixed<T: Clone + PartialEq>(
    key: &str,
    admin: &Option<Set<T>>,
    mine: &Option<Set<T>>,
    show: impl Fn(&T) -> String,
) -> Result<Option<Set<T>>, ConfigError> {
    match (admin, mine) {
        (Some(a), Some(m)) if a.value != m.value => Err(ConfigError::value(
            m.origin.clone(),
            format!(
                "`{key}` is fixed to {} by {}; leave it out here",
                show(&a.value),
                a.origin
            ),
        )),
        (a, m) => Ok(a.clone().or_else(|| m.clone())),
    }
}

/// The administrator's list may be narrowed, not widened.
fn profiles(admin: &Layer, mine: &Layer) -> Result<Option<Vec<Set<String>>>, ConfigError> {
    let (Some(allowed), Some(wanted)) = (&admin.profiles, &mine.profiles) else {
        let only = admin.profiles.clone().or_else(|| mine.profiles.clone());
        return Ok(only.map(|set| set.value));
    };
    for profile in &wanted.value {
        check_allowed(profile, &allowed.value, &allowed.origin)?;
    }
    Ok(Some(wanted.value.clone()))
}

fn check_allowed(
    profile: &Set<String>,
    allowed: &[Set<String>],
    by: &Origin,
) -> Result<(), ConfigError> {
    if allowed.iter().any(|a| a.value == profile.value) {
        return Ok(());
    }
    let names: Vec<&str> = allowed.iter().map(|a| a.value.as_str()).collect();
    Err(ConfigError::value(
        profile.origin.clone(),
        format!(
            "profile `{}` is not among those of {by}: {}{}",
            profile.value.escape_debug(),
            names.join(", "),
            crate::model::did_you_mean(&profile.value, names.iter().copied())
        ),
    ))
}

/// The profile of a proposal that names none: the configured default, else `analysis`, else, if `analysis` is
/// not listed, the first listed one.
fn default_profile(
    admin: &Layer,
    rest: &Layer,
    profiles: Option<&Vec<Set<String>>>,
) -> Result<String, ConfigError> {
    match (&rest.profile, profiles) {
        (Some(profile), Some(listed)) => {
            let by = rest
                .profiles
                .as_ref()
                .or(admin.profiles.as_ref())
                .map_or(Origin::Builtin, |set| set.origin.clone());
            check_allowed(profile, listed, &by)?;
            Ok(profile.value.clone())
        }
        (Some(profile), None) => Ok(profile.value.clone()),
        (None, Some(listed)) => Ok(listed
            .iter()
            .find(|p| p.value == DEFAULT_PROFILE)
            .or(listed.first())
            .map_or(DEFAULT_PROFILE, |p| p.value.as_str())
            .to_owned()),
        (None, None) => Ok(DEFAULT_PROFILE.to_owned()),
    }
}

/// The default and the maximum time to live.
fn times(
    admin: &Layer,
    rest: &Layer,
    ttl_max_s: Option<&Set<u64>>,
) -> Result<(u64, u64), ConfigError> {
    let max = ttl_max_s.map_or(TTL_MAX_S, |s| s.value);
    let Some(ttl) = &rest.ttl_s else {
        return Ok((TTL_S.min(max), max));
    };
    if ttl.value <= max {
        return Ok((ttl.value, max));
    }
    let bound_from_above = admin.ttl_max_s.as_ref().is_some_and(|a| a.value == max);
    if bound_from_above {
        return Ok((max, max));
    }
    Err(ConfigError::value(
        ttl.origin.clone(),
        format!(
            "`ttl_s` is {}, more than `ttl_max_s`, which is {max}",
            ttl.value
        ),
    ))
}
