//! Choice of the settings that are run next: a grid over all ranges, then the neighbours of the
//! best, ever closer.

use super::parameter::Parameter;

/// The value of each parameter.
pub type Setting = Vec<f64>;

/// The steps of the grid are halved so often at most.
const HALVINGS: u32 = 4;

/// A search over parameters. The same scores always lead to the same settings, so that it can be
/// taken up again.
#[derive(Clone, Debug)]
pub struct Search {
    parameters: Vec<Parameter>,
    /// Values of each parameter on the grid.
    grid: Vec<u32>,
    /// Settings asked for so far.
    known: Vec<Setting>,
    /// Settings that may be asked for, known ones included.
    budget: usize,
    /// The setting whose neighbours were asked for last.
    centre: Option<Setting>,
    /// Number of times that the steps were halved.
    halvings: u32,
}

impl Search {
    /// A search over ranges with these numbers of values on the grid.
    pub fn new(parameters: &[Parameter], grid: Vec<u32>, budget: usize) -> Search {
        Search {
            parameters: parameters.to_vec(),
            grid,
            known: Vec::new(),
            budget,
            centre: None,
            halvings: 0,
        }
    }

    /// Everything that was asked for so far.
    pub fn known(&self) -> &[Setting] {
        &self.known
    }

    /// Asks for the first settings: the settings to be compared with, and the grid.
    /// `wanted` says which can be run.
    pub fn first(&mut self, others: &[Setting], wanted: &dyn Fn(&Setting) -> bool) {
        let mut all = vec![Vec::new()];
        for (parameter, &count) in self.parameters.iter().zip(&self.grid) {
            let last = f64::from(count.max(2) - 1);
            let values: Vec<f64> = (0..count)
                .map(|at| parameter.value(f64::from(at) / last))
                .collect();
            let longer = |setting: &Setting| {
                let setting = setting.clone();
                values
                    .iter()
                    .map(move |&value| [setting.as_slice(), &[value]].concat())
            };
            all = all.iter().flat_map(longer).collect();
        }
        self.add(others.iter().chain(&all).cloned(), wanted);
    }

    /// The next settings, which have become known; false if there are none. `scores` are those of
    /// the known ones.
    pub fn next(&mut self, scores: &[Option<f64>], wanted: &dyn Fn(&Setting) -> bool) -> bool {
        let Some(best) = best(scores) else {
            return false;
        };
        let best = self.known[best].clone();
        loop {
            match self.centre.as_ref() == Some(&best) {
                true => self.halvings += 1,
                false => self.centre = Some(best.clone()),
            }
            if self.halvings >= HALVINGS || self.known.len() >= self.budget {
                return false;
            }
            let neighbours = self.neighbours(&best);
            if self.add(neighbours.into_iter(), wanted) {
                return true;
            }
        }
    }

    /// One step up and one down along each parameter: half a step of the grid at first.
    fn neighbours(&self, centre: &Setting) -> Vec<Setting> {
        let mut all = Vec::new();
        for (index, parameter) in self.parameters.iter().enumerate() {
            let grid = 1.0 / f64::from(self.grid[index].max(2) - 1);
            let step = grid / f64::from(2u32 << self.halvings);
            let at = parameter.share(centre[index]);
            for share in [at - step, at + step] {
                let mut setting = centre.clone();
                setting[index] = parameter.value(share);
                all.push(setting);
            }
        }
        all
    }

    /// Adds the settings that are new, as far as the budget allows. Returns true if there were any.
    fn add(
        &mut self,
        settings: impl Iterator<Item = Setting>,
        wanted: &dyn Fn(&Setting) -> bool,
    ) -> bool {
        let before = self.known.len();
        for setting in settings {
            let new = !self.known.contains(&setting);
            if new && self.known.len() < self.budget && wanted(&setting) {
                self.known.push(setting);
            }
        }
        self.known.len() > before
    }
}

