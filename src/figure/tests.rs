//! Pictures through a real worker, honest and hostile ones.

use std::path::PathBuf;

use super::*;

/// A PNG of these pixels.
pub fn png(wide: u32, high: u32, kind: png::ColorType, pixels: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, wide, high);
    encoder.set_color(kind);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(pixels).unwrap();
    writer.finish().unwrap();
    out
}

fn exe() -> PathBuf {
    crate::executor::tests::bench::binary()
}

fn grey(wide: u32, high: u32) -> Vec<u8> {
    let pixels = vec![128; (wide * high) as usize];
    png(wide, high, png::ColorType::Grayscale, &pixels)
}

#[test]
fn a_picture_comes_back_small_with_its_colours() {
    let mut pixels = Vec::new();
    for _ in 0..480 {
        pixels.extend([255, 0, 0, 255].repeat(320));
        pixels.extend([0, 0, 255, 0].repeat(320));
    }
    let small = small(&exe(), &png(640, 480, png::ColorType::Rgba, &pixels)).unwrap();
    assert_eq!((small.wide, small.high, small.of), (320, 240, (640, 480)));
    assert_eq!(small.mean((0.0, 0.4), (0.0, 1.0)), [255, 0, 0]);
    // What is transparent shows the paper.
    assert_eq!(small.mean((0.6, 1.0), (0.0, 1.0)), [255, 255, 255]);
}

#[test]
fn a_small_or_narrow_picture_keeps_its_proportions() {
    for (size, expected) in [
        ((3, 2), (3, 2)),
        ((3_000, 10), (320, 1)),
        ((1, 2_000), (1, 240)),
        ((1_000, 1_000), (240, 240)),
    ] {
        let small = small(&exe(), &grey(size.0, size.1)).unwrap();
        assert_eq!((small.wide, small.high), expected, "{size:?}");
        assert_eq!(small.mean((0.0, 1.0), (0.0, 1.0)), [128; 3], "{size:?}");
    }
}

#[test]
fn a_hostile_picture_costs_only_itself() {
    let honest = grey(64, 64);
    let mut cut = honest.clone();
    cut.truncate(cut.len() / 2);
    let mut wrong = honest.clone();
    let middle = wrong.len() / 2;
    wrong[middle] ^= 0xff;
    // The header claims 4 thousand million pixels.
    let mut vast = honest.clone();
    vast[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    let sum = crc(&vast[12..29]);
    vast[29..33].copy_from_slice(&sum.to_be_bytes());
    for (name, bytes, why) in [
        ("cut", cut, Undrawn::NoPicture),
        ("wrong", wrong, Undrawn::NoPicture),
        ("vast", vast, Undrawn::TooLarge),
        (
            "no picture",
            b"\x89PNG\r\n\x1a\nrest".to_vec(),
            Undrawn::NoPicture,
        ),
        ("empty", Vec::new(), Undrawn::NoPicture),
        ("large", grey(2_001, 2_000), Undrawn::TooLarge),
        ("long", vec![0; BYTES_MAX + 1], Undrawn::TooLong),
    ] {
        assert_eq!(small(&exe(), &bytes), Err(why), "{name}");
    }
    assert!(small(&exe(), &honest).is_ok());
}

#[test]
fn a_picture_made_anew_has_the_same_pixels_and_none_of_the_bytes() {
    let mut hidden = png(2, 1, png::ColorType::Rgb, &[9, 8, 7, 1, 2, 3]);
    hidden.extend_from_slice(b"what a program behind the picture would read");
    let again = anew(&exe(), &hidden).unwrap();
    assert!(!again.windows(7).any(|w| w == b"program"));
    assert_eq!(&*small(&exe(), &again).unwrap().rgb, [9, 8, 7, 1, 2, 3]);
    let large = anew(&exe(), &grey(1_000, 900)).unwrap();
    assert_eq!(small(&exe(), &large).unwrap().of, (1_000, 900));
}

#[test]
fn an_answer_that_is_not_exactly_a_picture_is_none() {
    let good = Small {
        wide: 2,
        high: 1,
        rgb: vec![1, 2, 3, 4, 5, 6].into(),
        of: (70_000, 1),
    };
    let bytes = written(&good);
    assert_eq!(read(&bytes, Size::Small), Some(good));
    for bytes in [
        &bytes[..bytes.len() - 1],
        &[&bytes[..], b"x"].concat(),
        &[0; 12],
        &[0xff; 12],
        b"",
    ] {
        assert_eq!(read(bytes, Size::Small), None);
    }
}

#[test]
fn a_program_that_does_not_answer_is_given_up() {
    let started = Instant::now();
    let folder = tempfile::tempdir().unwrap();
    let slow = folder.path().join("slow");
    std::fs::write(&slow, "#!/bin/sh\nexec sleep 60\n").unwrap();
    std::fs::set_permissions(&slow, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    assert_eq!(small(&slow, &grey(2, 2)), Err(Undrawn::TooSlow));
    assert!(started.elapsed() < PATIENCE * 4);
}

/// The checksum of a chunk, as the standard defines it.
fn crc(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 * (sum & 1))
        })
    };
    !bytes.iter().fold(u32::MAX, step)
}
