//! What the endpoints send.
pub mod injection;
pub mod members;
pub mod patterns;
pub mod sizes;
