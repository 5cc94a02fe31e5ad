//! The page: one HTML file that needs nothing else, and no network. Its only script sorts tables;
//! without scripts they stay as they are. `write` puts it on the disk, with its figures.

pub mod write;

use super::draw::{self, DrawError};
use super::figure::Figure;
use super::format::escape;

/// A report before it is written.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The heading.
    pub title: String,
    /// Below it.
    pub lead: Vec<String>,
    /// Facts that must be known before anything is believed: not complete, points that failed.
    pub warnings: Vec<String>,
    /// In this order.
    pub parts: Vec<Part>,
    /// All figures, in a separate part before the parts that follow them.
    pub figures: Vec<Figure>,
}

/// A part of a page under a heading.
#[derive(Clone, Debug)]
pub enum Part {
    /// A table.
    Table(Rows),
    /// Here stand the figures.
    Figures,
    /// A text as it is, folded away.
    Text {
        /// The heading.
        title: String,
        /// The text.
        text: String,
    },
}

/// A table with a heading.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The heading; empty for a table that continues the one before.
    pub title: String,
    /// Said between the heading and the table.
    pub note: String,
    /// Names of the columns; empty for none.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Its cells.
    pub cells: Vec<String>,
    /// True if it is good news; then its last cell is in colour.
    pub good: Option<bool>,
}

impl Row {
    /// A row that is neither good nor bad.
    pub fn new<T: ToString>(cells: impl IntoIterator<Item = T>) -> Row {
        Row {
            cells: cells.into_iter().map(|cell| cell.to_string()).collect(),
            good: None,
        }
    }
}

impl Page {
    /// The HTML.
    ///
    /// # Errors
    /// If a figure cannot be drawn.
    pub fn html(&self) -> Result<String, DrawError> {
        let title = escape(&self.title);
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"generator\" content=\"weir {}\">\n<link rel=\"icon\" href=\"data:,\">\n\
             <title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n<h1>{title}</h1>\n",
            env!("CARGO_PKG_VERSION"),
            include_str!("page.css")
        );
        for line in &self.lead {
            html.push_str(&format!("<p class=\"lead\">{}</p>\n", prose(line)));
        }
        for warning in &self.warnings {
            html.push_str(&format!("<p class=\"warning\">{}</p>\n", prose(warning)));
        }
        self.contents(&mut html);
        for (number, part) in self.parts.iter().enumerate() {
            match part {
                Part::Table(rows) => table(&mut html, rows, number),
                Part::Figures => self.draw(&mut html, number)?,
                Part::Text { title, text } => html.push_str(&format!(
                    "<h2 id=\"part{number}\">{title}</h2>\n<details><summary>show</summary>\n<pre>{}</pre>\n</details>\n",
                    escape(text),
                    title = escape(title)
                )),
            }
        }
        html.push_str(&format!(
            "<script>\n{}</script>\n</body>\n</html>\n",
            include_str!("page.js")
        ));
        Ok(html)
    }

    /// Links to the parts.
    fn contents(&self, html: &mut String) {
        let links = self.parts.iter().enumerate().filter_map(|(number, part)| {
            let title = match part {
                Part::Table(rows) => rows.title.as_str(),
                Part::Figures => "Figures",
                Part::Text { title, .. } => title,
            };
            let link = || format!("<a href=\"#part{number}\">{}</a>", escape(title));
            (!title.is_empty()).then(link)
        });
        let links: Vec<_> = links.collect();
        html.push_str(&format!("<nav>{}</nav>\n", links.join("\n")));
    }

    fn draw(&self, html: &mut String, number: usize) -> Result<(), DrawError> {
        html.push_str(&format!("<h2 id=\"part{number}\">Figures</h2>\n"));
        if self.figures.is_empty() {
            html.push_str("<p class=\"note\">There is nothing to draw.</p>\n");
        }
        for figure in &self.figures {
            let id = escape(&figure.id);
            let drawing = draw::in_page(figure)?;
            html.push_str(&format!(
                "<figure id=\"figure-{id}\">\n<h3>{}</h3>\n<div class=\"scroll\">\n{drawing}</div>\n<figcaption>\n",
                escape(&figure.title)
            ));
            for text in &figure.caption {
                html.push_str(&format!("<p>{}</p>\n", prose(text)));
            }
            let files = draw::ENDINGS.iter().chain(&["csv"]).map(|ending| {
                let shown = ending.to_uppercase();
                format!("<a href=\"figures/{id}.{ending}\">{shown}</a>")
            });
            html.push_str(&format!(
                "<p>{}<span class=\"beside\">Beside this page: {}</span></p>\n</figcaption>\n</figure>\n",
                numbers(figure),
                files.collect::<Vec<_>>().join(", ")
            ));
        }
        Ok(())
    }
}

