//! Decodes a PNG and makes it small. Only the worker calls it.

use png::{ColorType, DecodeOptions, Decoder, Limits, Transformations};

use super::{PIXELS_MAX, Size, Small, Undrawn};

/// Memory of the decoder beside the picture itself.
const DECODER_BYTES: usize = 64 * 1024 * 1024;

pub fn picture(file: &[u8], wanted: Size) -> Result<Small, Undrawn> {
    let undrawn = |_| Undrawn::NoPicture;
    let mut options = DecodeOptions::default();
    // Texts and profiles are not needed, and unpacking them costs memory.
    options.set_ignore_text_chunk(true);
    options.set_ignore_iccp_chunk(true);
    let mut decoder = Decoder::new_with_options(std::io::Cursor::new(file), options);
    decoder.set_limits(Limits {
        bytes: DECODER_BYTES,
    });
    decoder.set_transformations(Transformations::normalize_to_color8());
    let size = decoder.read_header_info().map_err(undrawn)?.size();
    if u64::from(size.0) * u64::from(size.1) > PIXELS_MAX
        || size.0.max(size.1) > u32::from(u16::MAX)
    {
        return Err(Undrawn::TooLarge);
    }
    let mut reader = decoder.read_info().map_err(undrawn)?;
    let mut pixels = vec![0; reader.output_buffer_size().ok_or(Undrawn::TooLarge)?];
    let frame = reader.next_frame(&mut pixels).map_err(undrawn)?;
    let channels = match frame.color_type {
        ColorType::Grayscale => 1,
        ColorType::GrayscaleAlpha => 2,
        ColorType::Rgb => 3,
        ColorType::Rgba => 4,
        ColorType::Indexed => return Err(Undrawn::NoPicture),
    };
    let whole = Picture {
        pixels: &pixels,
        line: frame.line_size,
        channels,
        wide: frame.width,
        high: frame.height,
    };
    Ok(whole.within(wanted))
}

struct Picture<'a> {
    pixels: &'a [u8],
    /// Bytes of a row.
    line: usize,
    channels: usize,
    wide: u32,
    high: u32,
}

impl Picture<'_> {
    /// Each pixel is the mean of those it stands for.
    fn within(&self, size: Size) -> Small {
        let (wide, high) = fitted(self.wide, self.high, size);
        let mut rgb = Vec::with_capacity((wide * high * 3) as usize);
        let span = |at: u32, of: u32, all: u32| {
            let edge = |at: u32| (u64::from(at) * u64::from(all) / u64::from(of)) as u32;
            edge(at)..edge(at + 1).max(edge(at) + 1)
        };
        for y in 0..high {
            for x in 0..wide {
                let mut sums = [0_u64; 3];
                let mut count = 0;
                for row in span(y, high, self.high) {
                    for column in span(x, wide, self.wide) {
                        let colour = self.colour(column as usize, row as usize);
                        for (sum, value) in sums.iter_mut().zip(colour) {
                            *sum += u64::from(value);
                        }
                        count += 1;
                    }
                }
                rgb.extend(sums.map(|sum| u8::try_from(sum / count).unwrap_or(u8::MAX)));
            }
        }
        Small {
            wide: wide as usize,
            high: high as usize,
            rgb: rgb.into(),
            of: (self.wide, self.high),
        }
    }

    /// The colour of a pixel on white paper.
    fn colour(&self, x: usize, y: usize) -> [u8; 3] {
        let at = y * self.line + x * self.channels;
        let Some(pixel) = self.pixels.get(at..at + self.channels) else {
            return [u8::MAX; 3];
        };
        let (colour, alpha) = match *pixel {
            [grey] => ([grey; 3], u8::MAX),
            [grey, alpha] => ([grey; 3], alpha),
            [red, green, blue] => ([red, green, blue], u8::MAX),
            [red, green, blue, alpha] => ([red, green, blue], alpha),
            _ => ([u8::MAX; 3], u8::MAX),
        };
        let alpha = u16::from(alpha);
        colour.map(|value| ((u16::from(value) * alpha + 255 * (255 - alpha)) / 255) as u8)
    }
}

/// The size that fits with the same proportions.
fn fitted(wide: u32, high: u32, size: Size) -> (u32, u32) {
    let (wide, high) = (wide.max(1), high.max(1));
    let (most_wide, most_high, _) = size.most();
    if wide <= most_wide && high <= most_high {
        return (wide, high);
    }
    let by_width = u64::from(high) * u64::from(most_wide) / u64::from(wide);
    if by_width <= u64::from(most_high) {
        return (most_wide, (by_width as u32).max(1));
    }
    let by_height = u64::from(wide) * u64::from(most_high) / u64::from(high);
    ((by_height as u32).clamp(1, most_wide), most_high)
}
