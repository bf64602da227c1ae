//! Pictures that runs leave, made small for the screen.
//!
//! A PNG comes from the child and is not trusted. A worker process decodes it: a process for each
//! picture, which has restricted itself before it reads the first byte. The dashboard reads pixels of
//! a known number. A picture that harms its decoder costs only itself.

mod decode;
pub mod worker;

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::sandbox::events::Events;
use crate::sandbox::memfd;

/// The hidden subcommand of the worker.
pub const ROLE: &str = "__figure";

/// The most bytes of a file that is decoded.
pub const BYTES_MAX: usize = 8 * 1024 * 1024;
/// The most pixels of one.
pub const PIXELS_MAX: u64 = 4_000_000;
/// The size of what comes back, at most.
const WIDE: u32 = 320;
const HIGH: u32 = 240;

/// How long a picture may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes before the pixels: width and height of what comes back, and of the picture.
const HEAD: usize = 12;

/// A decoded picture, of at most 320 × 240 pixels for the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Small {
    pub wide: usize,
    pub high: usize,
    /// Red, green and blue of each pixel, row by row.
    pub rgb: Arc<[u8]>,
    /// The size of the file's own picture.
    pub of: (u32, u32),
}

/// Why a picture is not drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undrawn {
    #[error("more than {} MB", BYTES_MAX / 1024 / 1024)]
    TooLong,
    #[error("more than {} million pixels", PIXELS_MAX / 1_000_000)]
    TooLarge,
    #[error("not a PNG that can be decoded")]
    NoPicture,
    #[error("decoding it took too long")]
    TooSlow,
    #[error("its decoder failed")]
    Failed,
    #[error("the log's copy cannot be read")]
    Unread,
}

/// Exit codes of the worker.
impl Undrawn {
    const fn code(self) -> u8 {
        match self {
            Self::TooLong => 3,
            Self::TooLarge => 4,
            Self::NoPicture => 5,
            Self::TooSlow | Self::Failed | Self::Unread => 1,
        }
    }

    const fn of_code(code: Option<i32>) -> Self {
        match code {
            Some(3) => Self::TooLong,
            Some(4) => Self::TooLarge,
            Some(5) => Self::NoPicture,
            _ => Self::Failed,
        }
    }
}

/// Has a worker make the picture small; blocks meanwhile. `exe` is a lasting path of this program.
pub fn small(exe: &Path, png: &[u8]) -> Result<Small, Undrawn> {
    decoded(exe, png, Size::Small)
}

/// The same picture in its own size as a PNG made anew: its bytes are none of the run's.
pub fn anew(exe: &Path, png: &[u8]) -> Result<Vec<u8>, Undrawn> {
    let picture = decoded(exe, png, Size::Own)?;
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, picture.wide as u32, picture.high as u32);
    encoder.set_color(png::ColorType::Rgb);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(&picture.rgb)?;
        writer.finish()
    });
    written.map_err(|_| Undrawn::Failed)?;
    Ok(out)
}

/// The size in which a picture is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    /// At most 320 × 240 pixels.
    Small,
    Own,
}

impl Size {
    const fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Own => "own",
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        [Self::Small, Self::Own]
            .into_iter()
            .find(|one| one.name() == name)
    }

    /// The most pixels in each direction, and together.
    const fn most(self) -> (u32, u32, u64) {
        match self {
            Self::Small => (WIDE, HIGH, WIDE as u64 * HIGH as u64),
            Self::Own => (u16::MAX as u32, u16::MAX as u32, PIXELS_MAX),
        }
    }
}

fn decoded(exe: &Path, png: &[u8], size: Size) -> Result<Small, Undrawn> {
    if png.len() > BYTES_MAX {
        return Err(Undrawn::TooLong);
    }
    let mut worker = Worker::start(exe, png, size).map_err(|_| Undrawn::Failed)?;
    let bytes = worker.bytes(size)?;
    read(&bytes, size).ok_or(Undrawn::Failed)
}

