//! The places of a study: which values of the axes meet, and with which seeds. No experiment is
//! made for it.

use std::collections::BTreeSet;

use crate::job_file::Study;
use crate::job_file::selection::Selection;
use weir_input::ConfigError;

/// More points than a directory should hold.
const MOST: usize = 1_000_000;

/// The places of all points that are rows of the table, in order: the last axis changes fastest,
/// and the seed faster still.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// The index of a value on each axis.
    places: Vec<Vec<usize>>,
    /// None: the seed of the experiment itself.
    seeds: Vec<Option<u64>>,
}

impl Grid {
    /// The number of points.
    pub fn len(&self) -> usize {
        self.places.len() * self.seeds.len()
    }

    /// Place and seed of a point.
    pub fn at(&self, index: usize) -> (&[usize], Option<u64>) {
        let seeds = self.seeds.len();
        (&self.places[index / seeds], self.seeds[index % seeds])
    }

    /// A few points in which every value of every axis occurs that occurs at all.
    pub fn sample(&self) -> Vec<usize> {
        let axes = self.places.first().map_or(0, Vec::len);
        let mut seen = vec![BTreeSet::new(); axes];
        let mut sample = Vec::new();
        for (index, at) in self.places.iter().enumerate() {
            let mut new = false;
            for (values, value) in seen.iter_mut().zip(at) {
                new |= values.insert(*value);
            }
            if new || index == 0 {
                sample.push(index * self.seeds.len());
            }
        }
        sample
    }
}

impl Study {
    /// All places that are not excluded.
    ///
    /// # Errors
    /// If nothing is left, an exclusion excludes no further point, or there are too many points.
    pub(crate) fn grid(&self) -> Result<Grid, ConfigError> {
        let seeds = self.seeds.as_ref();
        let grid = Grid {
            places: self.places()?,
            seeds: seeds.map_or(vec![None], |seeds| {
                seeds.iter().copied().map(Some).collect()
            }),
        };
        match grid.len() <= MOST {
            true => Ok(grid),
            false => Err(self.too_many()),
        }
    }

    fn too_many(&self) -> ConfigError {
        ConfigError::new(
            format!("{}: more than {MOST} points", self.path.display()),
            "leave out values, seeds or axes",
        )
    }

    /// All combinations of values that are not excluded.
    fn places(&self) -> Result<Vec<Vec<usize>>, ConfigError> {
        let mut used = vec![false; self.excluded.len()];
        let mut places = self.combinations()?;
        places.retain(|at| {
            let mut wanted = true;
            for ((selection, _), used) in self.excluded.iter().zip(&mut used) {
                if wanted && selection.has(at) {
                    (wanted, *used) = (false, true);
                }
            }
            wanted
        });
        if let Some(((_, given), _)) = self.excluded.iter().zip(used).find(|(_, used)| !used) {
            return Err(given.wrong(
                "this excludes no further point",
                "remove it, or name values that meet",
            ));
        }
        let asked = self.excluded.iter().chain(self.only.iter().flatten());
        match (places.is_empty(), asked.last()) {
            (true, Some((_, given))) => Err(given.wrong("no point is left", "exclude less")),
            _ => Ok(places),
        }
    }

    /// All combinations that are asked for, each once, in order.
    fn combinations(&self) -> Result<Vec<Vec<usize>>, ConfigError> {
        let all = Selection::default();
        let asked: Vec<&Selection> = match &self.only {
            Some(only) => only.iter().map(|(selection, _)| selection).collect(),
            None => vec![&all],
        };
        let mut found = BTreeSet::new();
        for selection in asked {
            let values = |axis: usize| match selection.on(axis) {
                Some(values) => values.to_vec(),
                None => (0..self.axes[axis].values.len()).collect(),
            };
            let values: Vec<Vec<usize>> = (0..self.axes.len()).map(values).collect();
            let count = values.iter().try_fold(1usize, |product, own| {
                product
                    .checked_mul(own.len())
                    .filter(|&count| count <= MOST)
            });
            if count.is_none_or(|count| found.len() + count > MOST) {
                return Err(self.too_many());
            }
            let mut own = vec![Vec::new()];
            for values in values {
                let longer = |at: &Vec<usize>| {
                    let at = at.clone();
                    values
                        .iter()
                        .map(move |&value| [at.as_slice(), &[value]].concat())
                };
                own = own.iter().flat_map(longer).collect();
            }
            found.extend(own);
        }
        Ok(found.into_iter().collect())
    }
}
