//! CSV tables row by row, with the line of each row.

use std::io::{self, Read};

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord, Trim};

/// The rows of a CSV table. Blanks around values, empty lines and lines that begin with `#` do not
/// count.
pub struct Rows<R>(Reader<Ends<R>>);

/// A row that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// Its line, from 1.
    pub line: u64,
    /// Error message, without the place.
    pub message: String,
}

impl<R: Read> Rows<R> {
    /// The rows of this text; with `names`, its first row names the columns.
    pub fn new(source: R, names: bool) -> Rows<R> {
        let ends = Ends {
            source,
            whole: true,
        };
        let mut builder = ReaderBuilder::new();
        builder.has_headers(names).trim(Trim::All);
        Rows(builder.comment(Some(b'#')).from_reader(ends))
    }

    /// The line of the names of the columns, from 1, and the names.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn names(&mut self) -> Result<(u64, StringRecord), BadRow> {
        match self.0.headers().cloned() {
            Ok(names) => Ok((self.line(), names)),
            Err(error) => Err(self.bad(&error)),
        }
    }

    /// The next row and its line, from 1; None at the end.
    ///
    /// # Errors
    /// If it cannot be read, or has more or fewer values than the one before.
    pub fn advance(&mut self) -> Result<Option<(u64, StringRecord)>, BadRow> {
        let mut row = StringRecord::new();
        match self.0.read_record(&mut row) {
            Ok(true) => Ok(Some((self.line(), row))),
            Ok(false) => Ok(None),
            Err(error) => Err(self.bad(&error)),
        }
    }

    /// The source of the rows.
    pub fn into_inner(self) -> R {
        self.0.into_inner().source
    }

    /// Line of the row that has been read. The position that the reader gives to a row is that of
    /// the comments before it.
    fn line(&self) -> u64 {
        self.0.position().line().saturating_sub(1).max(1)
    }

    fn bad(&self, error: &csv::Error) -> BadRow {
        let message = match error.kind() {
            ErrorKind::UnequalLengths {
                expected_len, len, ..
            } => format!("it has {len} fields, and the first line {expected_len}"),
            ErrorKind::Utf8 { .. } => "this is no text in UTF-8".to_string(),
            _ => error.to_string(),
        };
        BadRow {
            line: self.line(),
            message,
        }
    }
}

/// A text whose lines, the last one included, all end with `\n` alone, so that the reader has
/// passed the end of a row when it has read it.
struct Ends<R> {
    source: R,
    /// True if the last line so far has its end.
    whole: bool,
}

impl<R: Read> Read for Ends<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.source.read(buffer)?;
            let mut kept = 0;
            for at in 0..read {
                if buffer[at] != b'\r' {
                    buffer[kept] = buffer[at];
                    kept += 1;
                }
            }
            if let Some(&last) = buffer[..kept].last() {
                self.whole = last == b'\n';
                return Ok(kept);
            }
            if read == 0 {
                if let (false, Some(first)) = (self.whole, buffer.first_mut()) {
                    *first = b'\n';
                    self.whole = true;
                    return Ok(1);
                }
                return Ok(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Result<Vec<u64>, BadRow> {
        let mut rows = Rows::new(text.as_bytes(), true);
        assert_eq!(rows.names()?.1.get(0), Some("a"));
        let mut lines = Vec::new();
        while let Some((line, row)) = rows.advance()? {
            assert_eq!(row[0].parse::<u64>().ok(), Some(line), "{text:?}");
            lines.push(line);
        }
        Ok(lines)
    }

    #[test]
    fn each_row_has_its_line() {
        for end in ["\n", "\r\n"] {
            let text = ["# c", "a, b", "3,0", "# b", "", "6,0", " 7 ,0"].join(end);
            assert_eq!(lines(&text), Ok(vec![3, 6, 7]));
        }
        assert_eq!(lines("a\n"), Ok(vec![]));
    }

    #[test]
    fn a_bad_row_has_its_line() {
        for end in ["\n", "\r\n"] {
            for last in ["", end] {
                let text = ["a,b", "2,0", "# c", "4"].join(end) + last;
                let bad = lines(&text).expect_err("one field");
                assert_eq!(bad.line, 4, "{text:?}");
                assert_eq!(bad.message, "it has 1 fields, and the first line 2");
            }
        }
        let mut rows = Rows::new(&b"a\n2\n\xff\n"[..], true);
        assert!(rows.advance().is_ok());
        assert_eq!(rows.advance().map_err(|bad| bad.line), Err(3));
    }
}
