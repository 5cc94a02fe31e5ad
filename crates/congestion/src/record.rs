//! Tables that schemes write, row by row.

/// Source of the rows of a [`Record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// NICs ([`super::NicContext::record`]).
    Endpoint,
    /// Ports of routers ([`super::PortContext::record`]).
    Port,
}

/// A table that a scheme writes: `/data/scheme/NAME` of results, if requested (`output.scheme`).
/// Every row begins with the time and the place; the scheme's own values follow.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Its name.
    pub name: &'static str,
    /// Meaning of a row.
    pub about: &'static str,
    /// Source of the rows.
    pub place: Place,
    /// The scheme's own columns.
    pub columns: &'static [RecordColumn],
}

/// A column of a [`Record`]: integers.
#[derive(Clone, Copy, Debug)]
pub struct RecordColumn {
    /// Its name.
    pub name: &'static str,
    /// Its unit, such as "ps"; "1" for plain numbers.
    pub unit: &'static str,
    /// Meaning of the values.
    pub about: &'static str,
}

const TIME: RecordColumn = column("time_ps", "ps", "when");
const ENDPOINT: [RecordColumn; 2] = [TIME, column("endpoint", "1", "at which NIC")];
const PORT: [RecordColumn; 3] = [
    TIME,
    column("router", "1", "at which router"),
    column("port", "1", "at which of its outputs"),
];

impl Record {
    /// The time and the place, and the scheme's own columns.
    pub fn all_columns(&self) -> impl Iterator<Item = &'static RecordColumn> {
        let first: &[RecordColumn] = match self.place {
            Place::Endpoint => &ENDPOINT,
            Place::Port => &PORT,
        };
        first.iter().chain(self.columns)
    }
}

/// A column.
pub const fn column(name: &'static str, unit: &'static str, about: &'static str) -> RecordColumn {
    RecordColumn { name, unit, about }
}

/// A record for schemes whose sources leave gaps between packets that grow with each notification.
pub const REACTIONS: &[Record] = &[Record {
    name: "reactions",
    about: "A source has been told of congestion, and leaves longer gaps.",
    place: Place::Endpoint,
    columns: &[
        column("destination", "1", "the endpoint to which packets met it"),
        column(
            "delay_ps",
            "ps",
            "the gap from now on, until it shrinks or grows again",
        ),
    ],
}];
