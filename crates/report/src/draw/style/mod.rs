//! Colours, marks, dashes and texts.

use std::sync::OnceLock;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Area, Outcome};

/// The font, and replacements if it is missing; all have the same widths.
pub const FAMILY: &str = "Liberation Sans, Arial, Helvetica, sans-serif";

/// The font for measuring, and for the PNG.
pub const FONT: &[u8] = include_bytes!("fonts/LiberationSans-Regular.ttf");

/// Sizes of texts in CSS pixels.
pub const TITLE: f64 = 17.0;
pub const PANEL_TITLE: f64 = 14.0;
pub const LABEL: f64 = 13.0;
pub const TICK: f64 = 12.0;
pub const CAPTION: f64 = 12.0;

/// CSS pixels in units of the drawing.
pub const fn px(css: i32) -> i32 {
    css * 2
}

/// The colours of everything that is no data: a page replaces them by its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Titles, labels, and the series that is black.
    Strong,
    /// Captions, ticks, axes.
    Soft,
    /// Grids.
    Faint,
}

impl Ink {
    pub const ALL: [Ink; 3] = [Ink::Strong, Ink::Soft, Ink::Faint];

    pub const fn rgb(self) -> RGBColor {
        match self {
            Ink::Strong => RGBColor(0x1A, 0x1C, 0x1F),
            Ink::Soft => RGBColor(0x52, 0x57, 0x5E),
            Ink::Faint => RGBColor(0xDD, 0xE0, 0xE4),
        }
    }

    /// As the back end writes it.
    pub fn hex(self) -> String {
        let RGBColor(r, g, b) = self.rgb();
        format!("#{r:02X}{g:02X}{b:02X}")
    }

    /// The variable of the page's style sheet.
    pub const fn variable(self) -> &'static str {
        match self {
            Ink::Strong => "var(--ink)",
            Ink::Soft => "var(--soft)",
            Ink::Faint => "var(--faint)",
        }
    }
}

/// Okabe and Ito's colours, which people with any colour vision tell apart; without yellow, which
/// is too light for lines on white, and with the ink for black.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x56, 0xB4, 0xE9),
    Ink::Strong.rgb(),
];

/// The darkest of them as the back end writes it.
pub fn dark_blue() -> String {
    let RGBColor(r, g, b) = COLOURS[0];
    format!("#{r:02X}{g:02X}{b:02X}")
}

/// Dashes and gaps as SVG has them, in units of the drawing; the first is a solid line.
const DASHES: [&str; 6] = ["", "16 8", "5 6", "28 8 5 8", "32 10", "5 12"];

/// The dashes of lines that are no series.
pub const DOTTED: usize = 2;

/// The plotting library has no dashes that turn corners.
/// The dash is therefore encoded in the width of the stroke: a multiple of this, which [`dashed`]
/// makes an attribute.
const DASH_STEP: u32 = 1_000;

/// A stroke with a dash.
pub fn stroke(colour: RGBColor, width: u32, dash: usize) -> ShapeStyle {
    colour.stroke_width(width + DASH_STEP * dash as u32)
}

/// The drawing with the dashes that its strokes carry.
pub fn dashed(drawing: &str) -> String {
    let mut text = drawing.to_string();
    for (dash, pattern) in DASHES.iter().enumerate().skip(1) {
        for width in 1..8 {
            let coded = format!("stroke-width=\"{}\"", width + DASH_STEP * dash as u32);
            let plain = format!("stroke-width=\"{width}\" stroke-dasharray=\"{pattern}\"");
            text = text.replace(&coded, &plain);
        }
    }
    text
}

/// Appearance of the series in this place of the legend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    pub colour: RGBColor,
    pub dash: usize,
    pub mark: usize,
}

pub fn look(place: usize) -> Look {
    Look {
        colour: COLOURS[place % COLOURS.len()],
        dash: place % DASHES.len(),
        mark: place % MARKS,
    }
}

/// Appearance of the series of a figure.
/// A job has the same colour in all figures of a report, by its place among the jobs; other series
/// take the places that are left.
pub struct Looks<'a> {
    names: Vec<(&'a str, usize)>,
}

