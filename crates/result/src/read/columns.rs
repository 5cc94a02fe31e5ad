//! Single attributes and columns of a result, by their names.

use std::path::{Path, PathBuf};

use hdf5::types::FixedAscii;
use hdf5::{File, Group, H5Type};

use super::open_result;
use crate::error::TraceError;
use crate::hdf::{Failure, Outcome, get_column, get_list, get_text};
use crate::results::Occupancy;
use crate::schema::{Header, PORT_KINDS};
use weir_model::Time;

/// More rows than any column has that is read at once: 16 GiB of them.
pub(crate) const MOST_ROWS: usize = 1 << 31;

/// An open result.
/// Absent content is None: opt-in groups, columns of a job or a scheme that this run did not have.
pub struct ResultFile {
    path: PathBuf,
    file: File,
    header: Header,
}

impl ResultFile {
    /// Opens a result.
    ///
    /// # Errors
    /// As for [`crate::read()`].
    pub fn open(path: &Path) -> Result<ResultFile, TraceError> {
        let (file, header) = open_result(path)?;
        Ok(ResultFile {
            path: path.to_path_buf(),
            header,
            file,
        })
    }

    /// The attributes of `/`.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// A number on a group such as `data/summary`.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn number(&self, group: &str, name: &str) -> Result<Option<f64>, TraceError> {
        self.within(group, |group| {
            // To list the names takes longer than everything else.
            let attribute = match group.attr(name) {
                Ok(attribute) => attribute,
                Err(error) => match group.attr_names()?.iter().any(|own| own == name) {
                    true => return Err(error.into()),
                    false => return Ok(None),
                },
            };
            Ok(Some(match attribute.dtype()?.is::<f64>() {
                true => attribute.read_scalar::<f64>()?,
                false => attribute.read_scalar::<u64>()? as f64,
            }))
        })
    }

    /// A column of whole numbers of a group such as `data/series`.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn column(&self, group: &str, name: &str) -> Result<Option<Vec<u64>>, TraceError> {
        self.rows(group, name)
    }

    /// Columns of whole numbers of a group such as `data/ports`, with equally many rows. None if it
    /// lacks one of them.
    ///
    /// # Errors
    /// If the file is damaged, also if one is longer than another.
    pub fn table<const N: usize>(
        &self,
        group: &str,
        names: [&str; N],
    ) -> Result<Option<[Vec<u64>; N]>, TraceError> {
        let mut table = [const { Vec::new() }; N];
        for (own, name) in table.iter_mut().zip(names) {
            match self.column(group, name)? {
                Some(rows) => *own = rows,
                None => return Ok(None),
            }
        }
        let rows = table.first().map_or(0, Vec::len);
        match table.iter().zip(names).find(|(own, _)| own.len() != rows) {
            Some((own, name)) => Err(self.uneven(group, name, own.len(), rows)),
            None => Ok(Some(table)),
        }
    }

    /// A column of `/data/series`. `endpoint.0-30.delivered_bytes` is the sum of those of endpoints
    /// 0 to 30. None if there is no such column, or one of them is not there.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn series(&self, column: &str) -> Result<Option<Vec<u64>>, TraceError> {
        const SERIES: &str = "data/series";
        let Some((endpoints, rest)) = endpoints_of(column) else {
            return self.column(SERIES, column);
        };
        let mut sum: Option<Vec<u64>> = None;
        for endpoint in endpoints {
            let Some(rows) = self.column(SERIES, &format!("endpoint.{endpoint}.{rest}"))? else {
                return Ok(None);
            };
            match &mut sum {
                None => sum = Some(rows),
                // Bytes that were delivered are less than 2⁶⁴ over all endpoints.
                Some(sum) => {
                    let pairs = sum.iter_mut().zip(rows);
                    pairs.for_each(|(sum, row)| *sum = sum.saturating_add(row));
                }
            }
        }
        Ok(sum)
    }

    /// The bins of `/data/series`. None if there are none.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn bins(&self) -> Result<Option<Bins>, TraceError> {
        let width = self.number("data/series", "bin_ps")?;
        let begins = self.column("data/series", "time_ps")?;
        let (Some(width), Some(begin_ps)) = (width, begins) else {
            return Ok(None);
        };
        let width_ps = width as Time;
        let end = match self.jobs_are_over()? {
            true => Time::MAX,
            false => self
                .number("data/summary", "simulated_ps")?
                .unwrap_or_default() as Time,
        };
        let lengths = begin_ps
            .iter()
            .map(|begin| width_ps.min(end.saturating_sub(*begin)));
        Ok(Some(Bins {
            width_ps,
            length_ps: lengths.collect(),
            begin_ps,
        }))
    }

    /// Content of all routers at chosen times. None if it was not recorded.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn occupancy(&self) -> Result<Option<Occupancy>, TraceError> {
        const GROUP: &str = "data/occupancy";
        let times = self.column(GROUP, "time_ps")?;
        let (Some(time_ps), Some(bytes)) = (times, self.column(GROUP, "bytes")?) else {
            return Ok(None);
        };
        let routers = bytes.len().checked_div(time_ps.len()).unwrap_or(0);
        let expected = routers * time_ps.len();
        if bytes.len() != expected {
            return Err(self.uneven(GROUP, "bytes", bytes.len(), expected));
        }
        Ok(Some(Occupancy {
            time_ps,
            routers,
            bytes,
        }))
    }

    /// A column is longer or shorter than it has to be.
    pub(crate) fn uneven(
        &self,
        group: &str,
        column: &str,
        rows: usize,
        expected: usize,
    ) -> TraceError {
        let uneven = Failure::Uneven {
            group: group.into(),
            column: column.into(),
            rows,
            expected,
        };
        TraceError::while_reading(&self.path, uneven)
    }

    /// A column is not there that has to be.
    pub(crate) fn lacks(&self, group: &str, column: &str) -> TraceError {
        let lacks = Failure::Content(format!("/{group} has no column {column:?}"));
        TraceError::while_reading(&self.path, lacks)
    }

    /// A column of fractions of a group such as `data/rates`.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn fractions(&self, group: &str, name: &str) -> Result<Option<Vec<f64>>, TraceError> {
        self.rows(group, name)
    }

    /// A column of `rows` whole numbers that may be negative; it must exist.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn signed(&self, group: &str, name: &str, rows: usize) -> Result<Vec<i64>, TraceError> {
        let column: Option<Vec<i64>> = self.rows(group, name)?;
        let column = column.ok_or_else(|| self.lacks(group, name))?;
        match column.len() == rows {
            true => Ok(column),
            false => Err(self.uneven(group, name, column.len(), rows)),
        }
    }

    /// The unit of a column.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn units(&self, group: &str, name: &str) -> Result<Option<String>, TraceError> {
        self.within(group, |group| match group.link_exists(name) {
            true => {
                let dataset = group.dataset(name)?;
                get_text(&dataset, "units").map(Some)
            }
            false => Ok(None),
        })
    }

    /// The column `kind` of `/data/ports`: the kind of each link.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn port_kinds(&self) -> Result<Vec<String>, TraceError> {
        self.texts("data/ports", "kind")
    }

    /// A column of `rows` words; it must exist.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn words(&self, group: &str, name: &str, rows: usize) -> Result<Vec<String>, TraceError> {
        let words = self.texts(group, name)?;
        match words.len() == rows {
            true => Ok(words),
            false => Err(self.uneven(group, name, words.len(), rows)),
        }
    }

    fn texts(&self, group: &str, name: &str) -> Result<Vec<String>, TraceError> {
        let words = self.within(group, |group| {
            let words: Vec<FixedAscii<64>> = get_column(group, name, MOST_ROWS)?;
            Ok(Some(words.iter().map(|word| word.to_string()).collect()))
        })?;
        Ok(words.unwrap_or_default())
    }

    /// The names of the network's kinds of links, in the order of their numbers.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn link_kinds(&self) -> Result<Vec<String>, TraceError> {
        let names = self.within("data/ports", |ports| {
            get_list(ports, PORT_KINDS.name).map(Some)
        })?;
        Ok(names.unwrap_or_default())
    }

    /// The names of the columns of a group; none if it is not there.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn columns(&self, group: &str) -> Result<Vec<String>, TraceError> {
        let names = self.within(group, |group| {
            let mut names = Vec::new();
            for name in group.member_names()? {
                if group.dataset(&name).is_ok() {
                    names.push(name);
                }
            }
            names.sort_unstable();
            Ok(Some(names))
        })?;
        Ok(names.unwrap_or_default())
    }

    /// True if all jobs were over when the run ended: nothing would have moved after it.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn jobs_are_over(&self) -> Result<bool, TraceError> {
        for job in self.groups("data/jobs")? {
            if !self.job_is_over(&format!("data/jobs/{job}"))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if the job of this group was over when the run ended; else its finish and
    /// communication time are missing.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn job_is_over(&self, group: &str) -> Result<bool, TraceError> {
        Ok(self.number(group, "over")? == Some(1.0))
    }

    /// The names of the groups inside a group.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn groups(&self, group: &str) -> Result<Vec<String>, TraceError> {
        let names = self.within(group, |group| {
            let mut names = group.member_names()?;
            names.retain(|name| group.group(name).is_ok());
            names.sort_unstable();
            Ok(Some(names))
        })?;
        Ok(names.unwrap_or_default())
    }

    fn rows<T: H5Type + Clone>(
        &self,
        group: &str,
        name: &str,
    ) -> Result<Option<Vec<T>>, TraceError> {
        self.within(group, |group| match group.link_exists(name) {
            true => get_column(group, name, MOST_ROWS).map(Some),
            false => Ok(None),
        })
    }

    pub(crate) fn within<T>(
        &self,
        group: &str,
        read: impl FnOnce(&Group) -> Outcome<Option<T>>,
    ) -> Result<Option<T>, TraceError> {
        let mut at: Group = (*self.file).clone();
        for part in group.split('/') {
            if !at.link_exists(part) {
                return Ok(None);
            }
            at = at
                .group(part)
                .map_err(|error| TraceError::while_reading(&self.path, Failure::from(error)))?;
        }
        read(&at).map_err(|failure| TraceError::while_reading(&self.path, failure))
    }
}

/// The bins of a time series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bins {
    /// Their width, ps.
    pub width_ps: Time,
    /// Begin of each, ps.
    pub begin_ps: Vec<Time>,
    /// Length of each, ps: the width, but of the last one only what the run has of it, if it ended
    /// before its jobs were over.
    pub length_ps: Vec<Time>,
}

/// The endpoints of `endpoint.0-30.delivered_bytes` (or `endpoint.31.delivered_bytes`), and the
/// column of each. None if it is not of endpoints.
pub fn endpoints_of(column: &str) -> Option<(std::ops::RangeInclusive<u32>, &str)> {
    let (which, rest) = column.strip_prefix("endpoint.")?.split_once('.')?;
    let (first, last) = which.split_once('-').unwrap_or((which, which));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some((first..=last, rest))
}
