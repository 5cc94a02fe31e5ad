//! The keys of a section, as a parameter struct without its type.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::{ConfigError, Section};

/// The keys of a section: a parameter struct, without its type.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// Their JSON Schema.
    pub schema: fn() -> Schema,
    read: fn(Section) -> Result<Section, ConfigError>,
}

impl Keys {
    /// The keys of a struct.
    /// Serde refuses unknown keys (`deny_unknown_fields`) and has the defaults of absent ones
    /// (`default`).
    pub const fn of<T>() -> Keys
    where
        T: DeserializeOwned + Serialize + JsonSchema + Clone + Send + Sync + 'static,
    {
        Keys {
            schema: || schema_for!(T),
            read: Section::typed::<T>,
        }
    }

    /// The section with its parameters parsed: [`Section::parse`] gives them, and
    /// [`Section::written`] writes them out with all defaults.
    ///
    /// # Errors
    /// If the section does not fit.
    pub fn read(self, section: Section) -> Result<Section, ConfigError> {
        (self.read)(section)
    }
}

/// A JSON Schema as JSON. It is made once for each thread: a study has an experiment for each of
/// its points.
pub fn schema_json(parameters: Keys) -> Rc<Json> {
    type Known = FxHashMap<fn() -> Schema, Rc<Json>>;
    thread_local! {
        static KNOWN: RefCell<Known> = RefCell::default();
    }
    KNOWN.with_borrow_mut(|known| {
        let make = || Rc::new((parameters.schema)().to_value());
        Rc::clone(known.entry(parameters.schema).or_insert_with(make))
    })
}
