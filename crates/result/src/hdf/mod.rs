//! The thin layer over the HDF5 library: groups, attributes and columns as result files use them,
//! dimension scales, and the seal of a file.

pub(crate) mod scale;
pub(crate) mod seal;

use hdf5::plist::dataset_create::Layout;
use hdf5::types::{FixedAscii, VarLenUnicode};
use hdf5::{Dataset, Group, H5Type, LinkType, Location, LocationType};

use super::schema::CHUNK_ROWS;
use weir_model::KindName;
use weir_model::table::{Attributes, Column, Number, NumberKind, Table, Values};

/// Most bytes in memory of a dataset that is kept beside its description. A chunk has an index and
/// a filter: for such a dataset they would take more room and most of the time.
const COMPACT: usize = 4_096;

/// Level of deflate: beyond it files hardly shrink and writing slows down.
const DEFLATE: u8 = 4;

/// Reason why a dataset could not be written or read, before the path is known.
#[derive(Debug)]
pub(super) enum Failure {
    /// The library or the disk.
    Library(String),
    /// The file or the data lack something or have it in another form.
    Content(String),
    /// See [`super::TraceError::Name`].
    Name { what: &'static str, name: String },
    /// See [`super::TraceError::Uneven`].
    Uneven {
        group: String,
        column: String,
        rows: usize,
        expected: usize,
    },
}

pub(super) type Outcome<T> = Result<T, Failure>;

impl From<hdf5::Error> for Failure {
    fn from(error: hdf5::Error) -> Self {
        Failure::Library(cause(&error))
    }
}

/// The cause of a failure in words.
///
/// HDF5 hides the operating system's reason inside its message
/// (`error message = 'No space left on device'`); if there is one, it is sufficient.
pub(super) fn cause(error: &hdf5::Error) -> String {
    let Some(stack) = error.stack() else {
        return error.to_string();
    };
    let reason = stack.iter().rev().find_map(|frame| {
        let (_, tail) = frame.desc().split_once("error message = '")?;
        Some(tail.split_once('\'')?.0.to_string())
    });
    match (reason, stack.last()) {
        (Some(reason), _) if reason.contains("temporarily unavailable") => format!(
            "the file is locked by another program, or its file system has no locks \
             (then set HDF5_USE_FILE_LOCKING=FALSE): {reason}"
        ),
        (Some(reason), _) => reason,
        (None, Some(innermost)) => format!("{} (HDF5)", innermost.desc()),
        (None, None) => error.to_string(),
    }
}

/// Refuses a text that cannot be the name of a group or dataset.
pub(super) fn check_name(what: &'static str, name: &str) -> Outcome<()> {
    if name.is_empty() || name == "." || name.contains(['/', '\0']) {
        return Err(Failure::Name {
            what,
            name: name.to_string(),
        });
    }
    Ok(())
}

/// A new group without a time stamp, so that equal content makes equal files.
pub(super) fn group(parent: &Group, name: &str) -> Outcome<Group> {
    Ok(parent
        .create_group_builder()
        .obj_track_times(false)
        .create(name)?)
}

pub(super) fn text(value: &str) -> Outcome<VarLenUnicode> {
    value
        .parse()
        .map_err(|_| Failure::Content(format!("a text with a NUL character: {value:?}")))
}

/// Writes a text.
pub(super) fn put_text(at: &Location, name: &str, value: &str) -> Outcome<()> {
    let attribute = at.new_attr::<VarLenUnicode>().create(name)?;
    Ok(attribute.write_scalar(&text(value)?)?)
}

/// Writes a list of texts.
pub(super) fn put_list(at: &Location, name: &str, values: &[String]) -> Outcome<()> {
    let values = values
        .iter()
        .map(|v| text(v))
        .collect::<Outcome<Vec<_>>>()?;
    let attribute = at
        .new_attr::<VarLenUnicode>()
        .shape(values.len())
        .create(name)?;
    if !values.is_empty() {
        attribute.write_raw(&values)?;
    }
    Ok(())
}

/// Writes a number.
pub(super) fn put_number<T: H5Type>(at: &Location, name: &str, value: T) -> Outcome<()> {
    Ok(at.new_attr::<T>().create(name)?.write_scalar(&value)?)
}

/// Writes the attributes of a group.
pub(super) fn put_attributes(at: &Group, attributes: &impl Attributes) -> Outcome<()> {
    for (attribute, value) in attributes.pairs() {
        match value {
            Some(Number::Whole(value)) => put_number(at, attribute.name, value)?,
            Some(Number::Real(value)) => put_number(at, attribute.name, value)?,
            Some(Number::Text(value)) => put_text(at, attribute.name, &value)?,
            Some(Number::Texts(values)) => put_list(at, attribute.name, &values)?,
            None => {}
        }
    }
    Ok(())
}

/// Writes the columns of a table, whose names begin with `prefix`, and kinds by their names.
pub(super) fn put_columns(
    at: &Group,
    prefix: &str,
    table: &impl Table,
    kinds: &[KindName],
) -> Outcome<()> {
    for (column, values) in table.pairs() {
        let name = format!("{prefix}{}", column.name);
        let (units, long_name) = (column.units, column.long_name);
        put_column(at, &name, units, long_name, table.rows(), values, kinds)?;
    }
    Ok(())
}

/// Writes one column.
pub(super) fn put_column(
    at: &Group,
    name: &str,
    units: &str,
    long_name: &str,
    rows: usize,
    values: Values,
    kinds: &[KindName],
) -> Outcome<()> {
    check_name("column", name)?;
    if values.rows() != rows {
        return Err(Failure::Uneven {
            group: at.name(),
            column: name.to_string(),
            rows: values.rows(),
            expected: rows,
        });
    }
    let shape = [rows];
    match values {
        Values::I32(values) => put_dataset(at, name, units, long_name, &shape, &values),
        Values::U16(values) => put_dataset(at, name, units, long_name, &shape, &values),
        Values::U32(values) => put_dataset(at, name, units, long_name, &shape, &values),
        Values::U64(values) => put_dataset(at, name, units, long_name, &shape, &values),
        Values::F64(values) => put_dataset(at, name, units, long_name, &shape, &values),
        Values::Kinds(values) => {
            let texts = values.iter().map(|&kind| &*kinds[kind]);
            let longest = texts.clone().map(str::len).max();
            match longest.unwrap_or(0) {
                0..=8 => put_dataset(at, name, units, long_name, &shape, &fixed::<8>(texts)?),
                9..=16 => put_dataset(at, name, units, long_name, &shape, &fixed::<16>(texts)?),
                17..=32 => put_dataset(at, name, units, long_name, &shape, &fixed::<32>(texts)?),
                _ => put_dataset(at, name, units, long_name, &shape, &fixed::<64>(texts)?),
            }
        }
    }
}

/// Texts of a fixed length, so that they are compressed with the rest.
fn fixed<'a, const N: usize>(texts: impl Iterator<Item = &'a str>) -> Outcome<Vec<FixedAscii<N>>> {
    let fixed = texts.map(|text| {
        FixedAscii::from_ascii(text).map_err(|_| {
            Failure::Content(format!("{text:?} is not ASCII of at most {N} characters"))
        })
    });
    fixed.collect()
}

