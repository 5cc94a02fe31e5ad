//! Text that a page shows for a point, a bar or a cell under the pointer: an invisible shape with a
//! title, which browsers show by themselves.

use super::Area;
use super::style::px;
use crate::format::escape;

/// More than this makes a page heavy; then some are left out, evenly.
const MOST: usize = 6_000;

/// Shapes in places of the whole drawing.
#[derive(Default)]
pub struct Spots {
    spots: Vec<String>,
}

impl Spots {
    /// Around a point of `area`.
    pub fn point(&mut self, area: &Area, (x, y): (i32, i32), words: &str) {
        let (left, top) = area.get_base_pixel();
        self.add(
            format!(
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"",
                left + x,
                top + y,
                px(6)
            ),
            words,
            "circle",
        );
    }

    /// Over a rectangle of `area`; at least as high and wide as a finger needs.
    pub fn over(&mut self, area: &Area, [one, other]: [(i32, i32); 2], words: &str) {
        let (left, top) = area.get_base_pixel();
        let (x, wide) = (one.0.min(other.0), (one.0 - other.0).abs().max(px(1)));
        let (y, high) = (one.1.min(other.1), (one.1 - other.1).abs().max(px(1)));
        self.add(
            format!(
                "<rect x=\"{}\" y=\"{}\" width=\"{wide}\" height=\"{high}\"",
                left + x,
                top + y
            ),
            words,
            "rect",
        );
    }

    fn add(&mut self, shape: String, words: &str, tag: &str) {
        let words = escape(words);
        self.spots
            .push(format!("{shape}><title>{words}</title></{tag}>\n"));
    }

    /// All of them as SVG.
    pub fn svg(&self) -> String {
        if self.spots.is_empty() {
            return String::new();
        }
        let step = self.spots.len().div_ceil(MOST);
        let spots: String = self
            .spots
            .iter()
            .step_by(step)
            .map(String::as_str)
            .collect();
        format!("<g fill=\"none\" pointer-events=\"all\">\n{spots}</g>\n")
    }
}
