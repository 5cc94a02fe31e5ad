//! The text of a trace, line by line, with its hash.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use sha2::{Digest, Sha256};

/// An error in a trace, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Position: `line 7`, `byte 19`; empty for the whole.
    pub place: String,
    /// Error message.
    pub message: String,
    /// Remedy.
    pub remedy: String,
}

impl Fault {
    /// The same error, in this file.
    pub fn within(self, file: &str) -> Fault {
        let place = match self.place.is_empty() {
            true => file.to_string(),
            false => format!("{file}, {}", self.place),
        };
        Fault { place, ..self }
    }

    /// An error of the whole trace.
    pub fn new(message: impl Into<String>, remedy: impl Into<String>) -> Fault {
        Fault {
            place: String::new(),
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// An error in a line, counted from 1.
    pub fn at_line(line: u64, message: impl Into<String>, remedy: impl Into<String>) -> Fault {
        Fault {
            place: format!("line {line}"),
            ..Fault::new(message, remedy)
        }
    }
}

/// First bytes of packed files, which no format begins with, and the programs that write them.
const PACKED: [(&[u8], &str); 5] = [
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zX", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PK\x03\x04", "zip"),
];

/// A file that is hashed as it is read.
pub struct Input {
    file: File,
    hash: Sha256,
}

impl Input {
    /// Opens a file. Only regular files are opened: a pipe could keep its reader waiting for ever.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn open(path: &Path) -> Result<Input, Fault> {
        Input::open_after(path, Sha256::new())
    }

    /// Opens a file that is hashed together with previous ones.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn open_after(path: &Path, hash: Sha256) -> Result<Input, Fault> {
        let failure = |why: String| {
            let message = format!("it cannot be read: {why}");
            Fault::new(message, "give a path relative to the experiment file")
        };
        let kind = match std::fs::metadata(path) {
            Ok(about) => about.file_type(),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(failure("there is no such file".into()));
            }
            Err(e) => return Err(failure(e.to_string())),
        };
        if !kind.is_file() {
            return Err(failure("it is no regular file".into()));
        }
        let file = File::open(path).map_err(|e| failure(e.to_string()))?;
        let mut input = Input { file, hash };
        let first = input.first().map_err(|e| failure(e.to_string()))?;
        match PACKED.iter().find(|(mark, _)| first.starts_with(mark)) {
            Some((_, program)) => Err(Fault::new(
                format!("it is packed by {program}"),
                "give the unpacked file",
            )),
            None => Ok(input),
        }
    }

    /// The first bytes. The mark with which some editors begin a text is passed over: no format
    /// begins with its bytes.
    fn first(&mut self) -> io::Result<Vec<u8>> {
        const MARK: &[u8] = "\u{feff}".as_bytes();
        let mut first = Vec::new();
        (&mut self.file).take(4).read_to_end(&mut first)?;
        self.file.rewind()?;
        if first.starts_with(MARK) {
            self.file.seek(SeekFrom::Start(MARK.len() as u64))?;
            self.hash.update(MARK);
        }
        Ok(first)
    }

    /// The hash of all bytes read.
    pub fn hash(self) -> String {
        hexadecimal(self.hash)
    }

    /// The hash of all bytes read so far, to be continued with another file.
    pub fn hasher(self) -> Sha256 {
        self.hash
    }
}

/// A hash as text.
pub fn hexadecimal(hash: Sha256) -> String {
    let mut text = String::with_capacity(64);
    for byte in hash.finalize() {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}

/// A text file, line by line.
pub struct Lines {
    reader: BufReader<Input>,
    line: Vec<u8>,
    number: u64,
}

/// Maximum length of a line, bytes.
const LONGEST_LINE: usize = 16 << 20;

/// Buffer size, bytes.
const BUFFER: usize = 256 << 10;

impl Lines {
    /// Opens a file.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn open(path: &Path) -> Result<Lines, Fault> {
        Lines::open_after(path, Sha256::new())
    }

    /// Opens a file that is hashed together with previous ones.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn open_after(path: &Path, hash: Sha256) -> Result<Lines, Fault> {
        Ok(Lines {
            reader: BufReader::with_capacity(BUFFER, Input::open_after(path, hash)?),
            line: Vec::new(),
            number: 0,
        })
    }

    /// Goes to the next line. False at the end.
    ///
    /// # Errors
    /// If it cannot be read, or is too long.
    pub fn advance(&mut self) -> Result<bool, Fault> {
        self.line.clear();
        self.number += 1;
        let mut limited = (&mut self.reader).take(LONGEST_LINE as u64 + 1);
        let read = limited.read_until(b'\n', &mut self.line);
        let count = read.map_err(|e| self.fault(format!("it cannot be read: {e}"), ""))?;
        if count == 0 {
            // An error at the end is in the last line.
            self.number -= 1;
        }
        if self.line.len() > LONGEST_LINE {
            return Err(self.fault("the line is too long", "this is no text of this format"));
        }
        Ok(count > 0)
    }

    /// The line, with its end.
    pub fn bytes(&self) -> &[u8] {
        &self.line
    }

    /// The line as text, without its end.
    ///
    /// # Errors
    /// If it is not UTF-8.
    pub fn text(&self) -> Result<&str, Fault> {
        match std::str::from_utf8(&self.line) {
            Ok(text) => Ok(text.trim_end_matches(['\n', '\r'])),
            Err(_) => Err(self.fault("this is no text", "give a text file of this format")),
        }
    }

    /// Its number, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// An error in this line.
    pub fn fault(&self, message: impl Into<String>, remedy: impl Into<String>) -> Fault {
        Fault::at_line(self.number, message, remedy)
    }

    /// The hash of the file, after all of it has been read.
    pub fn hash(self) -> String {
        self.reader.into_inner().hash()
    }

    /// The same, to be continued with another file.
    pub fn hasher(self) -> Sha256 {
        self.reader.into_inner().hasher()
    }
}
