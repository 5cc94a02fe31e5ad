//! Draws a figure as SVG, and turns SVG into PNG.
//!
//! plotters lays out axes and texts and writes the SVG; its coordinates are whole numbers, so a
//! figure is drawn at twice its size and shown at half. Texts are measured in Liberation Sans,
//! which has the widths of Arial and Helvetica, so a figure looks the same wherever one of them is
//! installed; the PNG has the font from this program.

mod bars;
mod cartesian;
mod graph;
mod heat;
mod hover;
mod legend;
mod lines;
mod png;
mod style;
mod ternary;
#[cfg(test)]
mod tests;

use plotters::coord::Shift;
use plotters::prelude::*;
use thiserror::Error;

use super::figure::{Figure, Panel, Plot};
use super::format::wrap;
use hover::Spots;
use style::{CAPTION, Ink, LABEL, Looks, PANEL_TITLE, TITLE, px, text};
use weir_model::visible;

pub use png::png;

/// A part of the drawing.
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Width of every figure, in CSS pixels.
pub const WIDTH: i32 = 880;

/// Around the whole.
const MARGIN: i32 = 12;

/// Reason why a figure cannot be drawn.
#[derive(Debug, Error)]
#[error("cannot be drawn: {0}")]
pub struct DrawError(String);

impl<E: std::error::Error + Send + Sync> From<DrawingAreaErrorKind<E>> for DrawError {
    fn from(error: DrawingAreaErrorKind<E>) -> Self {
        DrawError(error.to_string())
    }
}

type Outcome<T = ()> = Result<T, DrawError>;

/// Endings of the files of a figure.
pub const ENDINGS: [&str; 2] = ["svg", "png"];

/// The files of a figure, as [`ENDINGS`] names them.
///
/// # Errors
/// [`DrawError`] if the plotting library fails, or the bitmap is too large.
pub fn files(figure: &Figure) -> Result<[Vec<u8>; 2], DrawError> {
    let drawing = svg(figure, Place::File)?;
    let bitmap = png(&drawing)?;
    Ok([drawing.into_bytes(), bitmap])
}

/// A figure for a page.
///
/// # Errors
/// [`DrawError`] if the plotting library fails.
pub fn in_page(figure: &Figure) -> Result<String, DrawError> {
    svg(figure, Place::Page)
}

/// Destination of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In a separate file: with its title and caption, on white.
    File,
    /// In a page that has its title and caption, and its own colours for ink and paper.
    Page,
}

/// Draws a figure.
///
/// # Errors
/// [`DrawError`] if the plotting library fails, which no data should bring about.
fn svg(figure: &Figure, place: Place) -> Result<String, DrawError> {
    style::register_font().map_err(DrawError)?;
    let figure = &figure.with_shared_axes();
    let names = figure.legend();
    let looks = Looks::of(&names, &figure.jobs);
    let legend = legend::Layout::of(&names, figure, WIDTH - 2 * MARGIN)?;
    let (columns, height) = grid(figure);
    let rows = figure.panels.len().div_ceil(columns).max(1) as i32;
    let (title, caption) = match place {
        Place::File => (title_lines(figure), caption_lines(figure)),
        Place::Page => (Vec::new(), Vec::new()),
    };
    let above = title.len() as i32 * 22 + if title.is_empty() { 0 } else { 6 };
    let below = caption.len() as i32 * 17 + if caption.is_empty() { 0 } else { 8 };
    let total = 2 * MARGIN + above + legend.height() + rows * height + below;

    let mut drawing = String::new();
    let mut spots = Spots::default();
    {
        let size = (px(WIDTH) as u32, px(total) as u32);
        let root = SVGBackend::with_string(&mut drawing, size).into_drawing_area();
        if place == Place::File {
            root.fill(&WHITE)?;
        }
        let inner = root.margin(px(MARGIN), px(MARGIN), px(MARGIN), px(MARGIN));
        for (row, line) in title.iter().enumerate() {
            let at = (0, px(row as i32 * 22));
            inner.draw(&Text::new(line.as_str(), at, text(TITLE, Ink::Strong)))?;
        }
        let (_, rest) = inner.split_vertically(px(above));
        let (top, rest) = rest.split_vertically(px(legend.height()));
        legend.draw(&top, &looks)?;
        let (plots, foot) = rest.split_vertically(px(rows * height));
        let cells = plots.split_evenly((rows as usize, columns));
        for (panel, cell) in figure.panels.iter().zip(&cells) {
            draw_panel(panel, cell, &looks, &mut spots)?;
        }
        for (row, line) in caption.iter().enumerate() {
            let at = (0, px(8 + row as i32 * 17));
            foot.draw(&Text::new(line.as_str(), at, text(CAPTION, Ink::Soft)))?;
        }
        root.present()?;
    }
    let hover = match place {
        Place::File => String::new(),
        Place::Page => spots.svg(),
    };
    let end = drawing.rfind("</svg>").unwrap_or(drawing.len());
    let mut whole = finish(&drawing[..end], figure, total, place);
    whole.push_str(&hover);
    whole.push_str("</svg>\n");
    Ok(whole)
}

