//! From the state folder to everything the review screen needs. A mistake in the configuration must not keep anybody from
//! looking at a log: then the built-in keys and colours are used, and the screen says so.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::app::review::Source;
use crate::audit::{Apart, AuditError, Stage, Store};
use crate::config::{Config, ConfigError};
use crate::error::Failure;
use crate::tui::{Calls, Charset, Keymap, Review, Reviewed, TerminalCaps, Themes, Vouched};

/// What the review screen consists of, before it starts.
pub struct Setup {
    pub(super) source: Source,
    pub(super) screen: Review,
    pub(super) calls: Calls,
    pub(super) charset: Charset,
    pub(super) mouse: bool,
    /// Whether to speak in lines instead of drawing frames.
    pub(super) plain: bool,
    apart: Arc<Apart>,
}

impl Setup {
    pub(super) fn apart(&self) -> Arc<Apart> {
        self.apart.clone()
    }
}

/// What the configuration says of a screen.
struct Look {
    keys: Keymap,
    themes: Themes,
    charset: String,
    mouse: bool,
    bell: bool,
}

impl Look {
    fn of(config: &Config, caps: TerminalCaps) -> Result<Self, String> {
        Ok(Self {
            keys: Keymap::from_config(&config.keys).map_err(|e| e.to_string())?,
            themes: Themes::new(&config.theme, caps).map_err(|e| e.to_string())?,
            charset: config.charset.clone(),
            mouse: config.mouse,
            bell: config.notify.bell,
        })
    }

    fn built_in(caps: TerminalCaps) -> Result<Self, Failure> {
        Ok(Self {
            keys: Keymap::default(),
            themes: Themes::new("auto", caps).map_err(|e| Failure::general(e.to_string()))?,
            charset: "auto".to_owned(),
            mouse: false,
            bell: false,
        })
    }
}

/// Opens the log, without touching the terminal yet. `verify`: the command that tells all that is wrong with it.
///
/// # Errors
/// When there is no log in the folder, or no place for temporary files.
pub fn prepare(
    state_dir: &Path,
    checkpoints: Store,
    config: Result<Config, ConfigError>,
    verify: String,
    plain: bool,
) -> Result<Setup, Failure> {
    let env: BTreeMap<String, String> = std::env::vars().collect();
    let caps = match plain {
        // Nothing is drawn, and a query would be read out.
        true => TerminalCaps::NONE,
        false => TerminalCaps::detect(&env),
    };
    let apart = Apart::new().map_err(|e| {
        Failure::general(format!("no private folder can be made for an index: {e}"))
    })?;
    let apart = Arc::new(apart);
    let source = Source {
        state_dir: state_dir.to_owned(),
        checkpoints,
        apart: Some(apart.clone()),
        sealed: Default::default(),
    };
    source.open().map_err(|e| match e {
        AuditError::None { .. } => Failure::general(format!(
            "{e}; a dashboard makes one, --state-dir names another folder"
        )),
        e => Failure::general(format!("the log cannot be read: {e}")),
    })?;
    let look = config
        .map_err(|e| e.to_string())
        .and_then(|config| Look::of(&config, caps));
    let (look, wrong) = match look {
        Ok(look) => (look, None),
        Err(why) => (Look::built_in(caps)?, Some(why)),
    };
    let charset = Charset::of(&look.charset, &env);
    let reviewed = Reviewed {
        folder: state_dir.display().to_string(),
        verify,
        vouched: Vouched::Checking,
        index: Stage::None,
        is_written: false,
    };
    let screen = Review::new(look.keys, look.themes, caps, charset, reviewed);
    let mut screen = match plain {
        true => screen.spoken(),
        false => screen,
    };
    if let Some(why) = wrong {
        screen.tell(format!("built-in keys and colours are used: {why}"));
    }
    Ok(Setup {
        source,
        screen,
        calls: Calls::detect(&env, look.bell),
        charset,
        mouse: look.mouse,
        plain,
        apart,
    })
}