/// A running worker; dropping it kills and reaps it.
struct Worker(Child);

impl Worker {
    fn start(exe: &Path, png: &[u8], size: Size) -> io::Result<Self> {
        // A file, so that nobody waits for a worker that does not read.
        let file = memfd::of_bytes("figure", png)?;
        let child = Command::new(exe)
            .args([ROLE, size.name()])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(file))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self(child))
    }

    /// What the worker writes until its end.
    fn bytes(&mut self, size: Size) -> Result<Vec<u8>, Undrawn> {
        let most = HEAD as u64 + size.most().2 * 3;
        let Some(output) = self.0.stdout.take() else {
            return Err(Undrawn::Failed);
        };
        let mut output = File::from(std::os::fd::OwnedFd::from(output));
        let until = Instant::now() + PATIENCE;
        let mut bytes = Vec::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let ready = Events::new().on((), output.as_fd()).wait(Some(until));
            let ready = ready.map_err(|_| Undrawn::Failed)?;
            if ready.is_empty() && Instant::now() >= until {
                return Err(Undrawn::TooSlow);
            }
            if ready.is_empty() {
                continue;
            }
            match output.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => bytes.extend_from_slice(&buffer[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Undrawn::Failed),
            }
            if bytes.len() as u64 > most {
                return Err(Undrawn::Failed);
            }
        }
        if bytes.is_empty() {
            // It has closed its output, so it is ending.
            let code = self.0.wait().ok().and_then(|status| status.code());
            return Err(Undrawn::of_code(code));
        }
        Ok(bytes)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `None` unless it is exactly a picture of this size.
fn read(bytes: &[u8], size: Size) -> Option<Small> {
    let (head, rgb) = bytes.split_at_checked(HEAD)?;
    let two = |at: usize| Some(u16::from_le_bytes([*head.get(at)?, *head.get(at + 1)?]));
    let four = |at: usize| {
        let [low, high] = [two(at)?, two(at + 2)?].map(u32::from);
        Some(low | (high << 16))
    };
    let (wide, high) = (usize::from(two(0)?), usize::from(two(2)?));
    let (most_wide, most_high, pixels) = size.most();
    let fits = (1..=most_wide as usize).contains(&wide) && (1..=most_high as usize).contains(&high);
    let fits = fits && (wide * high) as u64 <= pixels;
    (fits && rgb.len() == wide * high * 3).then_some(())?;
    Some(Small {
        wide,
        high,
        rgb: rgb.into(),
        of: (four(4)?, four(8)?),
    })
}

fn written(small: &Small) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEAD + small.rgb.len());
    for side in [small.wide, small.high] {
        out.extend((side as u16).to_le_bytes());
    }
    out.extend(small.of.0.to_le_bytes());
    out.extend(small.of.1.to_le_bytes());
    out.extend_from_slice(&small.rgb);
    out
}

impl Small {
    /// The mean colour of the part between these fractions of the picture.
    pub fn mean(&self, (left, right): (f64, f64), (top, bottom): (f64, f64)) -> [u8; 3] {
        let span = |from: f64, to: f64, all: usize| {
            let first = ((from * all as f64) as usize).min(all - 1);
            let end = ((to * all as f64).ceil() as usize).clamp(first + 1, all);
            first..end
        };
        let mut sums = [0_u64; 3];
        let mut count = 0;
        for y in span(top, bottom, self.high) {
            for x in span(left, right, self.wide) {
                let at = (y * self.wide + x) * 3;
                for (sum, value) in sums.iter_mut().zip(self.rgb.iter().skip(at)) {
                    *sum += u64::from(*value);
                }
                count += 1;
            }
        }
        sums.map(|sum| u8::try_from(sum / count).unwrap_or(u8::MAX))
    }
}

#[cfg(test)]
pub mod tests;