/// Columns of panels, and the height of a panel.
fn grid(figure: &Figure) -> (usize, i32) {
    let square = figure
        .panels
        .iter()
        .any(|panel| matches!(panel.plot, Plot::Ternary(_)));
    let coloured = figure
        .panels
        .iter()
        .any(|panel| matches!(panel.plot, Plot::Ternary(_) | Plot::Heat(_)));
    let bars = figure.panels.iter().filter_map(|panel| match &panel.plot {
        Plot::Bars(bars) => Some(bars::height(bars)),
        _ => None,
    });
    let bars = bars.max();
    let graphs = figure.panels.iter().filter_map(|panel| match &panel.plot {
        Plot::Graph(graph) => Some(graph::height(graph)),
        _ => None,
    });
    let graphs = graphs.max();
    let columns = match figure.panels.len() {
        0 | 1 => 1,
        // Layers need the width.
        _ if graphs.is_some() => 1,
        2..=4 => 2,
        // Triangles and pictures have a bar of colours beside them.
        _ if coloured => 2,
        _ => 3,
    };
    let height = match (columns, square, bars.max(graphs)) {
        (_, _, Some(height)) => height,
        (1, true, _) => 440,
        (_, true, _) => 340,
        (1, ..) => 390,
        (2, ..) => 320,
        _ => 260,
    };
    (columns, height)
}

fn title_lines(figure: &Figure) -> Vec<String> {
    wrap(&figure.title, 100, "")
}

fn caption_lines(figure: &Figure) -> Vec<String> {
    let paragraphs = figure.caption.iter();
    paragraphs.flat_map(|text| wrap(text, 145, "")).collect()
}

fn draw_panel(panel: &Panel, cell: &Area, looks: &Looks, spots: &mut Spots) -> Outcome {
    let cell = cell.margin(px(6), px(4), px(4), px(10));
    let cell = match panel.title.as_str() {
        "" => cell,
        title => {
            let (head, rest) = cell.split_vertically(px(22));
            let (width, _) = head.dim_in_pixel();
            let style = style::centred(text(PANEL_TITLE, Ink::Strong));
            let title = fit(&head, title, &style, width as i32)?;
            head.draw(&Text::new(title, (width as i32 / 2, px(9)), style))?;
            rest
        }
    };
    match &panel.plot {
        Plot::Lines(lines) => lines::draw(lines, &cell, looks, spots),
        Plot::Bars(bars) => bars::draw(bars, &cell, looks, spots),
        Plot::Ternary(ternary) => ternary::draw(ternary, &cell),
        Plot::Heat(heat) => heat::draw(heat, &cell, spots),
        Plot::Graph(graph) => graph::draw(graph, &cell, spots),
    }
}

/// `words`, shortened in the middle until they fit into `width`.
fn fit(area: &Area, words: &str, style: &TextStyle, width: i32) -> Outcome<String> {
    let mut letters = words.chars().count();
    let mut short = words.to_string();
    while letters > 4 && area.estimate_text_size(&short, style)?.0 as i32 > width {
        letters -= 1;
        short = super::format::shorten(words, letters);
    }
    Ok(short)
}

/// Writes that there is nothing to draw.
fn nothing(area: &Area) -> Outcome {
    let (width, height) = area.dim_in_pixel();
    let style = style::centred(text(LABEL, Ink::Soft));
    let at = (width as i32 / 2, height as i32 / 2);
    Ok(area.draw(&Text::new("no data", at, style))?)
}

/// The head of the file: its size on paper or screen, and its name for readers who do not see it.
/// In a page it also has the page's colours.
fn finish(drawing: &str, figure: &Figure, height: i32, place: Place) -> String {
    // XML has no control characters, not even written as numbers.
    let drawing = style::dashed(&visible(drawing));
    let (_, body) = drawing.split_once(">\n").unwrap_or(("", drawing.as_str()));
    let size = match place {
        Place::File => format!("width=\"{WIDTH}\" height=\"{height}\" "),
        Place::Page => String::new(),
    };
    let mut text = format!(
        "<svg {size}viewBox=\"0 0 {} {}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{}\" \
         stroke-linejoin=\"round\">\n{body}",
        px(WIDTH),
        px(height),
        super::format::escape(&figure.title)
    );
    if place == Place::Page {
        for ink in Ink::ALL {
            text = text.replace(
                &format!("\"{}\"", ink.hex()),
                &format!("\"{}\"", ink.variable()),
            );
        }
    }
    if place == Place::Page {
        // The one colour of a series that is too dark on a dark page.
        text = text.replace(&style::dark_blue(), "var(--blue)");
    }
    // Times and sizes are given to a fraction of a pixel that nobody sees.
    text.replace("opacity=\"1\" ", "")
}
