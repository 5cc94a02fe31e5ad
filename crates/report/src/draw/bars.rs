//! Horizontal bars: names of any length fit beside them.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::cartesian::{Grid, Inside, frame, ticks_across};
use super::hover::Spots;
use super::style::{Ink, Looks, TICK, mark, px, text};
use super::{Area, Outcome, nothing};
use crate::figure::{Bars, Coord, Group, Point, quantile};
use crate::format::shorten;

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

pub fn draw(bars: &Bars, area: &Area, looks: &Looks, spots: &mut Spots) -> Outcome {
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
    if bars.dots || bars.ends().iter().any(|end| *end < 0.0) {
        let ends = [0.0, bars.groups.len() as f64].map(|row| inside.held(0.0, row));
        let zero = PathElement::new(ends.to_vec(), Ink::Soft.rgb().stroke_width(3));
        inside.area.draw(&zero)?;
    }
    for (row, group) in bars.groups.iter().enumerate() {
        let mut over = |corners, name: &str, point: &Point| {
            spots.over(&inside.area, corners, &said(bars, group, name, point));
        };
        match (bars.stacked, bars.dots) {
            (true, _) => stack(&inside, row, group, looks, &mut over)?,
            (_, true) => dots(&inside, row, group, looks, &mut over)?,
            _ => side_by_side(&inside, row, group, looks, &mut over)?,
        }
    }
    Ok(())
}

/// Text about a bar: `minimal, load 0.3`, and its value.
fn said(bars: &Bars, group: &Group, name: &str, point: &Point) -> String {
    let value = |value: f64| bars.value.said(value);
    let what = [group.name.as_str(), name]
        .into_iter()
        .filter(|one| !one.is_empty());
    let what = what.collect::<Vec<_>>().join(", ");
    let [low, high] = point.spread;
    let spread = match low.is_finite() && high.is_finite() {
        true => format!(" ({} to {})", value(low), value(high)),
        false => String::new(),
    };
    let label = match bars.value.label.as_str() {
        "" => String::new(),
        label => format!("{label}: "),
    };
    let median = if bars.boxes { "median " } else { "" };
    format!("{what}\n{label}{median}{}{spread}", value(point.y))
}

/// Text about a bar that lies between two corners.
type Over<'a> = &'a mut dyn FnMut([(i32, i32); 2], &str, &Point);

fn stack(inside: &Inside, row: usize, group: &Group, looks: &Looks, over: Over) -> Outcome {
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
        fill(inside, corners, looks.of_name(name).colour)?;
        over(corners, name, point);
        from += point.y;
    }
    Ok(())
}

fn side_by_side(inside: &Inside, row: usize, group: &Group, looks: &Looks, over: Over) -> Outcome {
    let share = 0.8 / group.bars.len().max(1) as f64;
    for (place, (name, point)) in group.bars.iter().enumerate() {
        let top = row as f64 + 0.1 + place as f64 * share;
        let colour = looks.of_name(name).colour;
        if point.y.is_nan() {
            words(inside, "no value", Ink::Soft, top + share / 2.0)?;
            continue;
        }
        let corners = [
            inside.held(0.0, top + share * 0.08),
            inside.held(point.y, top + share * 0.92),
        ];
        match group.values.get(place) {
            Some(values) => boxed(inside, values, [top, share], colour)?,
            None => {
                fill(inside, corners, colour)?;
                whisker(inside, point, top + share / 2.0)?;
            }
        }
        let end = inside.held(point.spread[1].max(point.y), top + share * 0.92);
        over(
            [corners[0], (corners[1].0.max(end.0), corners[1].1)],
            name,
            point,
        );
        if inside.shares(point.y, top).0 > 1.0 {
            words(inside, "off the scale", Ink::Strong, top + share / 2.0)?;
        }
    }
    Ok(())
}

/// A dot for each value, with its spread.
fn dots(inside: &Inside, row: usize, group: &Group, looks: &Looks, over: Over) -> Outcome {
    let share = 0.8 / group.bars.len().max(1) as f64;
    for (place, (name, point)) in group.bars.iter().enumerate() {
        let middle = row as f64 + 0.1 + (place as f64 + 0.5) * share;
        if !point.y.is_finite() {
            continue;
        }
        whisker(inside, point, middle)?;
        mark(
            &inside.area,
            inside.held(point.y, middle),
            &looks.of_name(name),
        )?;
        let (x, y) = inside.held(point.y, middle);
        over(
            [(x - px(6), y - px(6)), (x + px(6), y + px(6))],
            name,
            point,
        );
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

/// A box from the first to the third quartile with a line at the median, whiskers to the least and
/// the largest, and a dot for each value.
fn boxed(inside: &Inside, values: &[f64], [top, share]: [f64; 2], colour: RGBColor) -> Outcome {
    let mut values: Vec<f64> = values
        .iter()
        .copied()
        .filter(|one| one.is_finite())
        .collect();
    values.sort_by(f64::total_cmp);
    let at = |quantile_at: f64, part: f64| {
        inside.held(quantile(&values, quantile_at), top + share * part)
    };
    let middle = top + share / 2.0;
    let ends = Point {
        x: f64::NAN,
        y: f64::NAN,
        spread: [quantile(&values, 0.0), quantile(&values, 1.0)],
    };
    whisker(inside, &ends, middle)?;
    let corners = [at(0.25, 0.12), at(0.75, 0.88)];
    if corners[0].0 != corners[1].0 {
        let inner = Rectangle::new(corners, colour.mix(0.35).filled());
        inside.area.draw(&inner)?;
        inside
            .area
            .draw(&Rectangle::new(corners, colour.stroke_width(3)))?;
    }
    let median = vec![at(0.5, 0.06), at(0.5, 0.94)];
    inside
        .area
        .draw(&PathElement::new(median, colour.stroke_width(6)))?;
    for value in &values {
        let dot = Circle::new(
            inside.held(*value, middle),
            px(2),
            Ink::Strong.rgb().filled(),
        );
        inside.area.draw(&dot)?;
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

/// Words where a bar begins.
fn words(inside: &Inside, words: &str, ink: Ink, row: f64) -> Outcome {
    let (x, y) = inside.held(0.0, row);
    let style = text(TICK, ink).pos(Pos::new(HPos::Left, VPos::Center));
    Ok(inside.area.draw(&Text::new(words, (x + px(5), y), style))?)
}
