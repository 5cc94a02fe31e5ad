//! Bands of a network of several dimensions: neighbouring coordinates in one dimension, which
//! queueing schemes give separate queues.

use std::sync::Arc;

use crate::topology::Topology;
use crate::topology::grid::Grid;
use weir_model::{EndpointId, Invalid};

/// A network divided into a number of bands in each of two directions.
pub struct Bands {
    topology: Arc<dyn Topology>,
    endpoints: u32,
    /// Size of the first dimension.
    columns: u32,
    bands: u32,
}

impl Bands {
    /// Bands of a network, or the reason why it has none.
    pub fn new(topology: &Arc<dyn Topology>, bands: u32) -> Result<Bands, Invalid> {
        super::check_number(bands)?;
        let grid = grid(topology)?;
        check(bands, grid, grid.dimensions() - 1)?;
        Ok(Bands {
            topology: topology.clone(),
            endpoints: topology.endpoints(),
            columns: grid.size(0),
            bands,
        })
    }

    /// Number of bands.
    pub fn count(&self) -> u32 {
        self.bands
    }

    /// The horizontal band of an endpoint: neighbouring endpoint numbers, and so rows (in three
    /// dimensions: planes) of the last dimension. Yébenes et al., equations 1 and 2.
    pub fn horizontal(&self, destination: EndpointId) -> u32 {
        // Less than `bands`.
        (u64::from(destination) * u64::from(self.bands) / u64::from(self.endpoints)) as u32
    }

    /// The vertical band of an endpoint: neighbouring columns, which are coordinates of the first
    /// dimension. Equation 3, which takes the endpoint's number modulo the size of the dimension as
    /// the column: this assumes one endpoint per router.
    pub fn vertical(&self, destination: EndpointId) -> u32 {
        let (place, _) = self.topology.attachment(destination);
        let column = match self.topology.as_grid() {
            Some(grid) => grid.coordinate(place, 0),
            None => 0,
        };
        (u64::from(column) * u64::from(self.bands) / u64::from(self.columns)) as u32
    }
}

/// The dimensions of a network, refused if it has none.
pub fn grid(topology: &Arc<dyn Topology>) -> Result<&Grid, Invalid> {
    topology.as_grid().ok_or_else(|| {
        Invalid::new(
            "scheme",
            format!(
                "its bands are those of a network of several dimensions, and this is a {}",
                topology.describe()
            ),
            "choose a torus, mesh, HyperX or KNS, or another scheme, such as \"dbbm\"",
        )
    })
}

/// Refuses more bands than there are rows in a dimension.
pub fn check(bands: u32, grid: &Grid, dimension: usize) -> Result<(), Invalid> {
    let size = grid.size(dimension);
    if bands <= size {
        return Ok(());
    }
    let name = &grid.axes()[dimension];
    Err(Invalid::new(
        "queues",
        format!("{bands} bands of the {size} coordinates of dimension {name}"),
        format!("write a number from 1 to {size}"),
    ))
}
