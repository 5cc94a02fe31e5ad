//! Texts of an SVG as outlines, for a renderer that has no fonts.
//!
//! The drawing library writes `<text>` with `x`, `y`, `dy`, `text-anchor`, `font-size`, `fill`
//! and `transform`; these are read, others have no effect.

use std::fmt::Write;

use ab_glyph::{Font, FontRef, GlyphId, OutlineCurve, Point};
use roxmltree::{Document, Node};

use crate::draw::style::FONT;
use crate::draw::{DrawError, Outcome};

/// Replaces every `<text>` by a `<path>` with the shapes of its letters.
///
/// # Errors
/// [`DrawError`] if it is not XML.
pub fn outlined(svg: &str) -> Outcome<String> {
    let failed = |cause: String| DrawError(cause);
    let font = FontRef::try_from_slice(FONT).map_err(|error| failed(error.to_string()))?;
    let document = Document::parse(svg).map_err(|error| failed(error.to_string()))?;
    let mut shapes = String::with_capacity(svg.len() * 2);
    let mut done = 0;
    for node in document
        .descendants()
        .filter(|node| node.has_tag_name("text"))
    {
        let place = node.range();
        shapes.push_str(svg.get(done..place.start).unwrap_or_default());
        shapes.push_str(&path(&node, &font));
        done = place.end;
    }
    shapes.push_str(svg.get(done..).unwrap_or_default());
    Ok(shapes)
}

/// A text as a path.
fn path(text: &Node, font: &FontRef) -> String {
    let attribute = |name: &'static str| text.attribute(name).unwrap_or_default();
    let number = |name: &'static str| -> f32 { attribute(name).parse().unwrap_or(0.0) };
    let words: String = text.text().unwrap_or_default().trim().to_string();
    let size = number("font-size");
    let scale = size / font.units_per_em().unwrap_or(1.0);
    // Half an em for an ex, as renderers take it that do not ask the font.
    let down = match attribute("dy") {
        dy if dy.ends_with("em") => size * dy.trim_end_matches("em").parse().unwrap_or(0.0f32),
        dy => size * 0.5 * dy.trim_end_matches("ex").parse().unwrap_or(0.0f32),
    };
    let (letters, width) = line(font, &words);
    let left = match attribute("text-anchor") {
        "middle" => width * 0.5,
        "end" => width,
        _ => 0.0,
    };
    let origin = Point {
        x: number("x") - left * scale,
        y: number("y") + down,
    };
    let mut shapes = String::new();
    for (letter, at) in letters {
        // A letter without a shape is a space.
        let Some(outline) = font.outline(letter) else {
            continue;
        };
        let to_page = |point: Point| Point {
            x: origin.x + (at + point.x) * scale,
            y: origin.y - point.y * scale,
        };
        trace(&outline.curves, to_page, &mut shapes);
    }
    let mut path = format!("<path d=\"{shapes}\"");
    for name in ["fill", "transform"] {
        if let Some(value) = text.attribute(name) {
            let _ = write!(path, " {name}=\"{value}\"");
        }
    }
    path.push_str("/>");
    path
}

/// The letters of a line with their places, and its width, in units of the font.
fn line(font: &FontRef, words: &str) -> (Vec<(GlyphId, f32)>, f32) {
    let mut letters: Vec<(GlyphId, f32)> = Vec::new();
    let mut at = 0.0;
    for letter in words.chars().map(|letter| font.glyph_id(letter)) {
        if let Some((before, _)) = letters.last() {
            at += font.kern_unscaled(*before, letter);
        }
        letters.push((letter, at));
        at += font.h_advance_unscaled(letter);
    }
    (letters, at)
}

/// Adds the curves of a letter to the data of a path.
fn trace(curves: &[OutlineCurve], to_page: impl Fn(Point) -> Point, data: &mut String) {
    let mut end = None;
    for curve in curves {
        let (from, command, through, to): (_, _, &[&Point], _) = match curve {
            OutlineCurve::Line(from, to) => (from, 'L', &[], to),
            OutlineCurve::Quad(from, a, to) => (from, 'Q', &[a], to),
            OutlineCurve::Cubic(from, a, b, to) => (from, 'C', &[a, b], to),
        };
        if end != Some(*from) {
            let from = to_page(*from);
            let _ = write!(data, "M{:.3} {:.3}", from.x, from.y);
        }
        data.push(command);
        for point in through.iter().copied().chain([to]) {
            let point = to_page(*point);
            let _ = write!(data, "{:.3} {:.3} ", point.x, point.y);
        }
        end = Some(*to);
    }
}
