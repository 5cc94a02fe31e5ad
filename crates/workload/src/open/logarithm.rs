//! A logarithm that is the same on every host.
//!
//! The standard library's logarithm may differ in the last place between processors (it is the C
//! library's, which has variants with and without fused multiplication). This one uses only
//! operations that are exact by IEEE 754, so that ranks on different hosts compute the same bits.

/// Natural logarithm of a normal positive number, within some 10^-16 of its magnitude.
pub(crate) fn ln(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1_023;
    let mut mantissa = f64::from_bits(bits & MANTISSA | 1.0_f64.to_bits());
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    f64::from(exponent) * std::f64::consts::LN_2 + 2.0 * atanh((mantissa - 1.0) / (mantissa + 1.0))
}

/// ln(1 - p) for 0 < p < 1, exact for small p where 1 - p is not.
pub(crate) fn ln_one_minus(p: f64) -> f64 {
    if p < 0.25 {
        -2.0 * atanh(p / (2.0 - p))
    } else {
        ln(1.0 - p)
    }
}

/// For |s| <= 0.172: s + s³/3 + s⁵/5 + …; the first omitted term is less than 10^-19.
///
/// Every third term is summed separately: three short chains of operations instead of a long one.
fn atanh(s: f64) -> f64 {
    const fn term(n: u32) -> f64 {
        1.0 / (2 * n + 1) as f64
    }
    let square = s * s;
    let cube = square * square * square;
    let chain = |first: u32| {
        let mut sum = 0.0;
        for n in [first + 9, first + 6, first + 3, first] {
            sum = sum * cube + term(n);
        }
        sum
    };
    s * (chain(0) + square * (chain(1) + square * chain(2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_model::{stream, unit};

    #[test]
    fn the_logarithms_are_those_of_the_library() {
        let mut rng = stream(13, &[]);
        for _ in 0..100_000 {
            let x = 1.0 - unit(&mut rng);
            let bound = 4e-16 * x.ln().abs().max(0.5);
            assert!((ln(x) - x.ln()).abs() <= bound, "{x}");
            let p = (unit(&mut rng) * 40.0 - 40.0).exp2();
            let expected = (-p).ln_1p();
            assert!((ln_one_minus(p) / expected - 1.0).abs() < 1e-15, "{p}");
        }
        assert_eq!((ln(1.0), ln(0.5)), (0.0, 0.5_f64.ln()));
        let least = 0.5_f64.powi(53);
        assert!((ln(least) / least.ln() - 1.0).abs() < 1e-15);
    }
}