/// The numbers of a figure inside the page, so that they are included if only the page is sent; not
/// for figures with very many.
fn numbers(figure: &Figure) -> String {
    const MOST: usize = 200_000;
    let csv = figure.data.csv();
    if csv.len() > MOST || figure.data.rows.is_empty() {
        return String::new();
    }
    let mut link = String::new();
    for byte in csv.bytes() {
        match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b',' | b'-' | b'_' => {
                link.push(byte as char)
            }
            other => link.push_str(&format!("%{other:02X}")),
        }
    }
    let id = escape(&figure.id);
    format!(
        "<a download=\"{id}.csv\" href=\"data:text/csv;charset=utf-8,{link}\">Numbers</a> (CSV). "
    )
}

fn table(html: &mut String, rows: &Rows, number: usize) {
    if !rows.title.is_empty() {
        let title = escape(&rows.title);
        html.push_str(&format!("<h2 id=\"part{number}\">{title}</h2>\n"));
    }
    if !rows.note.is_empty() {
        html.push_str(&format!("<p class=\"note\">{}</p>\n", prose(&rows.note)));
    }
    let columns = rows.rows.iter().map(|row| row.cells.len()).max();
    let numeric: Vec<bool> = (0..columns.unwrap_or(0))
        .map(|column| {
            let mut cells = rows.rows.iter().filter_map(|row| row.cells.get(column));
            cells.all(|cell| is_numeric(cell))
        })
        .collect();
    let class = |column: usize| match numeric.get(column) {
        Some(true) => " class=\"number\"",
        _ => "",
    };
    let sortable = match !rows.head.is_empty() && rows.rows.len() > 2 {
        true => " class=\"sortable\"",
        false => "",
    };
    html.push_str(&format!("<div class=\"scroll\"><table{sortable}>\n"));
    if !rows.head.is_empty() {
        html.push_str("<thead><tr>");
        for (column, cell) in rows.head.iter().enumerate() {
            html.push_str(&format!("<th{}>{}</th>", class(column), escape(cell)));
        }
        html.push_str("</tr></thead>\n");
    }
    html.push_str("<tbody>\n");
    for row in &rows.rows {
        html.push_str(match row.good {
            Some(true) => "<tr class=\"good\">",
            Some(false) => "<tr class=\"bad\">",
            None => "<tr>",
        });
        let last = row.cells.len().saturating_sub(1);
        for (column, cell) in row.cells.iter().enumerate() {
            let class = match (column == last, row.good) {
                (true, Some(_)) => " class=\"mark\"",
                _ => class(column),
            };
            html.push_str(&format!("<td{class}>{}</td>", escape(cell)));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n");
}

/// A number, perhaps with a unit; or none.
fn is_numeric(cell: &str) -> bool {
    // A bound is a number, too.
    let number = cell.trim_start_matches(['≥', '≤', '>', ' ']);
    let first = number
        .split(' ')
        .next()
        .unwrap_or_default()
        .replace(',', "");
    cell.chars().count() < 18
        && (cell.is_empty() || ["-", "?"].contains(&cell) || first.parse::<f64>().is_ok())
}

/// The same with text between two backticks as code.
fn prose(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    if pieces.len().is_multiple_of(2) {
        return escape(text);
    }
    let pieces = pieces.iter().enumerate();
    let pieces = pieces.map(|(at, piece)| match at % 2 {
        0 => escape(piece),
        _ => format!("<code>{}</code>", escape(piece)),
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_in_an_experiment_cannot_become_markup() {
        let evil = "<script>alert('x')</script> & \"y\"";
        let page = Page {
            title: evil.into(),
            lead: vec![evil.into()],
            warnings: vec![evil.into()],
            parts: vec![
                Part::Table(Rows {
                    title: evil.into(),
                    note: evil.into(),
                    head: vec![evil.into()],
                    rows: vec![Row::new([evil])],
                }),
                Part::Text {
                    title: evil.into(),
                    text: evil.into(),
                },
                Part::Figures,
            ],
            figures: vec![Figure {
                id: "f".into(),
                title: evil.into(),
                caption: vec![evil.into()],
                ..Figure::default()
            }],
        };
        let html = page.html().expect("draws");
        // The page's own.
        assert_eq!(html.matches("<script").count(), 1, "{html}");
        assert!(html.matches("&lt;script&gt;").count() >= 10, "{html}");
    }

    #[test]
    fn numbers_are_aligned_and_words_are_not() {
        for number in [
            "1",
            "-2.5",
            "12.5 µs",
            "1,234",
            "-",
            "",
            "39.8 %",
            "inf",
            "≥ 3.70 µs",
        ] {
            assert!(is_numeric(number), "{number}");
        }
        for words in ["none", "2.5 of what a very long text says", "par"] {
            assert!(!is_numeric(words), "{words}");
        }
    }
}