/// Writes a dataset of any shape.
///
/// Chunks are flushed here: HDF5 would otherwise write them when the handle is dropped, where a
/// full disk goes unnoticed. Everything else is metadata, written when the file is flushed.
pub(super) fn put_dataset<T: H5Type>(
    at: &Group,
    name: &str,
    units: &str,
    long_name: &str,
    shape: &[usize],
    values: &[T],
) -> Outcome<()> {
    let builder = at.new_dataset::<T>().obj_track_times(false);
    let compact = size_of_val(values) <= COMPACT;
    let builder = match (values.is_empty(), compact) {
        (true, _) => builder.no_chunk(),
        (false, true) => builder.layout(Layout::Compact),
        (false, false) => builder.chunk(chunk(shape)).shuffle().deflate(DEFLATE),
    };
    let dataset: Dataset = builder.shape(shape).create(name)?;
    put_text(&dataset, "units", units)?;
    put_text(&dataset, "long_name", long_name)?;
    if !values.is_empty() {
        dataset.write_raw(values)?;
    }
    if !compact {
        dataset.flush()?;
    }
    Ok(())
}

/// Chunks of [`CHUNK_ROWS`] elements: rows of a column; whole rows of a table if they fit.
fn chunk(shape: &[usize]) -> Vec<usize> {
    let mut left = CHUNK_ROWS;
    let mut chunk: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&extent| {
            let side = extent.min(left).max(1);
            left = (left / side).max(1);
            side
        })
        .collect();
    chunk.reverse();
    chunk
}

