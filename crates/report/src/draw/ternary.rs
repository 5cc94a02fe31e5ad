//! Three shares of a whole in a triangle. Points are counted in small hexagons, whose colours say
//! how many there are.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::cartesian::colour_bar;
use super::heat::colour;
use super::style::{Ink, LABEL, TICK, px, text};
use super::{Area, Outcome, nothing};
use crate::figure::{Axis, CELLS, Ternary};

/// Width of the bar of colours, CSS pixels.
const BAR: i32 = 70;

pub fn draw(ternary: &Ternary, area: &Area) -> Outcome {
    let counts = ternary.counts();
    if counts.is_empty() {
        return nothing(area);
    }
    let (width, _) = area.dim_in_pixel();
    let (left, right) = area.split_horizontally(width as i32 - px(BAR));
    let triangle = Triangle::inside(&left);
    triangle.frame(&left, &ternary.corners)?;
    let own = counts.values().copied().max().unwrap_or(1);
    let most = ternary.most.unwrap_or(own) as f64;
    let mut axis = Axis::new(ternary.things.clone(), "1").log();
    axis.range = Some([0.8, most.max(9.0) * 1.2]);
    let scale = axis.coord([], 6);
    for (&[a, b], &count) in &counts {
        let shares = [a, b, CELLS - a - b].map(|n| n as f64 / CELLS as f64);
        let fill = colour(scale.share(count as f64).clamp(0.0, 1.0)).filled();
        left.draw(&Polygon::new(triangle.hexagon(shares), fill))?;
    }
    colour_bar(&right, &scale, colour)
}

/// Position of a point of three shares: to the right and upwards, in sides of the triangle.
/// The corners are the top, the lower left and the lower right.
pub(super) fn place([top, left, right]: [f64; 3]) -> (f64, f64) {
    let sum = top + left + right;
    let height = 3f64.sqrt() / 2.0;
    ((right + top / 2.0) / sum, top / sum * height)
}

/// An upright equilateral triangle in an area.
struct Triangle {
    x: i32,
    bottom: i32,
    side: f64,
}

impl Triangle {
    fn inside(area: &Area) -> Triangle {
        let (width, height) = area.dim_in_pixel();
        let (width, height) = (width as i32, height as i32);
        let (room, below, above) = (width - px(84), px(44), px(26));
        let side = f64::from(room).min(f64::from(height - below - above) * 2.0 / 3f64.sqrt());
        let side = side.max(f64::from(px(40)));
        Triangle {
            x: (f64::from(width) / 2.0 - side / 2.0) as i32,
            bottom: height - below,
            side,
        }
    }

    fn at(&self, shares: [f64; 3]) -> (i32, i32) {
        let (x, y) = place(shares);
        (
            self.x + (x * self.side).round() as i32,
            self.bottom - (y * self.side).round() as i32,
        )
    }

    fn hexagon(&self, shares: [f64; 3]) -> Vec<(i32, i32)> {
        let (x, y) = self.at(shares);
        let radius = self.side / CELLS as f64 / 3f64.sqrt();
        let corner = |i: i32| {
            let angle = std::f64::consts::FRAC_PI_3 * (f64::from(i) + 0.5);
            (
                x + (radius * angle.cos()).round() as i32,
                y + (radius * angle.sin()).round() as i32,
            )
        };
        (0..6).map(corner).collect()
    }

    fn frame(&self, area: &Area, corners: &[String; 3]) -> Outcome {
        let faint = Ink::Faint.rgb().stroke_width(2);
        let tick = text(TICK, Ink::Soft);
        for step in 1..5 {
            let (a, b) = (f64::from(step) / 5.0, 1.0 - f64::from(step) / 5.0);
            let words = format!("{} %", step * 20);
            // For each share: the line where it has this value, and the number where the line ends.
            let lines = [
                ([a, b, 0.0], [a, 0.0, b], HPos::Left, (px(7), -px(3))),
                ([0.0, a, b], [b, a, 0.0], HPos::Right, (-px(7), -px(3))),
                ([b, 0.0, a], [0.0, b, a], HPos::Center, (0, px(9))),
            ];
            for (from, to, side, (dx, dy)) in lines {
                let (from, to) = (self.at(from), self.at(to));
                area.draw(&PathElement::new(vec![from, to], faint))?;
                let style = tick.pos(Pos::new(side, VPos::Center));
                area.draw(&Text::new(words.as_str(), (to.0 + dx, to.1 + dy), style))?;
            }
        }
        let [top, left, right] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let outline = [top, left, right, top].map(|shares| self.at(shares));
        let soft = Ink::Soft.rgb().stroke_width(3);
        area.draw(&PathElement::new(outline.to_vec(), soft))?;
        let places = [(top, -px(13)), (left, px(28)), (right, px(28))];
        for ((shares, dy), name) in places.into_iter().zip(corners) {
            let (x, y) = self.at(shares);
            let style = text(LABEL, Ink::Strong).pos(Pos::new(HPos::Center, VPos::Center));
            area.draw(&Text::new(name.as_str(), (x, y + dy), style))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corners_and_the_middle_are_where_they_belong() {
        let height = 3f64.sqrt() / 2.0;
        assert_eq!(place([1.0, 0.0, 0.0]), (0.5, height));
        assert_eq!(place([0.0, 2.0, 0.0]), (0.0, 0.0));
        assert_eq!(place([0.0, 0.0, 7.0]), (1.0, 0.0));
        let (x, y) = place([1.0, 1.0, 1.0]);
        assert!((x - 0.5).abs() < 1e-12 && (y - height / 3.0).abs() < 1e-12);
    }

    #[test]
    fn every_share_is_the_distance_from_the_side_opposite_its_corner() {
        let height = 3f64.sqrt() / 2.0;
        for point in [[0.2, 0.3, 0.5], [0.7, 0.1, 0.2], [0.0, 0.9, 0.1]] {
            let (x, y) = place(point);
            // The sides: y = 0; from the top to the lower right; from the lower left to the top.
            let from_right_side = (height * (1.0 - x) - y / 2.0) / 1.0;
            let from_left_side = (height * x - y / 2.0) / 1.0;
            assert!((y / height - point[0]).abs() < 1e-12, "{point:?}");
            assert!(
                (from_right_side / height - point[1]).abs() < 1e-12,
                "{point:?}"
            );
            assert!(
                (from_left_side / height - point[2]).abs() < 1e-12,
                "{point:?}"
            );
        }
    }
}