impl<'a> Looks<'a> {
    pub fn of(names: &[&'a str], jobs: &[String]) -> Looks<'a> {
        let job = |name: &str| {
            let mut parts = name
                .split(", ")
                .flat_map(|part| [part, part.split('.').next().unwrap_or(part)]);
            parts.find_map(|part| jobs.iter().position(|job| job == part))
        };
        let own: Vec<Option<usize>> = names.iter().map(|name| job(name)).collect();
        let taken: Vec<usize> = own.iter().copied().flatten().collect();
        let twice = taken
            .iter()
            .enumerate()
            .any(|(at, place)| taken[..at].contains(place));
        let mut free = (0..).filter(|place| twice || !taken.contains(place));
        let place = |(name, own): (&&'a str, Option<usize>)| {
            let own = own.filter(|_| !twice);
            (*name, own.or_else(|| free.next()).unwrap_or_default())
        };
        Looks {
            names: names.iter().zip(own).map(place).collect(),
        }
    }

    /// In the order of the legend.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.names.iter().map(|(name, _)| *name)
    }

    pub fn of_name(&self, name: &str) -> Look {
        let found = self.names.iter().find(|(own, _)| *own == name);
        look(found.map_or(0, |(_, place)| *place))
    }
}

/// Shapes of marks.
const MARKS: usize = 8;

/// Draws a mark around `at`.
pub fn mark(area: &Area, (x, y): (i32, i32), look: &Look) -> Outcome {
    let full = look.colour.filled();
    let r = px(4);
    let shape = |corners: &[(i32, i32)]| -> Vec<(i32, i32)> {
        corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect()
    };
    match look.mark {
        0 => area.draw(&Circle::new((x, y), r, full))?,
        1 => area.draw(&Polygon::new(
            shape(&[(-r, -r), (r, -r), (r, r), (-r, r)]),
            full,
        ))?,
        2 => area.draw(&Polygon::new(
            shape(&[(0, -r - 2), (r + 1, r), (-r - 1, r)]),
            full,
        ))?,
        3 => {
            let r = r + 2;
            area.draw(&Polygon::new(
                shape(&[(0, -r), (r, 0), (0, r), (-r, 0)]),
                full,
            ))?;
        }
        4 => area.draw(&Polygon::new(
            shape(&[(0, r + 2), (r + 1, -r), (-r - 1, -r)]),
            full,
        ))?,
        5 => {
            let thin = look.colour.stroke_width(4);
            area.draw(&PathElement::new(shape(&[(-r, -r), (r, r)]), thin))?;
            area.draw(&PathElement::new(shape(&[(-r, r), (r, -r)]), thin))?;
        }
        6 => {
            let (thin, r) = (look.colour.stroke_width(4), r + 1);
            area.draw(&PathElement::new(shape(&[(-r, 0), (r, 0)]), thin))?;
            area.draw(&PathElement::new(shape(&[(0, r), (0, -r)]), thin))?;
        }
        _ => area.draw(&Circle::new((x, y), r, look.colour.stroke_width(4)))?,
    }
    Ok(())
}

/// Draws a line through places of the area.
pub fn line(area: &Area, places: Vec<(i32, i32)>, look: &Look, width: u32) -> Outcome {
    let style = stroke(look.colour, width, look.dash);
    area.draw(&PathElement::new(places, style))?;
    Ok(())
}

/// A style of text, `size` in CSS pixels. (The back end divides sizes by 1.24.)
pub fn text(size: f64, ink: Ink) -> TextStyle<'static> {
    let size = size * f64::from(px(1)) * 1.24;
    TextStyle {
        font: FontDesc::new(FontFamily::Name(FAMILY), size, FontStyle::Normal),
        color: ink.rgb().to_backend_color(),
        pos: Pos::default(),
    }
}

/// Centred on its place.
pub fn centred(style: TextStyle<'static>) -> TextStyle<'static> {
    style.pos(Pos::new(HPos::Center, VPos::Center))
}

/// Registers the font with the plotting library.
pub fn register_font() -> Result<(), String> {
    static DONE: OnceLock<bool> = OnceLock::new();
    let done = DONE
        .get_or_init(|| plotters::style::register_font(FAMILY, FontStyle::Normal, FONT).is_ok());
    match done {
        true => Ok(()),
        false => Err("the font is damaged".to_string()),
    }
}
