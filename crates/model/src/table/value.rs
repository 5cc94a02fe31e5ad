//! Types of attributes and columns.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{LinkKind, RouterKind};

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    Whole(u64),
    /// A fractional number.
    Real(f64),
    /// A text.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
}

/// The type of an attribute in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// `u64`.
    Whole,
    /// `f64`.
    Real,
    /// A text.
    Text,
    /// A list of texts.
    Texts,
}

/// A type that a field of `attributes!` may have.
pub trait Field: Default {
    /// Its type in the file.
    const KIND: NumberKind;
    /// True if the file may lack it.
    const OPTIONAL: bool = false;

    /// The value for the file.
    fn value(&self) -> Option<Number>;

    /// The field with a value of the file; the default if there is none.
    fn of(value: Option<Number>) -> Self;

    /// Adds the counts of another domain.
    fn add(&mut self, _other: &Self) {}
}

macro_rules! fields {
    ($($type:ty: $kind:ident;)*) => {$(
        impl Field for $type {
            const KIND: NumberKind = NumberKind::$kind;

            fn value(&self) -> Option<Number> {
                Some(Number::$kind(self.clone()))
            }

            fn of(value: Option<Number>) -> Self {
                match value {
                    Some(Number::$kind(value)) => value,
                    _ => Self::default(),
                }
            }
        }
    )*};
}
fields! {
    f64: Real;
    String: Text;
    Vec<String>: Texts;
}

impl Field for u64 {
    const KIND: NumberKind = NumberKind::Whole;

    fn value(&self) -> Option<Number> {
        Some(Number::Whole(*self))
    }

    fn of(value: Option<Number>) -> Self {
        match value {
            Some(Number::Whole(value)) => value,
            _ => 0,
        }
    }

    fn add(&mut self, other: &Self) {
        *self += other;
    }
}

impl Field for u32 {
    const KIND: NumberKind = NumberKind::Whole;

    fn value(&self) -> Option<Number> {
        Some(Number::Whole(u64::from(*self)))
    }

    fn of(value: Option<Number>) -> Self {
        u32::try_from(u64::of(value)).unwrap_or(u32::MAX)
    }
}

impl Field for bool {
    const KIND: NumberKind = NumberKind::Whole;

    fn value(&self) -> Option<Number> {
        Some(Number::Whole(u64::from(*self)))
    }

    fn of(value: Option<Number>) -> Self {
        u64::of(value) != 0
    }
}

impl<T: Field + Clone> Field for Option<T> {
    const KIND: NumberKind = T::KIND;
    const OPTIONAL: bool = true;

    fn value(&self) -> Option<Number> {
        self.as_ref().and_then(T::value)
    }

    fn of(value: Option<Number>) -> Self {
        value.map(|value| T::of(Some(value)))
    }

    fn add(&mut self, other: &Self) {
        match (self, other) {
            (Some(own), Some(other)) => own.add(other),
            (own, other) => *own = own.take().or(other.clone()),
        }
    }
}

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values<'a> {
    /// `i32`.
    I32(Cow<'a, [i32]>),
    /// `u16`.
    U16(Cow<'a, [u16]>),
    /// `u32`.
    U32(Cow<'a, [u32]>),
    /// `u64`.
    U64(Cow<'a, [u64]>),
    /// `f64`.
    F64(Cow<'a, [f64]>),
    /// Kinds of links or routers, or words, which the file has by their names.
    Kinds(Vec<usize>),
}

impl Values<'_> {
    /// The value of a row, or its place of a kind; None beyond the last row.
    pub fn get(&self, row: usize) -> Option<Number> {
        match self {
            Values::I32(values) => values.get(row).map(|&value| Number::Real(value.into())),
            Values::U16(values) => values.get(row).map(|&value| Number::Whole(value.into())),
            Values::U32(values) => values.get(row).map(|&value| Number::Whole(value.into())),
            Values::U64(values) => values.get(row).map(|&value| Number::Whole(value)),
            Values::F64(values) => values.get(row).map(|&value| Number::Real(value)),
            Values::Kinds(values) => values.get(row).map(|&kind| Number::Whole(kind as u64)),
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Values::I32(values) => values.len(),
            Values::U16(values) => values.len(),
            Values::U32(values) => values.len(),
            Values::U64(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::Kinds(values) => values.len(),
        }
    }
}

/// A type that a column of `columns!` may have.
pub trait Cell: Sized {
    /// Its type in the file.
    const KIND: &'static str;

    /// A column for the file.
    fn values(column: &[Self]) -> Values<'_>;

    /// A column of the file; empty if it is of another type.
    fn from_values(values: Values<'static>) -> Vec<Self>;
}

macro_rules! cells {
    ($($type:ident: $values:ident;)*) => {$(
        impl Cell for $type {
            const KIND: &'static str = stringify!($type);

            fn values(column: &[Self]) -> Values<'_> {
                Values::$values(Cow::Borrowed(column))
            }

            fn from_values(values: Values<'static>) -> Vec<Self> {
                match values {
                    Values::$values(column) => column.into_owned(),
                    _ => Vec::new(),
                }
            }
        }
    )*};
}
cells! {
    i32: I32;
    u16: U16;
    u32: U32;
    u64: U64;
    f64: F64;
}

macro_rules! kinds {
    ($($type:ident;)*) => {$(
        impl Cell for $type {
            const KIND: &'static str = "text";

            fn values(column: &[Self]) -> Values<'_> {
                Values::Kinds(column.iter().map(|kind| kind.index()).collect())
            }

            fn from_values(values: Values<'static>) -> Vec<Self> {
                match values {
                    Values::Kinds(column) => column.iter().map(|&kind| $type(kind as u8)).collect(),
                    _ => Vec::new(),
                }
            }
        }
    )*};
}
kinds! {
    LinkKind;
    RouterKind;
    Word;
}

/// Place of a word in the list that belongs to its table. The file has the word itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word(pub u8);

impl Word {
    /// The place as an index.
    pub fn index(self) -> usize {
        self.0.into()
    }
}