/// The index of the best score, the first of equals.
pub fn best(scores: &[Option<f64>]) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (index, score) in scores.iter().enumerate() {
        if let Some(score) = *score
            && best.is_none_or(|(_, known)| score > known)
        {
            best = Some((index, score));
        }
    }
    best.map(|(index, _)| index)
}

/// Number of values of each parameter on the largest grid of at most `room` settings, at least 2
/// and at most `most`. Parameters with a given number keep it. None if there is no room.
pub fn grid_for(parameters: &[Parameter], room: usize, most: u32) -> Option<Vec<u32>> {
    let with = |count: u32| -> Vec<u32> {
        let own = parameters
            .iter()
            .map(|parameter| parameter.grid.unwrap_or(count));
        own.collect()
    };
    let size = |grid: &[u32]| {
        grid.iter().try_fold(1usize, |product, &count| {
            product.checked_mul(count as usize)
        })
    };
    let fits = |grid: &Vec<u32>| size(grid).is_some_and(|size| size <= room);
    (2..=most).rev().map(with).find(fits)
}

#[cfg(test)]
mod tests {
    use super::super::parameter::Kind;
    use super::*;
    use weir_input::registry::range::ScaleKind;

    fn parameter(key: &str) -> Parameter {
        Parameter {
            key: key.into(),
            kind: Kind::Number,
            from: 1.0,
            to: 10_000.0,
            scale: ScaleKind::Log,
            grid: None,
        }
    }

    /// Searches for the top of a hill; the settings in the order in which they were run.
    fn searched(budget: usize, height: impl Fn(&Setting) -> f64) -> Vec<Setting> {
        let parameters = [parameter("x"), parameter("y")];
        let mut search = Search::new(&parameters, vec![5, 5], budget);
        search.first(&[vec![3.0, 3.0]], &|_| true);
        loop {
            let scores: Vec<_> = search.known().iter().map(|one| Some(height(one))).collect();
            if !search.next(&scores, &|_| true) {
                return search.known().to_vec();
            }
        }
    }

    fn hill(setting: &Setting) -> f64 {
        -((setting[0] / 300.0).ln().abs() + (setting[1] / 40.0).ln().abs())
    }

    #[test]
    fn a_search_closes_in_on_the_top() {
        let all = searched(100, hill);
        let top = all
            .iter()
            .max_by(|a, b| hill(a).total_cmp(&hill(b)))
            .expect("some");
        // The last step is a 16th of the grid's, a decade.
        assert!((top[0] / 300.0).log10().abs() < 1.0 / 16.0, "{top:?}");
        assert!((top[1] / 40.0).log10().abs() < 1.0 / 16.0, "{top:?}");
        assert_eq!(all[0], [3.0, 3.0], "first what is compared with");
        assert!(all.len() < 70, "{}", all.len());
        assert_eq!(searched(100, hill), all, "the same again");
    }

    #[test]
    fn a_budget_is_kept_and_nothing_runs_twice() {
        let all = searched(30, hill);
        assert_eq!(all.len(), 30);
        for (index, one) in all.iter().enumerate() {
            assert!(!all[..index].contains(one), "{one:?}");
        }
    }

    #[test]
    fn what_cannot_be_run_is_left_out() {
        let parameters = [parameter("x"), parameter("y")];
        let mut search = Search::new(&parameters, vec![3, 3], 100);
        let below = |one: &Setting| one[0] <= one[1];
        search.first(&[], &below);
        assert_eq!(search.known().len(), 6, "of 9");
        assert!(!search.next(&[None; 6], &below), "nothing is known of any");
    }

    #[test]
    fn grids_fit_the_room() {
        let two = [parameter("x"), parameter("y")];
        assert_eq!(grid_for(&two, 40, 9), Some(vec![6, 6]));
        assert_eq!(grid_for(&two, 1_000, 9), Some(vec![9, 9]));
        assert_eq!(grid_for(&two, 3, 9), None);
        let fixed = [
            Parameter {
                grid: Some(4),
                ..parameter("x")
            },
            parameter("y"),
        ];
        assert_eq!(grid_for(&fixed, 13, 9), Some(vec![4, 3]));
    }
}
