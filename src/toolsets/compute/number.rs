//! Numbers of `calculate`: exact integers of at most 10,000 bits, and floats that are neither infinite nor undefined.

use std::cmp::Ordering;
use std::fmt;

use num_bigint::{BigInt, Sign};

/// Bits of an integer.
pub(super) const MAX_BITS: u64 = 10_000;

/// Bits a float can hold the size of, with room to spare.
const FLOAT_BITS: u64 = 1_000;

/// Bits of the integers that every float of their size holds exactly.
const EXACT_BITS: u64 = 53;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Number {
    Int(BigInt),
    Float(f64),
}

use Number::{Float, Int};

type Result<T> = std::result::Result<T, String>;

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Int(value) => write!(f, "{value}"),
            Float(value) => write!(f, "{value:?}"),
        }
    }
}

/// An integer within bounds.
pub(super) fn int(value: BigInt) -> Result<Number> {
    if value.bits() > MAX_BITS { Err(too_large()) } else { Ok(Int(value)) }
}

/// A float that is a number.
pub(super) fn float(value: f64) -> Result<Number> {
    if value.is_nan() {
        Err("the result is not a number".to_owned())
    } else if value.is_infinite() {
        Err("the result is too large for a float".to_owned())
    } else {
        Ok(Float(value))
    }
}

fn too_large() -> String {
    "the result is too large (over 10,000 bits)".to_owned()
}

fn by_zero() -> String {
    "division by zero".to_owned()
}

impl Number {
    /// As a float.
    pub(super) fn to_float(&self) -> Result<f64> {
        match self {
            Float(value) => Ok(*value),
            // Decimal digits are read back with correct rounding.
            Int(value) => {
                let value: f64 = value.to_string().parse().unwrap_or(f64::INFINITY);
                if value.is_finite() { Ok(value) } else { Err("that integer is too large for a float".to_owned()) }
            }
        }
    }

    fn is_zero(&self) -> bool {
        match self {
            Int(value) => value.sign() == Sign::NoSign,
            Float(value) => *value == 0.0,
        }
    }

    pub(super) fn negated(self) -> Self {
        match self {
            Int(value) => Int(-value),
            Float(value) => Float(-value),
        }
    }

    pub(super) fn abs(self) -> Self {
        let negative = match &self {
            Int(value) => value.sign() == Sign::Minus,
            Float(value) => value.is_sign_negative(),
        };
        if negative { self.negated() } else { self }
    }

    pub(super) fn add(self, other: Self) -> Result<Self> {
        match (self, other) {
            (Int(a), Int(b)) => int(a + b),
            (a, b) => float(a.to_float()? + b.to_float()?),
        }
    }

    pub(super) fn multiply(self, other: Self) -> Result<Self> {
        match (self, other) {
            (Int(a), Int(b)) => int(a * b),
            (a, b) => float(a.to_float()? * b.to_float()?),
        }
    }

    /// `/`: a float, always.
    pub(super) fn divide(self, other: Self) -> Result<Self> {
        if other.is_zero() {
            return Err(by_zero());
        }
        match (self, other) {
            (Int(a), Int(b)) if a.bits().max(b.bits()) > EXACT_BITS => {
                // As many bits as a float holds and some to round by, whatever the sizes of the two.
                let shift = (b.bits() + EXACT_BITS + 16).saturating_sub(a.bits());
                let quotient = Int((a << shift) / b).to_float()?;
                let shift = i32::try_from(shift).unwrap_or(i32::MAX);
                float(quotient * 2_f64.powi(-shift))
            }
            (a, b) => float(a.to_float()? / b.to_float()?),
        }
    }

    /// `//` and `%`, both rounded down, so that the remainder has the divisor's sign.
    pub(super) fn floor_divide(self, other: Self) -> Result<(Self, Self)> {
        if other.is_zero() {
            return Err(by_zero());
        }
        match (self, other) {
            (Int(a), Int(b)) => {
                let (quotient, remainder) = (&a / &b, &a % &b);
                let off = remainder.sign() != Sign::NoSign && remainder.sign() != b.sign();
                Ok(if off { (Int(quotient - 1), Int(remainder + b)) } else { (Int(quotient), Int(remainder)) })
            }
            (a, b) => {
                let (a, b) = (a.to_float()?, b.to_float()?);
                let mut remainder = a % b;
                let mut quotient = (a - remainder) / b;
                if remainder != 0.0 && (remainder < 0.0) != (b < 0.0) {
                    remainder += b;
                    quotient -= 1.0;
                }
                Ok((float(quotient.round())?, float(remainder)?))
            }
        }
    }

