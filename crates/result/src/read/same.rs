//! Comparison of the data of two results, bit by bit.

use std::path::Path;

use hdf5::types::{FixedAscii, TypeDescriptor, VarLenUnicode};
use hdf5::{Container, Group, H5Type, Location};

use super::open_result;
use crate::error::TraceError;
use crate::hdf::{DEEPEST, Failure, Outcome, open};

/// True if everything under `/data` is the same in two results, to the last bit.
///
/// # Errors
/// As for [`super::read`], of either file.
pub fn same_data(one: &Path, other: &Path) -> Result<bool, TraceError> {
    let (first, _) = open_result(one)?;
    let (second, _) = open_result(other)?;
    let data = |file: &Group, path| {
        open(file, "data").map_err(|failure| TraceError::while_reading(path, failure))
    };
    let (a, b) = (data(&first, one)?, data(&second, other)?);
    same_group(&a, &b, DEEPEST).map_err(|failure| TraceError::while_reading(one, failure))
}

fn same_group(a: &Group, b: &Group, levels: usize) -> Outcome<bool> {
    if levels == 0 {
        return Err(Failure::Content(format!("{} is nested too deep", a.name())));
    }
    let [mut names, mut others] = [a.member_names()?, b.member_names()?];
    names.sort_unstable();
    others.sort_unstable();
    if names != others || !same_attributes(a, b)? {
        return Ok(false);
    }
    for name in names {
        let same = match (a.group(&name), b.group(&name)) {
            (Ok(a), Ok(b)) => same_group(&a, &b, levels - 1)?,
            (Err(_), Err(_)) => {
                let (a, b) = (a.dataset(&name)?, b.dataset(&name)?);
                same_attributes(&a, &b)? && same_values(&a, &b)?
            }
            _ => false,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

fn same_attributes(a: &Location, b: &Location) -> Outcome<bool> {
    // Attributes of dimension scales are places in the file.
    const PLACES: [&str; 4] = ["CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"];
    let [names, others] = [a.attr_names()?, b.attr_names()?].map(|mut names| {
        names.retain(|name| !PLACES.contains(&name.as_str()));
        names.sort_unstable();
        names
    });
    if names != others {
        return Ok(false);
    }
    for name in names {
        if !same_values(&*a.attr(&name)?, &*b.attr(&name)?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn same_values(a: &Container, b: &Container) -> Outcome<bool> {
    let kind = a.dtype()?.to_descriptor()?;
    if a.shape() != b.shape() || kind != b.dtype()?.to_descriptor()? {
        return Ok(false);
    }
    match kind {
        TypeDescriptor::Unsigned(_) => same_rows::<u64>(a, b, |one| *one),
        TypeDescriptor::Integer(_) => same_rows::<i64>(a, b, |one| *one as u64),
        // By their bits: a NaN is the same as itself.
        TypeDescriptor::Float(_) => same_rows::<f64>(a, b, |one| one.to_bits()),
        TypeDescriptor::FixedAscii(_) => same_texts::<FixedAscii<64>>(a, b),
        TypeDescriptor::VarLenUnicode => same_texts::<VarLenUnicode>(a, b),
        other => Err(Failure::Content(format!(
            "{} has a type that weir does not write: {other}",
            a.name()
        ))),
    }
}

fn same_rows<T: H5Type>(a: &Container, b: &Container, bits: fn(&T) -> u64) -> Outcome<bool> {
    if a.size() == 0 {
        return Ok(true);
    }
    let (a, b) = (a.read_raw::<T>()?, b.read_raw::<T>()?);
    Ok(a.iter().map(bits).eq(b.iter().map(bits)))
}

fn same_texts<T: H5Type + PartialEq>(a: &Container, b: &Container) -> Outcome<bool> {
    Ok(a.size() == 0 || a.read_raw::<T>()? == b.read_raw::<T>()?)
}
