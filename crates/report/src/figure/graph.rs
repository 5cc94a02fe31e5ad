//! Nodes in layers with links between them.

/// Nodes in layers, from left to right, and links from layer to layer.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Above each layer.
    pub heads: Vec<String>,
    /// In any order: the nodes of a layer are drawn beside the nodes that they lead to.
    pub nodes: Vec<Node>,
    /// Between nodes of neighbouring layers.
    pub links: Vec<Link>,
}

/// A node.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Beside it.
    pub name: String,
    /// Its layer, 0 to the left.
    pub layer: usize,
    /// Weight that its area is in proportion to; never negative.
    pub weight: f64,
    /// Text that a page shows for it under the pointer.
    pub words: String,
}

/// A link, from the node farther right to the one farther left.
#[derive(Clone, Debug, Default)]
pub struct Link {
    /// The place of a node in `Graph::nodes`, a layer to the right of …
    pub from: usize,
    /// … this one.
    pub to: usize,
    /// Weight that its width is in proportion to.
    pub weight: f64,
    /// Text that a page shows for it under the pointer.
    pub words: String,
}

impl Graph {
    /// Number of layers.
    pub fn layers(&self) -> usize {
        let layers = self.nodes.iter().map(|node| node.layer + 1);
        layers.max().unwrap_or(0).max(self.heads.len())
    }

    /// The nodes of each layer from the top down, each beside the nodes that it leads to, so that
    /// few links cross.
    pub fn columns(&self) -> Vec<Vec<usize>> {
        let mut columns: Vec<Vec<usize>> = vec![Vec::new(); self.layers()];
        for (place, node) in self.nodes.iter().enumerate() {
            columns[node.layer].push(place);
        }
        let mut heights = vec![0.5; self.nodes.len()];
        for column in &mut columns {
            let target = |place: usize| {
                let links = self.links.iter().filter(|link| link.from == place);
                let (sum, weight) = links.fold((0.0, 0.0), |(sum, weight), link| {
                    let own = link.weight.max(f64::MIN_POSITIVE);
                    (sum + own * heights[link.to], weight + own)
                });
                if weight > 0.0 { sum / weight } else { 0.5 }
            };
            let mut ordered: Vec<(f64, usize)> =
                column.iter().map(|&place| (target(place), place)).collect();
            ordered.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            *column = ordered.into_iter().map(|(_, place)| place).collect();
            let count = column.len() as f64;
            for (row, &place) in column.iter().enumerate() {
                heights[place] = (row as f64 + 0.5) / count;
            }
        }
        columns
    }
}
