//! What a trace holds, and what of it is simulated.

use std::fmt;

/// So many operations of a kind, with their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Operations.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The operations of one kind in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What they are called: `sends`.
    pub name: &'static str,
    /// All of them.
    pub seen: Amount,
    /// Those that have no effect on the run.
    pub ignored: Amount,
    /// Why those have none.
    pub why: &'static str,
}

/// What a trace holds, and what of it is simulated: everything but what is said to be ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// By kind, in the order in which they first came.
    pub rows: Vec<Row>,
}

impl Coverage {
    /// Operations that are simulated.
    pub fn simulated(&mut self, name: &'static str, count: u64, bytes: u64) {
        let row = self.row(name);
        row.seen.count += count;
        row.seen.bytes = row.seen.bytes.saturating_add(bytes);
    }

    /// Operations that are not, and why.
    pub fn ignored(&mut self, name: &'static str, count: u64, bytes: u64, why: &'static str) {
        self.simulated(name, count, bytes);
        let row = self.row(name);
        row.ignored.count += count;
        row.ignored.bytes = row.ignored.bytes.saturating_add(bytes);
        row.why = why;
    }

    fn row(&mut self, name: &'static str) -> &mut Row {
        let at = self.rows.iter().position(|row| row.name == name);
        let at = at.unwrap_or_else(|| {
            self.rows.push(Row {
                name,
                seen: Amount::default(),
                ignored: Amount::default(),
                why: "",
            });
            self.rows.len() - 1
        });
        &mut self.rows[at]
    }

    /// As named numbers: `sends`, `sends_bytes`, and `sends_ignored`, `sends_ignored_bytes` where some are.
    pub fn numbers(&self) -> Vec<(String, u64)> {
        let mut numbers = Vec::new();
        let mut add = |name: &str, amount: Amount| {
            numbers.push((name.to_string(), amount.count));
            if amount.bytes > 0 {
                numbers.push((format!("{name}_bytes"), amount.bytes));
            }
        };
        for row in self.rows.iter().filter(|row| row.seen.count > 0) {
            let name = row.name.replace(' ', "_");
            add(&name, row.seen);
            if row.ignored.count > 0 {
                add(&format!("{name}_ignored"), row.ignored);
            }
        }
        numbers
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut rows = self.rows.iter().filter(|row| row.seen.count > 0).peekable();
        if rows.peek().is_none() {
            return write!(f, "no operations");
        }
        for (at, row) in rows.enumerate() {
            if at > 0 {
                write!(f, ", ")?;
            }
            write!(f, "{} {}", row.seen.count, row.name)?;
            if row.seen.bytes > 0 {
                let all = if row.seen.count > 1 { " in all" } else { "" };
                write!(f, " of {} bytes{all}", row.seen.bytes)?;
            }
            match row.ignored.count {
                0 => {}
                all if all == row.seen.count => write!(f, " (ignored: {})", row.why)?,
                some => write!(f, " ({some} ignored: {})", row.why)?,
            }
        }
        Ok(())
    }
}
