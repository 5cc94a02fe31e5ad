//! What an experiment file takes from elsewhere: files that come with weir, files of the user, and
//! presets.

pub(super) mod file_set;
pub(super) mod mapping;
pub(super) mod presets;
pub(super) mod ready;
pub(super) mod variant_preset;
