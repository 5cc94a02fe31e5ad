//! Numbers that may be known only within bounds, and their differences.

/// A number: known if both bounds are the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The least that it can be.
    pub least: f64,
    /// The most that it can be; infinite if there is no such bound.
    pub most: f64,
}

impl Bounds {
    /// A known number.
    pub fn known(value: f64) -> Bounds {
        Bounds {
            least: value,
            most: value,
        }
    }

    /// The number, if it is known.
    pub fn value(&self) -> Option<f64> {
        (self.least == self.most).then_some(self.least)
    }

    /// The difference to another number: this one less `base`.
    pub fn minus(&self, base: &Bounds) -> Bounds {
        Bounds {
            least: self.least - base.most,
            most: self.most - base.least,
        }
    }

    /// The difference to another number as a share of that; None if that may be zero or negative,
    /// or if neither of the two has an upper bound.
    pub fn relative_to(&self, base: &Bounds) -> Option<Bounds> {
        // Of two known numbers it is the difference over the base, to the last digit.
        if let (Some(own), Some(base)) = (self.value(), base.value()) {
            return (base > 0.0).then(|| Bounds::known((own - base) / base));
        }
        let bounded = self.most.is_finite() || base.most.is_finite();
        (base.least > 0.0 && bounded).then(|| Bounds {
            least: self.least / base.most - 1.0,
            most: self.most / base.least - 1.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_known_numbers_are_known() {
        let (a, b) = (Bounds::known(8.0), Bounds::known(10.0));
        assert_eq!(b.minus(&a).value(), Some(2.0));
        assert_eq!(b.relative_to(&a).and_then(|one| one.value()), Some(0.25));
        assert_eq!(b.relative_to(&Bounds::known(0.0)), None);
    }

    #[test]
    fn differences_of_bounds_are_bounds() {
        let (a, above) = (
            Bounds::known(8.0),
            Bounds {
                least: 10.0,
                most: f64::INFINITY,
            },
        );
        let change = above.minus(&a);
        assert_eq!((change.least, change.most), (2.0, f64::INFINITY));
        let share = above.relative_to(&a).expect("a share");
        assert_eq!((share.least, share.most), (0.25, f64::INFINITY));
        let back = a.minus(&above);
        assert_eq!((back.least, back.most), (f64::NEG_INFINITY, -2.0));
        let share = a.relative_to(&above).expect("a share");
        assert_eq!(share.least, -1.0);
        assert!((share.most + 0.2).abs() < 1e-12, "{share:?}");
    }

    #[test]
    fn two_bounds_that_are_the_same_say_nothing() {
        let above = Bounds {
            least: 10.0,
            most: f64::INFINITY,
        };
        let change = above.minus(&above);
        assert_eq!(
            (change.least, change.most),
            (f64::NEG_INFINITY, f64::INFINITY)
        );
        assert_eq!(change.value(), None);
        assert_eq!(above.relative_to(&above), None);
    }
}
