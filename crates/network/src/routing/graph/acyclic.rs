//! A graph that must stay free of circles while edges are added.

/// Nodes in an order in which all edges lead forward (Pearce and Kelly, "A dynamic topological sort
/// algorithm for directed acyclic graphs", ACM JEA 11, 2006).
pub struct Acyclic {
    /// The place of each node.
    places: Box<[u32]>,
    after: Box<[Vec<u32>]>,
    before: Box<[Vec<u32>]>,
    /// Nodes that a search has seen, by the number of the search.
    seen: Box<[u32]>,
    searches: u32,
}

impl Acyclic {
    /// Without edges.
    pub fn new(nodes: usize) -> Acyclic {
        Acyclic {
            places: (0..nodes as u32).collect(),
            after: vec![Vec::new(); nodes].into(),
            before: vec![Vec::new(); nodes].into(),
            seen: vec![0; nodes].into(),
            searches: 0,
        }
    }

    /// True if it has this edge.
    pub fn has(&self, from: u32, to: u32) -> bool {
        self.after[from as usize].contains(&to)
    }

    /// Adds an edge. False if it would close a circle: then nothing is changed.
    pub fn add(&mut self, from: u32, to: u32) -> bool {
        if from == to {
            return false;
        }
        if self.has(from, to) {
            return true;
        }
        let [first, last] = [to, from].map(|node| self.places[node as usize]);
        if first < last {
            let Some(ahead) = self.search(to, from, last) else {
                return false;
            };
            let behind = self.search_back(from, first);
            self.place(behind, ahead);
        }
        self.after[from as usize].push(to);
        self.before[to as usize].push(from);
        true
    }

    /// Takes out an edge that was added last of all with this beginning and of all with this end.
    pub fn undo(&mut self, from: u32, to: u32) {
        self.after[from as usize].retain(|&node| node != to);
        self.before[to as usize].retain(|&node| node != from);
    }

    /// All nodes after one up to a place; None if one of them is `end`.
    fn search(&mut self, from: u32, end: u32, last: u32) -> Option<Vec<u32>> {
        self.searches += 1;
        self.seen[from as usize] = self.searches;
        let (mut found, mut next) = (vec![from], 0);
        while let Some(&node) = found.get(next) {
            next += 1;
            for &other in &self.after[node as usize] {
                if other == end {
                    return None;
                }
                if self.places[other as usize] < last && self.seen[other as usize] != self.searches
                {
                    self.seen[other as usize] = self.searches;
                    found.push(other);
                }
            }
        }
        Some(found)
    }

    /// All nodes before one back to a place.
    fn search_back(&mut self, from: u32, first: u32) -> Vec<u32> {
        self.searches += 1;
        self.seen[from as usize] = self.searches;
        let (mut found, mut next) = (vec![from], 0);
        while let Some(&node) = found.get(next) {
            next += 1;
            for &other in &self.before[node as usize] {
                if self.places[other as usize] > first && self.seen[other as usize] != self.searches
                {
                    self.seen[other as usize] = self.searches;
                    found.push(other);
                }
            }
        }
        found
    }

    /// Gives the places of all these nodes to them anew: first the ones behind, then those ahead.
    fn place(&mut self, mut behind: Vec<u32>, mut ahead: Vec<u32>) {
        for nodes in [&mut behind, &mut ahead] {
            nodes.sort_unstable_by_key(|&node| self.places[node as usize]);
        }
        behind.append(&mut ahead);
        let mut places: Vec<u32> = behind
            .iter()
            .map(|&node| self.places[node as usize])
            .collect();
        places.sort_unstable();
        for (node, place) in behind.into_iter().zip(places) {
            self.places[node as usize] = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_model::below;

    /// Edges by chance: the same are refused as by a search of all nodes.
    #[test]
    fn circles_are_refused_and_nothing_else() {
        const NODES: u32 = 12;
        let mut rng = weir_model::stream(1, &[3]);
        let mut refused = 0;
        for _ in 0..60 {
            let mut order = Acyclic::new(NODES as usize);
            let mut edges: Vec<(u32, u32)> = Vec::new();
            for _ in 0..60 {
                let [from, to] = [0; 2].map(|_| below(&mut rng, NODES));
                let mut reached = vec![to];
                let mut next = 0;
                while let Some(&node) = reached.get(next) {
                    next += 1;
                    for &(_, end) in edges.iter().filter(|edge| edge.0 == node) {
                        if !reached.contains(&end) {
                            reached.push(end);
                        }
                    }
                }
                let free = !reached.contains(&from);
                assert_eq!(order.add(from, to), free);
                refused += u32::from(!free);
                if free && !edges.contains(&(from, to)) {
                    edges.push((from, to));
                    if below(&mut rng, 5) == 0 {
                        order.undo(from, to);
                        edges.pop();
                    }
                }
            }
        }
        assert!(refused > 600, "{refused}");
    }
}