/// A group that must be there.
pub(super) fn open(parent: &Group, name: &str) -> Outcome<Group> {
    parent
        .group(name)
        .map_err(|error| missing(parent, name, &error))
}

fn missing(at: &Location, name: &str, error: &hdf5::Error) -> Failure {
    let parent = at.name();
    let slash = if parent.ends_with('/') { "" } else { "/" };
    Failure::Content(format!("{parent}{slash}{name}: {}", cause(error)))
}

/// Reads a number.
pub(super) fn get_number<T: H5Type>(at: &Location, name: &str) -> Outcome<T> {
    at.attr(name)
        .and_then(|attribute| attribute.read_scalar())
        .map_err(|error| missing(at, name, &error))
}

/// True if a group has an attribute.
fn has(at: &Group, name: &str) -> Outcome<bool> {
    Ok(at.attr_names()?.iter().any(|own| own == name))
}

/// Reads the attributes of a group.
pub(super) fn get_attributes<A: Attributes>(at: &Group) -> Outcome<A> {
    A::read(|attribute| {
        let name = attribute.name;
        if attribute.optional && !has(at, name)? {
            return Ok(None);
        }
        Ok(Some(match attribute.kind {
            NumberKind::Whole => Number::Whole(get_number(at, name)?),
            NumberKind::Real => Number::Real(get_number(at, name)?),
            NumberKind::Text => Number::Text(get_text(at, name)?),
            NumberKind::Texts => Number::Texts(get_list(at, name)?),
        }))
    })
}

/// The text behind the library's string, which does not check that it is UTF-8.
fn checked(at: &Location, name: &str, text: &VarLenUnicode) -> Outcome<String> {
    String::from_utf8(text.as_bytes().to_vec())
        .map_err(|_| Failure::Content(format!("{}: attribute {name} is not UTF-8", at.name())))
}

/// Reads a text.
pub(super) fn get_text(at: &Location, name: &str) -> Outcome<String> {
    let value: VarLenUnicode = get_number(at, name)?;
    checked(at, name, &value)
}

/// Reads a list of texts.
pub(super) fn get_list(at: &Location, name: &str) -> Outcome<Vec<String>> {
    let attribute = at.attr(name).map_err(|error| missing(at, name, &error))?;
    bounded(at, name, attribute.size(), LONGEST_LIST)?;
    if attribute.size() == 0 {
        return Ok(Vec::new());
    }
    let values: Vec<VarLenUnicode> = attribute
        .read_raw()
        .map_err(|error| missing(at, name, &error))?;
    values.iter().map(|v| checked(at, name, v)).collect()
}

/// More ranks than any machine has.
const LONGEST_LIST: usize = 1 << 24;