    /// `**`. The size of an integer result is known, and refused, before anything is multiplied.
    pub(super) fn power(self, exponent: Self) -> Result<Self> {
        match (self, exponent) {
            (Int(base), Int(exponent)) if exponent.sign() != Sign::Minus => {
                if base.bits() <= 1 {
                    // -1, 0 or 1: no exponent is too large.
                    let odd = exponent.bit(0);
                    return Ok(match base.sign() {
                        _ if exponent.sign() == Sign::NoSign => Int(1.into()),
                        Sign::Minus if odd => Int((-1).into()),
                        Sign::NoSign => Int(0.into()),
                        _ => Int(1.into()),
                    });
                }
                let exponent = u32::try_from(exponent).map_err(|_| too_large())?;
                // A base of n bits is at least 2 ** (n - 1).
                if (base.bits() - 1) * u64::from(exponent) > MAX_BITS {
                    return Err(too_large());
                }
                int(base.pow(exponent))
            }
            (base, exponent) => {
                let (base, exponent) = (base.to_float()?, exponent.to_float()?);
                if base == 0.0 && exponent < 0.0 {
                    return Err(by_zero());
                }
                if base < 0.0 && exponent.fract() != 0.0 {
                    return Err("the result is complex, which is not supported".to_owned());
                }
                float(base.powf(exponent))
            }
        }
    }

    /// `floor` and `ceil` by `rounding`: an integer.
    pub(super) fn rounded(self, rounding: fn(f64) -> f64) -> Result<Self> {
        match self {
            Int(_) => Ok(self),
            Float(value) => {
                let digits = format!("{:.0}", rounding(value));
                digits.parse().map(Int).map_err(|_| "the result is not a number".to_owned())
            }
        }
    }

    /// `round`: half to even. Without `digits` an integer.
    pub(super) fn round(self, digits: Option<i32>) -> Result<Self> {
        let Some(digits) = digits else { return self.rounded(f64::round_ties_even) };
        let places = usize::try_from(digits).ok();
        match (self, places) {
            (Int(value), Some(_)) => Ok(Int(value)),
            (Int(value), None) => {
                let unit = BigInt::from(10).pow(digits.unsigned_abs());
                let (down, over) = Int(value).floor_divide(Int(unit.clone()))?;
                let (Int(down), Int(over)) = (down, over) else { return Err("the result is not a number".to_owned()) };
                let up = match (over * 2_u32).cmp(&unit) {
                    Ordering::Less => false,
                    Ordering::Greater => true,
                    Ordering::Equal => down.bit(0),
                };
                int((down + u32::from(up)) * unit)
            }
            // Decimal digits are written with correct rounding.
            (Float(value), Some(places)) => float(format!("{value:.places$}").parse().unwrap_or(f64::NAN)),
            (Float(value), None) => {
                let unit = 10_f64.powi(digits.saturating_neg());
                if unit.is_infinite() { Ok(Float(0.0)) } else { float((value / unit).round_ties_even() * unit) }
            }
        }
    }

    /// The natural logarithm, of integers of any size too.
    pub(super) fn ln(&self) -> Result<f64> {
        let positive = match self {
            Int(value) => value.sign() == Sign::Plus,
            Float(value) => *value > 0.0,
        };
        if !positive {
            return Err("the logarithm of zero or less is undefined".to_owned());
        }
        match self {
            Int(value) if value.bits() > FLOAT_BITS => {
                let shift = value.bits() - FLOAT_BITS;
                let low = Int(value >> shift).to_float()?;
                let shift = u32::try_from(shift).map_err(|_| too_large())?;
                Ok(low.ln() + f64::from(shift) * std::f64::consts::LN_2)
            }
            _ => Ok(self.to_float()?.ln()),
        }
    }

    /// Which is larger; integers exactly.
    pub(super) fn order(&self, other: &Self) -> Result<Ordering> {
        match (self, other) {
            (Int(a), Int(b)) => Ok(a.cmp(b)),
            (a, b) => Ok(a.to_float()?.total_cmp(&b.to_float()?)),
        }
    }
}
