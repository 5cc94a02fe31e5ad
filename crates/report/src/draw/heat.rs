//! A table of colours with a bar that explains them.

use plotters::prelude::*;

use super::cartesian::{Grid, Inside, colour_bar, frame, ticks_across, ticks_up};
use super::hover::Spots;
use super::style::{Ink, LABEL, px, text};
use super::{Area, Outcome, nothing};
use crate::figure::Heat;

/// Colours of the bar, CSS pixels.
const BAR: i32 = 90;

/// Shades that are told apart; cells of one shade side by side are one rectangle.
const SHADES: f64 = 48.0;

pub fn draw(heat: &Heat, area: &Area, spots: &mut Spots) -> Outcome {
    let (columns, rows) = (
        heat.x_edges.len().saturating_sub(1),
        heat.y_edges.len().saturating_sub(1),
    );
    if columns * rows == 0 || heat.cells.iter().all(|cell| !cell.is_finite()) {
        return nothing(area);
    }
    let (width, _) = area.dim_in_pixel();
    let (left, right) = area.split_horizontally(width as i32 - px(BAR));
    let exact = |edges: &[f64], axis: &crate::figure::Axis| {
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
                // Without a seam above the row below.
                let [top, (right, bottom)] = corners;
                let corners = [top, (right, bottom + i32::from(row > 0))];
                let fill = colour(f64::from(shade) / SHADES).filled();
                inside.area.draw(&Rectangle::new(corners, fill))?;
            }
            from = to;
        }
    }
    annotate(heat, &inside)?;
    hover(heat, &inside, columns, spots);
    colour_bar(&right, &value, colour)
}

/// Most cells with a text under the pointer: in a finer table none is as large as a pointer.
const MOST_SPOTS: usize = 4_000;

fn hover(heat: &Heat, inside: &Inside, columns: usize, spots: &mut Spots) {
    if heat.cells.len() > MOST_SPOTS {
        return;
    }
    for (at, cell) in heat
        .cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| cell.is_finite())
    {
        let (row, column) = (at / columns, at % columns);
        let (Some(&right), Some(&upper)) =
            (heat.x_edges.get(column + 1), heat.y_edges.get(row + 1))
        else {
            continue;
        };
        let (left, lower) = (heat.x_edges[column], heat.y_edges[row]);
        let words = format!(
            "{} {}, {} {}\n{}: {}",
            heat.x.label,
            heat.x.said(left),
            heat.y.label,
            heat.y.said(lower),
            heat.value.label,
            heat.value.said(*cell)
        );
        spots.over(
            &inside.area,
            [inside.held(left, upper), inside.held(right, lower)],
            &words,
        );
    }
}

/// Dots at measured places, and rings with names.
fn annotate(heat: &Heat, inside: &Inside) -> Outcome {
    // The colours below are the same on any page.
    let (paper, ink) = (WHITE, BLACK);
    for [x, y] in &heat.dots {
        let at = inside.held(*x, *y);
        inside.area.draw(&Circle::new(at, px(3), ink.filled()))?;
        inside.area.draw(&Circle::new(at, px(2), paper.filled()))?;
    }
    let (width, _) = inside.area.dim_in_pixel();
    for (name, [x, y]) in &heat.marks {
        let at = inside.held(*x, *y);
        inside
            .area
            .draw(&Circle::new(at, px(7), paper.stroke_width(6)))?;
        inside
            .area
            .draw(&Circle::new(at, px(7), ink.stroke_width(3)))?;
        let words = text(LABEL, Ink::Strong).color(&ink);
        let (long, high) = inside.area.estimate_text_size(name, &words)?;
        let (long, high) = (long as i32, high as i32);
        // On the side that has room.
        let left = match at.0 + px(14) + long > width as i32 {
            true => (at.0 - px(14) - long).max(px(2)),
            false => at.0 + px(14),
        };
        let top = (at.1 - high / 2).max(px(2));
        let corners = [
            (left - px(3), top - px(2)),
            (left + long + px(3), top + high + px(2)),
        ];
        inside
            .area
            .draw(&Rectangle::new(corners, paper.mix(0.85).filled()))?;
        inside
            .area
            .draw(&Text::new(name.as_str(), (left, top), words))?;
    }
    Ok(())
}

/// Viridis: even steps of lightness, for any colour vision.
pub fn colour(share: f64) -> RGBColor {
    ViridisRGB.get_color(share)
}
