//! Values over simulated time, and their means over equal spans of it.

/// Values over simulated time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OverTime {
    /// The middle of each bin, or the time of each sample, ps.
    pub time_ps: Vec<f64>,
    /// A value for each; NaN if nothing was measured.
    pub values: Vec<f64>,
    /// Their unit: `ps`, `B/s`, `1/s`, `flits/s`, or that of the column.
    pub unit: String,
}

/// Number of spans as whose means many rows of a record are drawn.
pub const MOST_SPANS: usize = 200;

impl OverTime {
    /// Means of [`MOST_SPANS`] equal spans of time, without the empty ones, if there are more
    /// values.
    pub fn means(self) -> OverTime {
        self.means_of(MOST_SPANS)
    }

    fn means_of(self, most: usize) -> OverTime {
        let (first, last) = (self.time_ps.first(), self.time_ps.last());
        let (Some(&first), Some(&last)) = (first, last) else {
            return self;
        };
        if self.values.len() <= most || last <= first {
            return self;
        }
        let spans = self.spans([first, last], most);
        let means = spans.time_ps.into_iter().zip(spans.values);
        let (time_ps, values) = means.filter(|(_, mean)| !mean.is_nan()).unzip();
        OverTime {
            time_ps,
            values,
            unit: self.unit,
        }
    }

    /// Means of equal spans from one time to another, ps; NaN where there is no value.
    pub fn spans(&self, [from, to]: [f64; 2], count: usize) -> OverTime {
        let span = (to - from) / count as f64;
        let mut sums = vec![(0.0, 0.0); count];
        for (time, value) in self.time_ps.iter().zip(&self.values) {
            let (sum, values) = &mut sums[(((time - from) / span) as usize).min(count - 1)];
            *sum += value;
            *values += 1.0;
        }
        OverTime {
            time_ps: (0..count)
                .map(|at| from + (at as f64 + 0.5) * span)
                .collect(),
            values: sums.iter().map(|(sum, values)| sum / values).collect(),
            unit: self.unit.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OverTime;

    #[test]
    fn many_rows_become_means_of_equal_spans() {
        let rows = OverTime {
            time_ps: vec![0.0, 1.0, 2.0, 9.0, 10.0],
            values: vec![2.0, 4.0, 6.0, 1.0, 3.0],
            unit: "ps".into(),
        };
        assert_eq!(rows.clone().means_of(5), rows);
        // From 0 to 2.5, to 5 and to 7.5 (empty), to 10.
        let means = rows.clone().means_of(4);
        assert_eq!(
            (means.time_ps, means.values),
            (vec![1.25, 8.75], vec![4.0, 2.0])
        );
        let spans = rows.spans([0.0, 20.0], 4);
        assert_eq!(spans.time_ps, [2.5, 7.5, 12.5, 17.5]);
        assert_eq!(spans.values[..2], [4.0, 1.0]);
        assert_eq!(spans.values[2], 3.0);
        assert!(spans.values[3].is_nan());
    }
}
