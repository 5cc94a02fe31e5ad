//! A table of colours with a bar that explains them.

use plotters::prelude::*;

use super::cartesian::{Grid, colour_bar, frame, ticks_across, ticks_up};
use super::style::px;
use super::{Area, Outcome, nothing};
use crate::report::figure::Heat;

/// Colours of the bar, CSS pixels.
const BAR: i32 = 90;

/// Shades that are told apart; cells of one shade side by side are one rectangle.
const SHADES: f64 = 48.0;

pub fn draw(heat: &Heat, area: &Area) -> Outcome {
    let (columns, rows) = (
        heat.x_edges.len().saturating_sub(1),
        heat.y_edges.len().saturating_sub(1),
    );
    if columns * rows == 0 || heat.cells.iter().all(|cell| !cell.is_finite()) {
        return nothing(area);
    }
    let (width, _) = area.dim_in_pixel();
    let (left, right) = area.split_horizontally(width as i32 - px(BAR));
    let exact = |edges: &[f64], axis: &crate::report::figure::Axis| {
        let mut axis = axis.clone();
        axis.range = axis.range.or(Some([edges[0], edges[edges.len() - 1]]));
        axis
    };
    let x = exact(&heat.x_edges, &heat.x)
        .coord(heat.x_edges.iter().copied(), ticks_across(&left, px(70)));
    let y = exact(&heat.y_edges, &heat.y).coord(heat.y_edges.iter().copied(), ticks_up(&left));
    let value = heat.value.coord(heat.cells.iter().copied(), ticks_up(area));
    let inside = frame(&left, &x, &y, Grid::None)?;
    let shade = |cell: f64| match value.share(cell) {
        share if share.is_nan() => None,
        share => Some((share.clamp(0.0, 1.0) * SHADES).round() as i32),
    };
    for row in 0..rows {
        let cells: Vec<_> = (0..columns)
            .map(|column| heat.cells.get(row * columns + column).copied())
            .map(|cell| cell.and_then(shade))
            .collect();
        let mut from = 0;
        for run in cells.chunk_by(|a, b| a == b) {
            let to = from + run.len();
            if let Some(shade) = run[0] {
                let corners = [
                    inside.held(heat.x_edges[from], heat.y_edges[row + 1]),
                    inside.held(heat.x_edges[to], heat.y_edges[row]),
                ];
                let fill = colour(f64::from(shade) / SHADES).filled();
                inside.area.draw(&Rectangle::new(corners, fill))?;
            }
            from = to;
        }
    }
    colour_bar(&right, &value, colour)
}

/// Viridis: even steps of lightness, for any colour vision.
pub fn colour(share: f64) -> RGBColor {
    ViridisRGB.get_color(share)
}
