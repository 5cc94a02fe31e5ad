//! The frame of a plot: two axes with ticks, labels and a grid.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;

use super::style::{self, Ink, LABEL, TICK, px, text};
use super::{Area, Outcome};
use crate::figure::Coord;

/// An axis is a coordinate of the plotting library.
impl Ranged for Coord {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        let share = self.share(*value).clamp(-1.0, 2.0);
        start + (share * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let ticks = self.ticks().iter().map(|(at, _)| *at);
        match hint.weight().allow_light_points() {
            true => ticks.chain(self.minor().iter().copied()).collect(),
            false => ticks.collect(),
        }
    }

    fn range(&self) -> Range<f64> {
        let [start, end] = self.ends();
        start..end
    }
}

impl ValueFormatter<f64> for Coord {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks().iter().find(|(at, _)| at == value);
        tick.map(|(_, text)| text.clone()).unwrap_or_default()
    }
}

/// Height below the plot: tick labels and the axis' words.
const BELOW: i32 = 44;

/// Kinds of grid lines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    Both,
    /// At the ticks of x.
    Upright,
    None,
}

/// The inside of a plot, in places of the drawing.
pub struct Inside<'a> {
    pub area: Area<'a>,
    x: Coord,
    y: Coord,
    width: i32,
    height: i32,
}

impl Inside<'_> {
    /// Shares of the width and of the height, from the lower left. NaN if it has no place.
    pub fn shares(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.share(x), self.y.share(y))
    }

    /// The place of shares from 0 to 1; values beyond by a rounding error, however large, are moved
    /// to the edge.
    pub fn place(&self, (x, y): (f64, f64)) -> (i32, i32) {
        let (x, y) = (x.clamp(0.0, 1.0), y.clamp(0.0, 1.0));
        (
            (x * f64::from(self.width)).round() as i32,
            ((1.0 - y) * f64::from(self.height)).round() as i32,
        )
    }

    /// The place of a value, moved to the edge if it is off the scale.
    pub fn held(&self, x: f64, y: f64) -> (i32, i32) {
        self.place(self.shares(x, y))
    }
}

/// Draws the frame, and gives the area inside it.
pub fn frame<'a>(area: &Area<'a>, x: &Coord, y: &Coord, grid: Grid) -> Outcome<Inside<'a>> {
    let ticks = text(TICK, Ink::Soft);
    let words = text(LABEL, Ink::Strong);
    let mut widest = 0;
    for (_, label) in y.ticks() {
        widest = widest.max(area.estimate_text_size(label, &ticks)?.0 as i32);
    }
    let beside = widest + px(10) + if y.title().is_empty() { 0 } else { px(22) };
    let mut chart = ChartBuilder::on(area);
    chart
        .margin_right(px(12))
        .margin_top(px(6))
        .set_label_area_size(LabelAreaPosition::Left, beside)
        .set_label_area_size(LabelAreaPosition::Bottom, px(BELOW));
    let mut chart = chart.build_cartesian_2d(x.clone(), y.clone())?;
    let mut mesh = chart.configure_mesh();
    mesh.axis_style(Ink::Soft.rgb().stroke_width(2))
        .bold_line_style(Ink::Faint.rgb().stroke_width(2))
        .light_line_style(Ink::Faint.rgb().mix(0.5).stroke_width(1))
        .label_style(ticks)
        .axis_desc_style(words)
        .set_all_tick_mark_size(px(4));
    if !x.title().is_empty() {
        mesh.x_desc(x.title());
    }
    if !y.title().is_empty() {
        mesh.y_desc(y.title());
    }
    match grid {
        Grid::Both => {}
        Grid::Upright => {
            mesh.disable_y_mesh();
        }
        Grid::None => {
            mesh.disable_mesh();
        }
    }
    mesh.draw()?;
    let inside = chart.plotting_area().strip_coord_spec();
    let (width, height) = inside.dim_in_pixel();
    Ok(Inside {
        area: inside,
        x: x.clone(),
        y: y.clone(),
        width: width as i32 - 1,
        height: height as i32 - 1,
    })
}

/// Most ticks along x whose labels have room.
pub fn ticks_across(area: &Area, reserved: i32) -> usize {
    let (width, _) = area.dim_in_pixel();
    ((width as i32 - reserved) / px(48)).clamp(2, 10) as usize
}

/// Most ticks along y that are easily read.
pub fn ticks_up(area: &Area) -> usize {
    let (_, height) = area.dim_in_pixel();
    ((height as i32 - px(BELOW)) / px(44)).clamp(2, 8) as usize
}

/// A bar of colours with its axis, along the right edge of `area`.
pub fn colour_bar(area: &Area, scale: &Coord, colour: impl Fn(f64) -> RGBColor) -> Outcome {
    let (_, height) = area.dim_in_pixel();
    let (top, bottom) = (px(6), height as i32 - px(BELOW));
    let (left, right) = (px(8), px(22));
    let steps = 64;
    let place = |share: f64| bottom - (share * f64::from(bottom - top)).round() as i32;
    for step in 0..steps {
        let share = |step: i32| f64::from(step) / f64::from(steps);
        let corners = [(left, place(share(step + 1))), (right, place(share(step)))];
        let fill = colour((share(step) + share(step + 1)) / 2.0).filled();
        area.draw(&Rectangle::new(corners, fill))?;
    }
    let ticks = text(TICK, Ink::Soft).pos(plotters::style::text_anchor::Pos::new(
        plotters::style::text_anchor::HPos::Left,
        plotters::style::text_anchor::VPos::Center,
    ));
    let soft = Ink::Soft.rgb().stroke_width(2);
    let mut widest = 0;
    for (at, label) in scale.ticks() {
        let y = place(scale.share(*at));
        area.draw(&PathElement::new(
            vec![(right, y), (right + px(4), y)],
            soft,
        ))?;
        area.draw(&Text::new(
            label.as_str(),
            (right + px(7), y),
            ticks.clone(),
        ))?;
        widest = widest.max(area.estimate_text_size(label, &ticks)?.0 as i32);
    }
    let words = style::centred(text(LABEL, Ink::Strong)).transform(FontTransform::Rotate270);
    let at = (right + px(7) + widest + px(12), (top + bottom) / 2);
    Ok(area.draw(&Text::new(scale.title(), at, words))?)
}
