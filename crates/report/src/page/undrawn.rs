//! Stands for drawing in a program without the feature `figures`: a line in the page says that it
//! is not there.

use crate::figure::Figure;

/// Nothing is drawn, so nothing fails.
pub use std::convert::Infallible as DrawError;

/// Endings of the files of a figure: none.
pub const ENDINGS: [&str; 0] = [];

/// The files of a figure, one for each of [`ENDINGS`].
///
/// # Errors
/// None.
pub fn files(_: &Figure) -> Result<[Vec<u8>; 0], DrawError> {
    Ok([])
}

/// A line instead of the figure.
///
/// # Errors
/// None.
pub fn in_page(_: &Figure) -> Result<String, DrawError> {
    let line = "Not drawn: this program was built without figures.";
    Ok(format!("<p class=\"note\">{line}</p>\n"))
}
