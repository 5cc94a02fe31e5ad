//! A flat table as HDF5: one group, columns of equal length.

use std::path::Path;

use hdf5::File;
use hdf5::types::VarLenUnicode;

use super::{filled, settle};
use crate::error::TraceError;
use crate::hdf::seal::Kind;
use crate::hdf::{Outcome, put_dataset};

/// Columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    rows: usize,
    columns: Vec<FrameColumn>,
}

#[derive(Clone, Debug)]
struct FrameColumn {
    name: String,
    units: String,
    long_name: String,
    values: Values,
}

#[derive(Clone, Debug)]
enum Values {
    Whole(Vec<u64>),
    Numbers(Vec<f64>),
    Texts(Vec<String>),
}

impl Frame {
    /// A table of `rows` rows.
    pub fn new(rows: usize) -> Frame {
        Frame {
            rows,
            columns: Vec::new(),
        }
    }

    fn add(&mut self, name: &str, units: &str, long_name: &str, values: Values) {
        self.columns.push(FrameColumn {
            // A slash would be a group.
            name: name.replace('/', "_"),
            units: match units {
                "" => "1".into(),
                units => units.into(),
            },
            long_name: long_name.into(),
            values,
        });
    }

    /// Adds a column of whole numbers, one for each row.
    pub fn whole(
        &mut self,
        name: &str,
        units: &str,
        about: &str,
        values: impl Iterator<Item = u64>,
    ) {
        self.add(name, units, about, Values::Whole(values.collect()));
    }

    /// Adds a column of numbers, one for each row.
    pub fn numbers(
        &mut self,
        name: &str,
        units: &str,
        about: &str,
        values: impl Iterator<Item = f64>,
    ) {
        self.add(name, units, about, Values::Numbers(values.collect()));
    }

    /// Adds a column of texts, one for each row.
    pub fn texts(
        &mut self,
        name: &str,
        units: &str,
        about: &str,
        values: impl Iterator<Item = String>,
    ) {
        self.add(name, units, about, Values::Texts(values.collect()));
    }
}

/// Writes a table, replacing any existing file.
///
/// # Errors
/// If it cannot be written.
pub fn write_frame(path: &Path, frame: &Frame) -> Result<(), TraceError> {
    settle(
        filled(path, Kind::Table, None, |file| put(file, frame))?,
        path,
    )
}

fn put(file: &File, frame: &Frame) -> Outcome<()> {
    let rows = [frame.rows];
    for column in &frame.columns {
        let FrameColumn {
            name,
            units,
            long_name,
            values,
        } = column;
        match values {
            Values::Whole(values) => put_dataset(file, name, units, long_name, &rows, values)?,
            Values::Numbers(values) => put_dataset(file, name, units, long_name, &rows, values)?,
            Values::Texts(values) => {
                let texts = values.iter().map(|text| crate::hdf::text(text));
                let texts = texts.collect::<Outcome<Vec<VarLenUnicode>>>()?;
                put_dataset(file, name, units, long_name, &rows, &texts)?;
            }
        }
    }
    Ok(())
}
