//! Tables of a result: one line for each number defines it completely.
//!
//! `attributes!` declares the single numbers of a group, `columns!` its columns:
//!
//! ```text
//! attributes! {
//!     /// `/data/cost`: cost of all buffers.
//!     pub struct Cost {
//!         accesses: u64, "1", "writes and reads in the whole run", add;
//!         area_mm2: f64, "mm2", "area of all buffers";
//!     }
//! }
//! columns! {
//!     /// `/data/messages`: one row per received message.
//!     pub struct Messages of MessageRow {
//!         source: u32, "1", "sending endpoint";
//!         received_ps: Time, "ps", "time at which it was received whole";
//!     }
//! }
//! ```
//!
//! A line is name, type, unit, meaning. It becomes a field (of `Messages` a `Vec`, of `MessageRow`
//! one value), an entry of the schema and thereby a line of the manual, and the writer, the reader
//! and the JSON summary loop over it. An [`Option`] is absent from older results. `add` makes
//! [`Attributes::merge`] add up the number over domains; other numbers are left alone.

mod counted;
mod value;

pub use counted::{
    IterationRow, Iterations, LinkInterval, LinkIntervals, MessageRow, Messages, PacketRow,
    Packets, Summary, TaskInterval, TaskIntervals,
};
pub use value::{Cell, Field, Number, NumberKind, Values, Word};

/// A named number or text on a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// Its type in the file.
    pub kind: NumberKind,
    /// True if older results lack it.
    pub optional: bool,
    /// Its unit; `"1"` for a count or a fraction, empty for a text.
    pub units: &'static str,
    /// Its meaning.
    pub long_name: &'static str,
}

/// A dataset: one-dimensional unless said otherwise, as long as all others of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type in the file.
    pub kind: &'static str,
    /// Its attribute `units`; `"1"` for a count or an index.
    pub units: &'static str,
    /// Its attribute `long_name`.
    pub long_name: &'static str,
}

/// The attributes of a group: a struct that `attributes!` declares.
pub trait Attributes: Sized {
    /// The schema, in the order of the file.
    const ATTRIBUTES: &'static [Attribute];

    /// The values, in the same order; None of an absent one.
    fn values(&self) -> Vec<Option<Number>>;

    /// The struct whose values `get` gives.
    ///
    /// # Errors
    /// The first one of `get`.
    fn read<E>(get: impl FnMut(&Attribute) -> Result<Option<Number>, E>) -> Result<Self, E>;

    /// Adds those numbers of another domain that are added up.
    fn merge(&mut self, other: &Self);

    /// The schema with the values.
    fn pairs(&self) -> impl Iterator<Item = (&'static Attribute, Option<Number>)> {
        Self::ATTRIBUTES.iter().zip(self.values())
    }
}

/// Columns of equal length: a struct that `columns!` declares.
pub trait Table: Default + Extend<Self::Row> {
    /// A row.
    type Row;

    /// The schema, in the order of the file. The first column identifies a row.
    const COLUMNS: &'static [Column];

    /// The number of rows.
    fn rows(&self) -> usize;

    /// The columns, in the order of the schema.
    fn values(&self) -> Vec<Values<'_>>;

    /// The table whose columns `get` gives.
    ///
    /// # Errors
    /// The first one of `get`.
    fn read<E>(get: impl FnMut(&Column) -> Result<Values<'static>, E>) -> Result<Self, E>;

    /// The schema with the columns.
    fn pairs(&self) -> impl Iterator<Item = (&'static Column, Values<'_>)> {
        Self::COLUMNS.iter().zip(self.values())
    }
}

/// Declares the attributes of a group; see [`crate::table`].
#[macro_export]
macro_rules! attributes {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $($field:ident: $type:ty, $units:literal, $meaning:literal $(, $add:ident)?;)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            $(#[doc = $meaning] pub $field: $type,)*
        }

        const _: () = {
            use $crate::table::{Attribute, Attributes, Field, Number};

            impl Attributes for $name {
                const ATTRIBUTES: &'static [Attribute] = &[$(Attribute {
                    name: stringify!($field),
                    kind: <$type as Field>::KIND,
                    optional: <$type as Field>::OPTIONAL,
                    units: $units,
                    long_name: $meaning,
                },)*];

                fn values(&self) -> Vec<Option<Number>> {
                    vec![$(Field::value(&self.$field)),*]
                }

                fn read<E>(
                    mut get: impl FnMut(&Attribute) -> Result<Option<Number>, E>,
                ) -> Result<Self, E> {
                    let mut schema = Self::ATTRIBUTES.iter();
                    let mut next = || schema.next().map_or(Ok(None), &mut get);
                    Ok($name { $($field: Field::of(next()?),)* })
                }