/// Refuses a size that only a damaged file can claim, before memory is asked for.
fn bounded(at: &Location, name: &str, size: usize, most: usize) -> Outcome<()> {
    if size > most {
        return Err(Failure::Content(format!(
            "{}/{name} claims {size} elements, more than {most}",
            at.name()
        )));
    }
    Ok(())
}

/// Reads a column of at most `most` numbers.
pub(super) fn get_column<T: H5Type>(at: &Group, name: &str, most: usize) -> Outcome<Vec<T>> {
    let lost = |error: hdf5::Error| missing(at, name, &error);
    let dataset = at.dataset(name).map_err(lost)?;
    let size = dataset.size();
    bounded(at, name, size, most)?;
    if size == 0 {
        return Ok(Vec::new());
    }
    dataset.read_raw().map_err(lost)
}

/// Reads the columns of a table of at most `most` rows, which have to be equally long.
pub(super) fn get_table<T: Table>(at: &Group, most: usize) -> Outcome<T> {
    let mut rows = None;
    T::read(|column| {
        let values = get_values(at, column, most)?;
        let expected = *rows.get_or_insert(values.rows());
        match values.rows() == expected {
            true => Ok(values),
            false => Err(Failure::Uneven {
                group: at.name(),
                column: column.name.to_string(),
                rows: values.rows(),
                expected,
            }),
        }
    })
}

fn get_values(at: &Group, column: &Column, most: usize) -> Outcome<Values<'static>> {
    let name = column.name;
    Ok(match column.kind {
        "i32" => Values::I32(get_column(at, name, most)?.into()),
        "u16" => Values::U16(get_column(at, name, most)?.into()),
        "u32" => Values::U32(get_column(at, name, most)?.into()),
        "u64" => Values::U64(get_column(at, name, most)?.into()),
        "f64" => Values::F64(get_column(at, name, most)?.into()),
        other => return Err(Failure::Content(format!("{name} is a column of {other}"))),
    })
}

/// Groups are nested this deep at most; a file with a circle of links is foreign.
pub(super) const DEEPEST: usize = 8;

/// Refuses a file whose content is partly elsewhere, beyond the reach of the checksum: in other
/// files (external links, external storage) or behind other names (soft links, virtual datasets).
/// weir writes none of these.
pub(super) fn check_self_contained(at: &Group, levels: usize) -> Outcome<()> {
    let parent = at.name();
    let path = |name: &str| format!("{}/{name}", parent.trim_end_matches('/'));
    if levels == 0 {
        return Err(Failure::Content(format!("{parent} is nested too deep")));
    }
    let mut names = Vec::new();
    at.iter_visit_default(|name, link| {
        names.push((name.to_string(), link.link_type));
        Ok(())
    })?;
    for (name, link) in names {
        if link != LinkType::Hard {
            return Err(foreign(&path(&name), "is a link to something elsewhere"));
        }
        match at.loc_type_by_name(&name)? {
            LocationType::Group => check_self_contained(&at.group(&name)?, levels - 1)?,
            LocationType::Dataset => {
                let storage = at.dataset(&name)?.dcpl()?;
                match storage.get_layout()? {
                    Layout::Compact | Layout::Chunked => {}
                    // Only these can be elsewhere ("HDF5 File Format Specification", IV.A.2.h).
                    Layout::Contiguous if storage.get_external()?.is_empty() => {}
                    Layout::Contiguous => {
                        return Err(foreign(&path(&name), "is stored in another file"));
                    }
                    Layout::Virtual => return Err(foreign(&path(&name), "is a virtual dataset")),
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn foreign(path: &str, what: &str) -> Failure {
    Failure::Content(format!("{path} {what}, which the checksum does not cover"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_whole_rows_if_they_fit() {
        assert_eq!(chunk(&[3, 4]), [3, 4]);
        assert_eq!(chunk(&[1_000, 1_000]), [65, 1_000]);
        assert_eq!(chunk(&[2, 100_000]), [1, 65_536]);
    }
}
