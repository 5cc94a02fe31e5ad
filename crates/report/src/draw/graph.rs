//! Nodes in layers: marks whose area, and links whose width, show how much.

use plotters::prelude::*;

use super::hover::Spots;
use super::style::{self, Ink, LABEL, TICK, px, text};
use super::{Area, Outcome, fit, nothing};
use crate::figure::Graph;

/// Height of a node with its name, CSS pixels.
const ROW: i32 = 22;
/// Above the uppermost node.
const HEAD: i32 = 30;
/// Radius of the heaviest node, and of the lightest that is drawn, CSS pixels.
const RADII: [f64; 2] = [2.5, 9.0];
/// Width of the heaviest link, and of the lightest, in units of the drawing.
const WIDTHS: [f64; 2] = [2.0, 14.0];

/// The height that it wants, CSS pixels.
pub fn height(graph: &Graph) -> i32 {
    let most = graph.columns().iter().map(Vec::len).max().unwrap_or(0);
    (HEAD + ROW * most.min(64) as i32 + 40).max(190)
}

pub fn draw(graph: &Graph, area: &Area, spots: &mut Spots) -> Outcome {
    let columns = graph.columns();
    if graph.nodes.is_empty() {
        return nothing(area);
    }
    let (width, high) = area.dim_in_pixel();
    let wide = f64::from(width) / columns.len() as f64;
    let middle = |layer: usize| (layer as f64 * wide) as i32 + px(16);
    let below = f64::from(high as i32 - px(HEAD));
    let mut places = vec![(0, 0); graph.nodes.len()];
    for (layer, column) in columns.iter().enumerate() {
        for (row, &node) in column.iter().enumerate() {
            let share = (row as f64 + 0.5) / column.len() as f64;
            places[node] = (middle(layer), px(HEAD) + (share * below) as i32);
        }
    }
    for (layer, head) in graph.heads.iter().enumerate() {
        let style = text(LABEL, Ink::Soft);
        let words = fit(area, head, &style, wide as i32 - px(6))?;
        area.draw(&Text::new(
            words,
            ((layer as f64 * wide) as i32 + px(2), 0),
            style,
        ))?;
    }
    links(graph, area, &places, spots)?;
    let heaviest = heaviest(graph.nodes.iter().map(|node| node.weight));
    for (node, &(x, y)) in graph.nodes.iter().zip(&places) {
        let radius = between(RADII, (node.weight / heaviest).sqrt());
        let radius = (radius * f64::from(px(1))) as i32;
        area.draw(&Circle::new((x, y), radius, Ink::Strong.rgb().filled()))?;
        let style = text(TICK, Ink::Strong);
        let room = wide as i32 - radius - px(14);
        let words = fit(area, &node.name, &style, room)?;
        let (broad, tall) = area.estimate_text_size(&words, &style)?;
        // Above the links that come from the right; one that rises steeply stays behind.
        let at = (x + radius + px(3), y - tall as i32 - px(1));
        let behind = [at, (at.0 + broad as i32, at.1 + tall as i32)];
        area.draw(&Rectangle::new(behind, WHITE.mix(0.8).filled()))?;
        area.draw(&Text::new(words, at, style))?;
        spots.point(area, (x, y), &node.words);
    }
    Ok(())
}

fn links(graph: &Graph, area: &Area, places: &[(i32, i32)], spots: &mut Spots) -> Outcome {
    let heaviest = heaviest(graph.links.iter().map(|link| link.weight));
    let colour = style::look(0).colour.mix(0.55);
    for link in &graph.links {
        let (from, to) = (places[link.from], places[link.to]);
        let width = between(WIDTHS, link.weight / heaviest).round() as u32;
        area.draw(&PathElement::new(
            vec![to, from],
            colour.stroke_width(width),
        ))?;
        let half = ((from.0 + to.0) / 2, (from.1 + to.1) / 2);
        spots.point(area, half, &link.words);
    }
    Ok(())
}

fn heaviest(weights: impl Iterator<Item = f64>) -> f64 {
    let finite = weights.filter(|weight| weight.is_finite());
    finite.fold(0.0, f64::max).max(f64::MIN_POSITIVE)
}

fn between([least, most]: [f64; 2], share: f64) -> f64 {
    let share = if share.is_nan() { 0.0 } else { share };
    least + (most - least) * share.clamp(0.0, 1.0)
}