                fn merge(&mut self, _other: &Self) {
                    $($(Field::$add(&mut self.$field, &_other.$field);)?)*
                }
            }
        };
    };
}
pub use crate::attributes;

/// Declares the columns of a group and a row of them; see [`crate::table`].
#[macro_export]
macro_rules! columns {
    (
        $(#[$about:meta])*
        pub struct $name:ident of $row:ident {
            $($field:ident: $type:ty, $units:literal, $meaning:literal;)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $(#[doc = $meaning] pub $field: Vec<$type>,)*
        }

        #[doc = concat!("A row of [`", stringify!($name), "`].")]
        #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $row {
            $(#[doc = $meaning] pub $field: $type,)*
        }

        const _: () = {
            use $crate::table::{Cell, Column, Table, Values};

            impl Table for $name {
                type Row = $row;

                const COLUMNS: &'static [Column] = &[$(Column {
                    name: stringify!($field),
                    kind: <$type as Cell>::KIND,
                    units: $units,
                    long_name: $meaning,
                },)*];

                fn rows(&self) -> usize {
                    [$(self.$field.len()),*][0]
                }

                fn values(&self) -> Vec<Values<'_>> {
                    vec![$(Cell::values(&self.$field)),*]
                }

                fn read<E>(
                    mut get: impl FnMut(&Column) -> Result<Values<'static>, E>,
                ) -> Result<Self, E> {
                    let mut schema = Self::COLUMNS.iter();
                    let mut next = || schema.next().map(&mut get).transpose();
                    Ok($name { $($field: next()?.map_or(Vec::new(), Cell::from_values),)* })
                }
            }

            impl Extend<$row> for $name {
                fn extend<T: IntoIterator<Item = $row>>(&mut self, rows: T) {
                    for row in rows {
                        $(self.$field.push(row.$field);)*
                    }
                }
            }

            impl FromIterator<$row> for $name {
                fn from_iter<T: IntoIterator<Item = $row>>(rows: T) -> Self {
                    let mut table = $name::default();
                    table.extend(rows);
                    table
                }
            }
        };
    };
}
pub use crate::columns;

#[cfg(test)]
mod tests {
    use super::*;

    attributes! {
        /// Numbers of a domain.
        pub struct Counted {
            width: u64, "m", "width of the domain";
            packets: u64, "1", "packets", add;
            late: Option<u64>, "1", "packets that were late", add;
        }
    }

    columns! {
        /// Rows of a domain.
        pub struct Places of Place {
            place: u16, "1", "number of the place";
            height: f64, "m", "height of the place";
        }
    }

    #[test]
    fn numbers_are_added_up_if_their_line_says_so() {
        let part = |width, packets, late| Counted {
            width,
            packets,
            late,
        };
        let mut all = part(7, 0, None);
        for own in [part(1, 2, Some(1)), part(2, 3, None), part(3, 4, Some(2))] {
            all.merge(&own);
        }
        assert_eq!(all, part(7, 9, Some(3)));
    }

    #[test]
    fn a_line_gives_the_schema_and_the_value_by_its_name() {
        let own = Counted {
            width: 7,
            packets: 9,
            late: None,
        };
        let pairs: Vec<_> = own.pairs().collect();
        let names = pairs
            .iter()
            .map(|(own, _)| (own.name, own.units, own.optional));
        let expected = [
            ("width", "m", false),
            ("packets", "1", false),
            ("late", "1", true),
        ];
        assert!(names.eq(expected));
        let value = |name| pairs.iter().find(|(own, _)| own.name == name);
        let read = Counted::read(|wanted| Ok::<_, ()>(value(wanted.name).unwrap().1.clone()));
        assert_eq!(read, Ok(own));
    }

    #[test]
    fn rows_become_columns_and_are_read_again() {
        let rows = [(3, 0.5), (4, 1.5)].map(|(place, height)| Place { place, height });
        let table: Places = rows.into_iter().collect();
        assert_eq!((table.rows(), &table.height[..]), (2, &[0.5, 1.5][..]));
        let kinds = Places::COLUMNS.iter().map(|column| column.kind);
        assert!(kinds.eq(["u16", "f64"]));
        let read = Places::read(|wanted| {
            Ok::<_, ()>(match wanted.name {
                "place" => Values::U16(table.place.clone().into()),
                _ => Values::F64(table.height.clone().into()),
            })
        });
        assert_eq!(read.as_ref(), Ok(&table));
    }
}
