//! SVG to PNG.

mod letters;

use resvg::{tiny_skia, usvg};

use super::{DrawError, Outcome};
use letters::outlined;

/// Renders an SVG at two pixels per CSS pixel, as screens and papers want it. No file of the system
/// is read: the font is the program's own.
///
/// # Errors
/// [`DrawError`] if it is no SVG, or too large for a bitmap.
pub fn png(svg: &str) -> Outcome<Vec<u8>> {
    let failed = |cause: String| DrawError(cause);
    let options = usvg::Options::default();
    let tree = usvg::Tree::from_str(&outlined(svg)?, &options)
        .map_err(|error| failed(error.to_string()))?;
    let scale = 2.0;
    let size = tree.size();
    let [width, height] = [size.width(), size.height()].map(|side| (side * scale).round() as u32);
    let mut bitmap = tiny_skia::Pixmap::new(width, height)
        .ok_or_else(|| failed(format!("no bitmap of {width} x {height} pixels")))?;
    let transform = tiny_skia::Transform::from_scale(scale, scale);
    resvg::render(&tree, transform, &mut bitmap.as_mut());
    bitmap
        .encode_png()
        .map_err(|error| failed(error.to_string()))
}
