//! Bandwidth and latency of one kind of link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Link;
use weir_input::{Duration, Rate};
use weir_model::{Invalid, LinkKind};

/// Bandwidth and latency of one kind of link; both directions are alike.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkParams {
    /// Bandwidth of each direction (`"100 Gbps"`, `"25 GB/s"`), more than 0.
    pub bandwidth: Rate,
    /// Time from the head leaving one end to the head reaching the other (`"50 ns"`), more than 0.
    pub latency: Duration,
}

impl LinkParams {
    /// The link, or the error in the parameters in the table of its kind, whose name is `name`.
    pub fn check(self, kind: LinkKind, name: &str) -> Result<Link, Invalid> {
        let complain = |key: &str, remedy: &str| {
            let key_path = format!("{name}.{key}");
            Err(Invalid::new(
                key_path,
                format!("a link's {key} must be more than 0"),
                remedy,
            ))
        };
        if self.bandwidth.0.0 == 0 {
            return complain("bandwidth", "give more than 0, such as \"100 Gbps\"");
        }
        if self.latency.0 == 0 {
            return complain(
                "latency",
                "give at least \"1 ps\": an effect comes after its cause",
            );
        }
        Ok(Link {
            kind,
            bandwidth: self.bandwidth.0,
            latency: self.latency.0,
        })
    }
}
