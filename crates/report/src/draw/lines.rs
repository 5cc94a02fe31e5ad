//! Lines with marks, bands and points off the scale.

use plotters::prelude::*;

use super::cartesian::{Grid, Inside, frame, ticks_across, ticks_up};
use super::hover::Spots;
use super::style::{DOTTED, Ink, Look, Looks, line, mark, px, stroke};
use super::{Area, Outcome, nothing};
use crate::figure::{Lines, Point, Series};

pub fn draw(lines: &Lines, area: &Area, looks: &Looks, spots: &mut Spots) -> Outcome {
    let points = || lines.series.iter().flat_map(|one| &one.points);
    let usable = |point: &&Point| !point.x.is_nan() && !point.y.is_nan();
    if !points().any(|point| usable(&point)) {
        return nothing(area);
    }
    let seen = || points().filter(usable);
    let x = lines
        .x
        .coord(seen().map(|point| point.x), ticks_across(area, px(70)));
    let heights = seen().flat_map(|point| [point.y, point.spread[0], point.spread[1]]);
    let y = lines.y.coord(heights, ticks_up(area));
    let inside = frame(area, &x, &y, Grid::Both)?;
    if lines.diagonal {
        let ends = [x.ticks().first().map_or(0.0, |tick| tick.0.min(0.0)), 1e3]
            .map(|v| inside.shares(v, v));
        if let Some([from, to]) = clip(ends[0], ends[1]) {
            let ends = vec![inside.place(from), inside.place(to)];
            let thin = stroke(Ink::Soft.rgb(), 2, DOTTED);
            inside.area.draw(&PathElement::new(ends, thin))?;
        }
    }
    for series in &lines.series {
        band(&inside, series, lines.markers, &looks.of_name(&series.name))?;
    }
    for series in &lines.series {
        let look = looks.of_name(&series.name);
        // Between two of several things that only stand side by side there is nothing.
        if lines.x.names.is_empty() {
            strokes(&inside, series, &look)?;
        }
        marks(&inside, series, lines.markers, &look)?;
        hover(lines, &inside, series, spots);
    }
    Ok(())
}

/// Most points of a line with a text under the pointer.
const MOST_SPOTS: usize = 120;

/// Texts at the points of a line; at some of them if it is dense.
fn hover(lines: &Lines, inside: &Inside, series: &Series, spots: &mut Spots) {
    let step = series.points.len().div_ceil(MOST_SPOTS).max(1);
    for point in series.points.iter().step_by(step) {
        let (x, y) = shares(inside, point);
        if !(0.0..=1.0).contains(&x) || y.is_nan() {
            continue;
        }
        let [own, low, high] = [point.y, point.spread[0], point.spread[1]].map(|y| lines.y.said(y));
        let spread = match point.spread.iter().all(|value| value.is_finite()) {
            true => format!(" ({low} to {high})"),
            false => String::new(),
        };
        let name = match series.name.as_str() {
            "" => String::new(),
            name => format!("{name}\n"),
        };
        let words = format!(
            "{name}{}: {}\n{}: {own}{spread}",
            lines.x.label,
            lines.x.said(point.x),
            lines.y.label
        );
        spots.point(&inside.area, inside.place((x, y)), &words);
    }
}

/// A place above everything, but not so far that a line to it is upright: infinite values are drawn
/// there.
const BEYOND: f64 = 1.05;

fn shares(inside: &Inside, point: &Point) -> (f64, f64) {
    let (x, y) = inside.shares(point.x, point.y);
    let y = match y {
        y if y == f64::INFINITY => BEYOND,
        y if y == f64::NEG_INFINITY => 1.0 - BEYOND,
        y => y,
    };
    (x, y)
}

/// The line, cut at the edges of the plot and at gaps.
fn strokes(inside: &Inside, series: &Series, look: &Look) -> Outcome {
    let places = series.points.iter().map(|point| shares(inside, point));
    for path in paths(places) {
        let mut path: Vec<_> = path.into_iter().map(|at| inside.place(at)).collect();
        path.dedup();
        if path.len() > 1 {
            line(&inside.area, path, look, 4)?;
        }
    }
    Ok(())
}

