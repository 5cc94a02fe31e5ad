//! What the endpoints send.
pub mod patterns;
