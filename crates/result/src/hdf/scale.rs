//! Dimension scales: they mark the column that identifies a row, as the HDF5 library's high-level
//! part writes them ("HDF5 Dimension Scale Specification", 2005), so that h5py, xarray and netCDF
//! find the axes of columns.
#![allow(unsafe_code)]

use hdf5::types::VarLenArray;
use hdf5::{Dataset, Group, H5Type, Location, ObjectReference1};
use hdf5_sys::h5a::{H5Aclose, H5Acreate2, H5Awrite};
use hdf5_sys::h5p::H5P_DEFAULT;
use hdf5_sys::h5s::{H5S_class_t, H5Sclose, H5Screate};
use hdf5_sys::h5t::{H5T_C_S1, H5T_str_t, H5Tclose, H5Tcopy, H5Tset_size, H5Tset_strpad};

use super::{Failure, Outcome, put_columns};
use weir_model::KindName;
use weir_model::table::Table;

/// An axis of a dataset that has the scale.
#[derive(Clone, Copy, H5Type)]
#[repr(C)]
struct Use {
    dataset: ObjectReference1,
    dimension: i32,
}

/// Writes a table, whose first column identifies a row, and kinds by their names.
pub(crate) fn put_table<T: Table>(at: &Group, table: &T, kinds: &[KindName]) -> Outcome<()> {
    put_columns(at, "", table, kinds)?;
    scale_rows(at, T::COLUMNS[0].name)
}

/// Makes a column of a group the scale of the rows of all others.
pub(crate) fn scale_rows(at: &Group, scale: &str) -> Outcome<()> {
    let mut names = at.member_names()?;
    names.retain(|name| name != scale);
    names.sort_unstable();
    let scales = [scale];
    let columns: Vec<(&str, &[&str])> = names.iter().map(|name| (&**name, &scales[..])).collect();
    put_scales(at, &columns)
}

/// Attaches scales to datasets of a group, one for each axis: columns of the same group.
pub(crate) fn put_scales(at: &Group, datasets: &[(&str, &[&str])]) -> Outcome<()> {
    let mut scales: Vec<(&str, Vec<Use>)> = Vec::new();
    for &(name, own) in datasets {
        let dataset: ObjectReference1 = at.reference(name)?;
        let mut axes = Vec::new();
        for (dimension, &scale) in (0..).zip(own) {
            axes.push(VarLenArray::from_slice(&[
                at.reference::<ObjectReference1>(scale)?
            ]));
            let one = Use { dataset, dimension };
            match scales.iter_mut().find(|(known, _)| *known == scale) {
                Some((_, uses)) => uses.push(one),
                None => scales.push((scale, vec![one])),
            }
        }
        let list = at.dataset(name)?;
        let list = list.new_attr::<VarLenArray<ObjectReference1>>();
        let list = list.shape(axes.len()).create("DIMENSION_LIST")?;
        list.write_raw(&axes)?;
    }
    for (name, uses) in scales {
        let scale: Dataset = at.dataset(name)?;
        put_terminated(&scale, c"CLASS", c"DIMENSION_SCALE")?;
        let label = std::ffi::CString::new(name)
            .map_err(|_| Failure::Content(format!("a name with a NUL character: {name:?}")))?;
        put_terminated(&scale, c"NAME", &label)?;
        let list = scale.new_attr::<Use>().shape(uses.len());
        list.create("REFERENCE_LIST")?.write_raw(&uses)?;
    }
    Ok(())
}

/// Writes a text that ends with a NUL, as the specification wants it; the hdf5 crate has no such
/// type.
fn put_terminated(at: &Location, name: &std::ffi::CStr, value: &std::ffi::CStr) -> Outcome<()> {
    let bytes = value.to_bytes_with_nul();
    // SAFETY: the identifiers come from the calls before, the size is that of the data written, and
    // the library's lock is held.
    let written = hdf5::sync::sync(|| unsafe {
        let kind = H5Tcopy(*H5T_C_S1);
        let space = H5Screate(H5S_class_t::H5S_SCALAR);
        H5Tset_size(kind, bytes.len());
        H5Tset_strpad(kind, H5T_str_t::H5T_STR_NULLTERM);
        let attribute = H5Acreate2(
            at.id(),
            name.as_ptr(),
            kind,
            space,
            H5P_DEFAULT,
            H5P_DEFAULT,
        );
        let written = H5Awrite(attribute, kind, bytes.as_ptr().cast());
        [
            H5Aclose(attribute),
            H5Sclose(space),
            H5Tclose(kind),
            written,
        ]
    });
    match written.iter().all(|&status| status >= 0) {
        true => Ok(()),
        false => Err(Failure::Library(format!(
            "the attribute {name:?} cannot be written"
        ))),
    }
}
