//! Horizontal bars: names of any length fit beside them.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::cartesian::{Grid, Inside, frame, ticks_across};
use super::style::{Ink, TICK, look, place_of, px, text};
use super::{Area, Outcome, nothing};
use crate::report::figure::{Bars, Coord, Group, Point};
use crate::report::format::shorten;

/// Letters of the longest name that is not shortened.
const LETTERS: usize = 28;

/// Height of a panel, CSS pixels.
pub fn height(bars: &Bars) -> i32 {
    let rows: usize = match bars.stacked {
        true => bars.groups.len(),
        false => bars.groups.iter().map(|group| group.bars.len()).sum(),
    };
    let gaps = bars.groups.len() as i32 * if bars.stacked { 10 } else { 12 };
    (rows as i32 * 20 + gaps + 90).clamp(150, 2_000)
}

pub fn draw(bars: &Bars, area: &Area, names: &[&str]) -> Outcome {
    let all = || bars.groups.iter().flat_map(|group| &group.bars);
    if !all().any(|(_, point)| point.y.is_finite()) {
        return nothing(area);
    }
    let labels = bars
        .groups
        .iter()
        .map(|group| shorten(&group.name, LETTERS));
    let labels: Vec<_> = labels.collect();
    let y = Coord::names(&labels).reversed();
    let x = bars.value.coord(bars.ends(), ticks_across(area, px(160)));
    let inside = frame(area, &x, &y, Grid::Upright)?;
    for (row, group) in bars.groups.iter().enumerate() {
        match bars.stacked {
            true => stack(&inside, row, group, names)?,
            false => side_by_side(&inside, row, group, names)?,
        }
    }
    Ok(())
}

fn stack(inside: &Inside, row: usize, group: &Group, names: &[&str]) -> Outcome {
    let mut from = 0.0;
    for (name, point) in &group.bars {
        if !point.y.is_finite() {
            continue;
        }
        let row = row as f64;
        let corners = [
            inside.held(from, row + 0.18),
            inside.held(from + point.y, row + 0.82),
        ];
        fill(inside, corners, look(place_of(name, names)).colour)?;
        from += point.y;
    }
    Ok(())
}

fn side_by_side(inside: &Inside, row: usize, group: &Group, names: &[&str]) -> Outcome {
    let share = 0.8 / group.bars.len().max(1) as f64;
    for (place, (name, point)) in group.bars.iter().enumerate() {
        let top = row as f64 + 0.1 + place as f64 * share;
        let colour = look(place_of(name, names)).colour;
        if point.y.is_nan() {
            words(inside, "no value", 0.0, top + share / 2.0)?;
            continue;
        }
        let corners = [
            inside.held(0.0, top + share * 0.08),
            inside.held(point.y, top + share * 0.92),
        ];
        fill(inside, corners, colour)?;
        whisker(inside, point, top + share / 2.0)?;
        if inside.shares(point.y, top).0 > 1.0 {
            words(inside, "off the scale", 0.0, top + share / 2.0)?;
        }
    }
    Ok(())
}

/// A bar between two corners; nothing if it has no length.
fn fill(inside: &Inside, corners: [(i32, i32); 2], colour: RGBColor) -> Outcome {
    if corners[0].0 != corners[1].0 {
        let bar = Rectangle::new(corners, colour.filled());
        inside.area.draw(&bar)?;
    }
    Ok(())
}

fn whisker(inside: &Inside, point: &Point, row: f64) -> Outcome {
    let [low, high] = point.spread;
    if !low.is_finite() || !high.is_finite() || low == high {
        return Ok(());
    }
    let ends = vec![inside.held(low, row), inside.held(high, row)];
    if ends[0] == ends[1] {
        return Ok(());
    }
    let style = Ink::Strong.rgb().stroke_width(3);
    Ok(inside.area.draw(&PathElement::new(ends, style))?)
}

fn words(inside: &Inside, words: &str, x: f64, row: f64) -> Outcome {
    let (x, y) = inside.held(x, row);
    let style = text(TICK, Ink::Soft).pos(Pos::new(HPos::Left, VPos::Center));
    Ok(inside.area.draw(&Text::new(words, (x + px(5), y), style))?)
}
