//! The legend: a strip above the plots, so that it never covers any.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::style::{self, Ink, LABEL, Looks, px, text};
use super::{Area, DrawError, Outcome};
use crate::figure::{Figure, Plot};
use crate::format::shorten;

/// Height of a row, CSS pixels.
const ROW: i32 = 22;
/// Length of the sample of a line, and the room around the name, CSS pixels.
const SAMPLE: i32 = 34;
const GAP: i32 = 22;
/// Letters of the longest name that is not shortened.
const LETTERS: usize = 48;

/// Appearance of a series.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sample {
    Line { marks: bool },
    Swatch,
}

/// Position of each name, CSS pixels.
pub struct Layout {
    entries: Vec<(String, i32, i32)>,
    rows: i32,
    sample: Sample,
}

impl Layout {
    /// Puts the names side by side into rows of `width`. A single name of a single series needs no
    /// legend.
    pub fn of(names: &[&str], figure: &Figure, width: i32) -> Result<Layout, DrawError> {
        let sample = figure.panels.iter().find_map(|panel| match &panel.plot {
            Plot::Lines(lines) => Some(Sample::Line {
                marks: lines.markers,
            }),
            _ => None,
        });
        let mut layout = Layout {
            entries: Vec::new(),
            rows: 0,
            sample: sample.unwrap_or(Sample::Swatch),
        };
        if names.len() < 2 && names.iter().all(|name| name.is_empty()) {
            return Ok(layout);
        }
        let font = text(LABEL, Ink::Strong);
        let mut at = 0;
        for name in names {
            let name = shorten(name, LETTERS);
            let (wide, _) = font
                .font
                .layout_box(&name)
                .map(|(_, corner)| corner)
                .map_err(|error| DrawError(error.to_string()))?;
            let wide = SAMPLE + 6 + wide / px(1) + GAP;
            if at > 0 && at + wide - GAP > width {
                at = 0;
                layout.rows += 1;
            }
            layout.entries.push((name, at, layout.rows * ROW));
            at += wide;
        }
        layout.rows += i32::from(!layout.entries.is_empty());
        Ok(layout)
    }

    /// CSS pixels.
    pub fn height(&self) -> i32 {
        self.rows * ROW + if self.rows > 0 { 4 } else { 0 }
    }

    pub fn draw(&self, area: &Area, looks: &Looks) -> Outcome {
        let words = text(LABEL, Ink::Strong).pos(Pos::new(HPos::Left, VPos::Center));
        for ((name, x, y), own) in self.entries.iter().zip(looks.names()) {
            let look = looks.of_name(own);
            let (left, middle) = (px(*x), px(y + ROW / 2));
            let right = left + px(SAMPLE);
            match self.sample {
                Sample::Line { marks } => {
                    style::line(area, vec![(left, middle), (right, middle)], &look, 4)?;
                    if marks {
                        style::mark(area, ((left + right) / 2, middle), &look)?;
                    }
                }
                Sample::Swatch => {
                    let corners = [(right - px(16), middle - px(6)), (right, middle + px(6))];
                    area.draw(&Rectangle::new(corners, look.colour.filled()))?;
                }
            }
            let at = (right + px(6), middle);
            area.draw(&Text::new(name.as_str(), at, words.clone()))?;
        }
        Ok(())
    }
}