/// The parts of a line that lie in the unit square.
pub(super) fn paths(points: impl IntoIterator<Item = (f64, f64)>) -> Vec<Vec<(f64, f64)>> {
    let mut paths: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut last: Option<(f64, f64)> = None;
    let mut open = false;
    for point in points {
        if !point.0.is_finite() || !point.1.is_finite() {
            (last, open) = (None, false);
            continue;
        }
        let piece = last.and_then(|last| clip(last, point));
        match piece {
            Some([from, to]) => {
                match paths.last_mut() {
                    Some(path) if open && path.last() == Some(&from) => path.push(to),
                    _ => paths.push(vec![from, to]),
                }
                open = to == point;
            }
            None => open = false,
        }
        last = Some(point);
    }
    paths
}

/// The part of a straight line that lies in the unit square (Liang and Barsky).
pub(super) fn clip(from: (f64, f64), to: (f64, f64)) -> Option<[(f64, f64); 2]> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut start, mut end) = (0.0f64, 1.0f64);
    let edges = [
        (-dx, from.0),
        (dx, 1.0 - from.0),
        (-dy, from.1),
        (dy, 1.0 - from.1),
    ];
    for (direction, room) in edges {
        if direction == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if direction < 0.0 {
            start = start.max(room / direction);
        } else {
            end = end.min(room / direction);
        }
    }
    if start > end {
        return None;
    }
    // The ends themselves are kept exactly, so that the next piece is seen to join.
    let at = |share: f64| match share {
        0.0 => from,
        1.0 => to,
        share => (from.0 + share * dx, from.1 + share * dy),
    };
    Some([at(start), at(end)])
}

/// The spread of each point: whiskers if there are marks, a band if there are none.
fn band(inside: &Inside, series: &Series, whiskers: bool, look: &Look) -> Outcome {
    let spread = |point: &&Point| point.spread.iter().all(|value| value.is_finite());
    if whiskers {
        for point in series.points.iter().filter(spread) {
            let [low, high] = point.spread.map(|y| inside.held(point.x, y));
            if low == high || !(0.0..=1.0).contains(&inside.shares(point.x, point.y).0) {
                continue;
            }
            let thin = look.colour.stroke_width(2);
            inside.area.draw(&PathElement::new(vec![low, high], thin))?;
            for (x, y) in [low, high] {
                let cap = vec![(x - px(3), y), (x + px(3), y)];
                inside.area.draw(&PathElement::new(cap, thin))?;
            }
        }
        return Ok(());
    }
    for run in series.points.split(|point| !spread(&point)) {
        let upper = run
            .iter()
            .map(|point| inside.held(point.x, point.spread[1]));
        let lower = run
            .iter()
            .rev()
            .map(|point| inside.held(point.x, point.spread[0]));
        let outline: Vec<_> = upper.chain(lower).collect();
        if run.len() > 1 {
            inside
                .area
                .draw(&Polygon::new(outline, look.colour.mix(0.2).filled()))?;
        }
    }
    Ok(())
}

/// The marks, also of points between two gaps, of which there is no line; and arrows at the edge
/// for values above it.
fn marks(inside: &Inside, series: &Series, wanted: bool, look: &Look) -> Outcome {
    let joins = |at: Option<usize>| {
        let other = at.and_then(|at| series.points.get(at));
        other.is_some_and(|other| !other.x.is_nan() && !other.y.is_nan())
    };
    for (at, point) in series.points.iter().enumerate() {
        let alone = !joins(at.checked_sub(1)) && !joins(Some(at + 1));
        let (x, y) = shares(inside, point);
        if !(-1e-9..=1.0 + 1e-9).contains(&x) || y.is_nan() {
            continue;
        }
        if (-1e-9..=1.0 + 1e-9).contains(&y) {
            if wanted || alone {
                mark(&inside.area, inside.place((x, y)), look)?;
            }
        } else if wanted || alone {
            arrow(inside, inside.place((x, y.clamp(0.0, 1.0))), y > 1.0, look)?;
        }
    }
    Ok(())
}

/// Off the scale: an open arrow head that points over the edge.
fn arrow(inside: &Inside, (x, y): (i32, i32), up: bool, look: &Look) -> Outcome {
    let towards = if up { 1 } else { -1 };
    let (wide, long) = (px(5), towards * px(9));
    let corners = vec![(x, y), (x + wide, y + long), (x - wide, y + long), (x, y)];
    Ok(inside
        .area
        .draw(&PathElement::new(corners, look.colour.stroke_width(3)))?)
}
