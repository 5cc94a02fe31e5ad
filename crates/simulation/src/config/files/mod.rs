//! Files that an experiment takes values from: those of the user, and networks, applications and
//! presets that come with weir.

pub(super) mod file_set;
pub(super) mod mapping;
pub(super) mod presets;
pub(super) mod ready;
pub(super) mod variant_preset;
