//! What people with a colour vision deficiency see of each palette, simulated with the matrices of Machado, Oliveira
//! and Fernandes 2009 ("A Physiologically-based Model for Simulation of Color Vision Deficiency", severity 1.0).

use super::super::caps::{Background, Depth, TerminalCaps};
use super::super::snapshot_tests::snap;
use super::space::{Light, Matrix, distance, light, times};
use super::*;

const PROTAN: Matrix = [
    [0.152_286, 1.052_583, -0.204_868],
    [0.114_503, 0.786_281, 0.099_216],
    [-0.003_882, -0.048_116, 1.051_998],
];
const DEUTAN: Matrix = [
    [0.367_322, 0.860_646, -0.227_968],
    [0.280_085, 0.672_501, 0.047_413],
    [-0.011_820, 0.042_940, 0.968_881],
];
const TRITAN: Matrix = [
    [1.255_528, -0.076_749, -0.178_779],
    [-0.078_411, 0.930_809, 0.147_602],
    [0.004_733, 0.691_367, 0.303_900],
];
const NORMAL: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

const VISIONS: [(&str, &Matrix); 4] = [
    ("normal", &NORMAL),
    ("protan", &PROTAN),
    ("deutan", &DEUTAN),
    ("tritan", &TRITAN),
];

/// The pairs that a decision rests on.
const PAIRS: [(Role, Role); 9] = [
    (Role::Clear, Role::Flagged),
    (Role::Clear, Role::Blocked),
    (Role::Flagged, Role::Blocked),
    (Role::Private, Role::Clear),
    (Role::Private, Role::Flagged),
    (Role::Private, Role::Blocked),
    (Role::Private, Role::Text),
    (Role::Good, Role::Bad),
    (Role::New, Role::Gone),
];

fn seen(matrix: &Matrix, colour: Light) -> Light {
    times(matrix, colour).map(|v| v.clamp(0.0, 1.0))
}

/// The least distance of any pair for one kind of vision, and that pair.
fn least(theme: &Theme, matrix: &Matrix) -> (f64, (Role, Role)) {
    let light = |role| seen(matrix, light(theme.style(role).fg.unwrap()).unwrap());
    let all = PAIRS.map(|(a, b)| (distance(light(a), light(b)), (a, b)));
    all.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
}

fn theme(name: &str, depth: Depth) -> Theme {
    let background = Background::Dark;
    let themes = Themes::new(name, TerminalCaps { depth, background }).unwrap();
    themes.current().clone()
}

/// In hundredths of OKLab's lightness; about 2 is just visible. Each palette says the same in words and glyphs too.
#[test]
fn each_palette_keeps_what_decides_this_far_apart() {
    let mut report = String::new();
    for (name, _) in BUILT_IN.iter().filter(|(name, _)| *name != "none") {
        for depth in [Depth::True, Depth::Palette] {
            report.push_str(&format!("{name} {depth:?}:"));
            for (vision, matrix) in VISIONS {
                let (far, (a, b)) = least(&theme(name, depth), matrix);
                let far = (far * 100.0).floor();
                report.push_str(&format!(" {vision} {far} ({}/{})", a.name(), b.name()));
            }
            report.push('\n');
        }
    }
    snap("vision", &report);
}

#[test]
fn the_colour_blind_palette_keeps_what_decides_apart_for_everybody() {
    for depth in [Depth::True, Depth::Palette] {
        for (vision, matrix) in VISIONS {
            let (far, pair) = least(&theme("colour-blind", depth), matrix);
            assert!(far >= 0.12, "{depth:?} {vision}: {pair:?} {far:.3}");
        }
    }
}

#[test]
fn the_simulation_is_the_published_one() {
    // Greys stay grey, and red and green of the same lightness become alike for a deutan.
    for (vision, matrix) in VISIONS {
        let grey = times(matrix, [0.5, 0.5, 0.5]);
        assert!(
            grey.iter().all(|v| (v - 0.5).abs() < 1e-3),
            "{vision} {grey:?}"
        );
    }
    let [red, green] = [[0.6, 0.1, 0.1], [0.05, 0.33, 0.1]];
    let apart = |matrix| distance(seen(matrix, red), seen(matrix, green));
    assert!(apart(&DEUTAN) < apart(&NORMAL) / 3.0);
}
