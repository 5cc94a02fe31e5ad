//! `/data/attribution`: backlog by owner and place. Its writer and its reader.

pub(super) mod table;

use hdf5::Group;

use crate::error::TraceError;
use crate::hdf::scale::put_table;
use crate::hdf::{Outcome, get_attributes, get_table, group, open, put_attributes};
use crate::read::columns::{MOST_ROWS, ResultFile};

use table::Attribution;

pub(super) fn write_attribution(at: &Group, own: &Attribution) -> Outcome<()> {
    put_attributes(at, &own.looks)?;
    put_table(&group(at, "waits")?, &own.waits, &[])?;
    put_table(&group(at, "pressure")?, &own.pressure, &[])?;
    put_table(&group(at, "elsewhere")?, &own.elsewhere, &[])
}

impl ResultFile {
    /// Backlog by owner and place. None if it was not recorded.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn attribution(&self) -> Result<Option<Attribution>, TraceError> {
        self.within("data/attribution", |at| {
            Ok(Some(Attribution {
                looks: get_attributes(at)?,
                waits: get_table(&open(at, "waits")?, MOST_ROWS)?,
                pressure: get_table(&open(at, "pressure")?, MOST_ROWS)?,
                elsewhere: get_table(&open(at, "elsewhere")?, MOST_ROWS)?,
            }))
        })
    }
}
