//! The head of a GOAL text: comments in which a converter lists what the schedule lacks.

use super::super::Coverage;
use super::words::{Wrong, shown, wrong};

/// Start of such a comment.
const MARK: &[u8] = b"// coverage:";

/// Precedes the reason for which operations are left out.
const IGNORED: &str = " ignored: ";

/// Maximum number of such comments in a text: a result holds them as one text, of less than 64 KiB.
const MOST: usize = 100;

/// Kinds of operations of a schedule, which are counted there.
const COUNTED: [&str; 3] = ["sends", "receives", "computations"];

/// Maximum length of a kind, and of a reason, bytes.
const LONGEST: [usize; 2] = [80, 200];

/// The comments so far: `// coverage: 3 MPI_Allreduce of 96 bytes ignored: why`.
#[derive(Default)]
pub struct Head {
    said: Vec<Said>,
}

struct Said {
    kind: String,
    count: u64,
    bytes: u64,
    why: Option<String>,
}

impl Head {
    /// Reads a line, if it is such a comment.
    ///
    /// # Errors
    /// If it starts as one and is invalid.
    pub fn line(&mut self, line: &[u8]) -> Result<(), Wrong> {
        let Some(text) = line.trim_ascii().strip_prefix(MARK) else {
            return Ok(());
        };
        let Some(said) = std::str::from_utf8(text).ok().and_then(read) else {
            return wrong(
                format!("{} is not understood", shown(line.trim_ascii())),
                "write `// coverage: COUNT KIND of BYTES bytes ignored: WHY`, or another comment",
            );
        };
        if said.why.is_none() && COUNTED.contains(&said.kind.as_str()) {
            return wrong(
                format!(
                    "{} tells what the schedule itself has",
                    shown(line.trim_ascii())
                ),
                "remove it, or write `ignored: WHY` behind it",
            );
        }
        if self.said.len() == MOST {
            return wrong(
                format!("there are more than {MOST} lines `// coverage:`"),
                "write one for each kind and reason",
            );
        }
        self.said.push(said);
        Ok(())
    }

    /// Adds their content.
    pub fn add_to(self, coverage: &mut Coverage) {
        for said in self.said {
            match said.why {
                None => coverage.simulated(said.kind, said.count, said.bytes),
                Some(why) => coverage.ignored(said.kind, said.count, said.bytes, why),
            }
        }
    }
}

/// `COUNT KIND [of BYTES bytes] [ignored: WHY]`.
fn read(text: &str) -> Option<Said> {
    let (what, why) = match text.split_once(IGNORED) {
        Some((what, why)) => (what.trim(), Some(why.trim())),
        None => (text.trim(), None),
    };
    let (count, rest) = what.split_once(' ')?;
    let (kind, bytes) = match rest
        .strip_suffix(" bytes")
        .and_then(|rest| rest.rsplit_once(" of "))
    {
        Some((kind, bytes)) => (kind.trim(), number(bytes)?),
        None => (rest.trim(), 0),
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b" _-".contains(&byte);
    let fits = !kind.is_empty() && kind.len() <= LONGEST[0] && kind.bytes().all(plain);
    let said = why.is_none_or(|why| {
        !why.is_empty() && why.len() <= LONGEST[1] && !why.contains(char::is_control)
    });
    (fits && said).then_some(Said {
        kind: kind.to_string(),
        count: number(count)?,
        bytes,
        why: why.map(str::to_string),
    })
}

/// An integer without a sign.
fn number(word: &str) -> Option<u64> {
    let digits = word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| digits)
}
