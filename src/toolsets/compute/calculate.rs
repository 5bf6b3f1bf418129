//! Arithmetic by a small parser: numbers, operators and a fixed list of functions. Nothing else is understood, and
//! neither the text nor any number can grow past its bound, so nothing hangs.

use super::number::{Number, float, int};
use crate::tool::output::one_line;

/// Characters of an expression.
const MAX_CHARS: usize = 5_000;

/// Parentheses, signs and powers inside each other.
const MAX_DEPTH: usize = 100;

/// Digits that `round` takes, either way.
const MAX_ROUND_DIGITS: i32 = 400;

const FUNCTIONS: &str = "abs, round, min, max, sqrt, exp, log, log10, floor, ceil, pi, e";

/// The value of `expression` as text, or what is wrong with it.
pub(super) fn calculate(expression: &str) -> Result<String, String> {
    if expression.chars().count() > MAX_CHARS {
        return Err(format!("the expression is over {MAX_CHARS} characters long"));
    }
    let mut parser = Parser { rest: expression, depth: 0 };
    if parser.peek().is_none() {
        return Err("the expression is empty".to_owned());
    }
    let value = parser.sum()?;
    match parser.peek() {
        None => Ok(value.to_string()),
        Some(_) => Err(parser.unexpected()),
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Takes `token` if it is next.
    fn take(&mut self, token: &str) -> bool {
        self.peek();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn unexpected(&mut self) -> String {
        match self.peek() {
            None => "the expression ends too early".to_owned(),
            Some('^') => "'^' is not a power here: write ** instead".to_owned(),
            Some(',') => "unexpected ',': write numbers without separators, and arguments in parentheses".to_owned(),
            Some(_) => format!("unexpected '{}'", one_line(self.rest, 20)),
        }
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("the expression is nested over {MAX_DEPTH} deep"));
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn sum(&mut self) -> Result<Number, String> {
        let mut value = self.product()?;
        loop {
            if self.take("+") {
                value = value.add(self.product()?)?;
            } else if self.take("-") {
                value = value.add(self.product()?.negated())?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<Number, String> {
        let mut value = self.signed()?;
        loop {
            if self.take("//") {
                value = value.floor_divide(self.signed()?)?.0;
            } else if self.take("/") {
                value = value.divide(self.signed()?)?;
            } else if self.take("%") {
                value = value.floor_divide(self.signed()?)?.1;
            } else if self.take("*") {
                // `**` was taken by `power`, unless nothing stands between.
                value = value.multiply(self.signed()?)?;
            } else {
                return Ok(value);
            }
        }
    }

    /// A sign binds less tightly than a power: `-2 ** 2` is -4.
    fn signed(&mut self) -> Result<Number, String> {
        self.deeper(|parser| {
            if parser.take("-") {
                Ok(parser.signed()?.negated())
            } else if parser.take("+") {
                parser.signed()
            } else {
                parser.power()
            }
        })
    }

    /// From right to left: `2 ** 3 ** 2` is 512.
    fn power(&mut self) -> Result<Number, String> {
        let base = self.atom()?;
        if self.take("**") { base.power(self.signed()?) } else { Ok(base) }
    }

    fn atom(&mut self) -> Result<Number, String> {
        if self.take("(") {
            let value = self.sum()?;
            return if self.take(")") { Ok(value) } else { Err(self.unexpected_or("')' is missing")) };
        }
        match self.peek() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.named(),
            _ => Err(self.unexpected()),
        }
    }

    fn unexpected_or(&mut self, missing: &str) -> String {
        if self.peek().is_none() { missing.to_owned() } else { self.unexpected() }
    }

    /// Digits, which may be grouped with `_`; with a point or an exponent a float.
    fn number(&mut self) -> Result<Number, String> {
        let bytes = self.rest.as_bytes();
        let digits = |from: usize| bytes.iter().skip(from).take_while(|b| b.is_ascii_digit() || **b == b'_').count();
        let mut end = digits(0);
        let mut whole = true;
        if bytes.get(end) == Some(&b'.') {
            whole = false;
            end += 1 + digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent > 0 {
                whole = false;
                end += 1 + sign + exponent;
            }
        }
        let (text, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        let plain: String = text.chars().filter(|c| *c != '_').collect();
        let fault = || format!("'{}' is not a number", one_line(text, 20));
        let value =
            if whole { int(plain.parse().map_err(|_| fault())?)? } else { float(plain.parse().map_err(|_| fault())?)? };
        self.rest = rest;
        Ok(value)
    }

    fn named(&mut self) -> Result<Number, String> {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        match name {
            "pi" => return Ok(Number::Float(std::f64::consts::PI)),
            "e" => return Ok(Number::Float(std::f64::consts::E)),
            _ => {}
        }
        let known = ["abs", "round", "min", "max", "sqrt", "exp", "log", "log10", "floor", "ceil"];
        if !known.contains(&name) {
            return Err(format!("unknown name '{}'; known: {FUNCTIONS}", one_line(name, 20)));
        }
        if !self.take("(") {
            return Err(format!("{name} needs its arguments in parentheses"));
        }
        let mut arguments = Vec::new();
        while !self.take(")") {
            if !arguments.is_empty() && !self.take(",") {
                return Err(self.unexpected_or("')' is missing"));
            }
            arguments.push(self.sum()?);
        }
        call(name, arguments)
    }
}

fn call(name: &str, arguments: Vec<Number>) -> Result<Number, String> {
    let given = arguments.len();
    let mut arguments = arguments.into_iter();
    match (name, arguments.next(), arguments.next(), given) {
        ("abs", Some(value), None, _) => Ok(value.abs()),
        ("floor", Some(value), None, _) => value.rounded(f64::floor),
        ("ceil", Some(value), None, _) => value.rounded(f64::ceil),
        ("round", Some(value), None, _) => value.round(None),
        ("round", Some(value), Some(digits), 2) => value.round(Some(round_digits(&digits)?)),
        ("sqrt", Some(value), None, _) => {
            let value = value.to_float()?;
            if value < 0.0 {
                Err("the square root of a negative number is complex".to_owned())
            } else {
                float(value.sqrt())
            }
        }
        ("exp", Some(value), None, _) => float(value.to_float()?.exp()),
        ("log", Some(value), None, _) => float(value.ln()?),
        ("log", Some(value), Some(base), 2) => {
            let base = base.ln()?;
            if base == 0.0 {
                Err("a logarithm to the base of 1 is undefined".to_owned())
            } else {
                float(value.ln()? / base)
            }
        }
        ("log10", Some(value), None, _) => {
            let natural = value.ln()?;
            // Exact for the powers of ten that a float can hold.
            float(value.to_float().map_or(natural / std::f64::consts::LN_10, f64::log10))
        }
        ("min" | "max", Some(first), Some(second), _) => {
            let wanted = if name == "min" { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater };
            std::iter::once(second)
                .chain(arguments)
                .try_fold(first, |best, next| Ok(if next.order(&best)? == wanted { next } else { best }))
        }
        _ => Err(format!("{name} does not take {given} {}", if given == 1 { "argument" } else { "arguments" })),
    }
}

fn round_digits(digits: &Number) -> Result<i32, String> {
    let fault = || format!("round takes a whole number of digits from -{MAX_ROUND_DIGITS} to {MAX_ROUND_DIGITS}");
    match digits {
        Number::Int(value) => i32::try_from(value)
            .ok()
            .filter(|value| (-MAX_ROUND_DIGITS..=MAX_ROUND_DIGITS).contains(value))
            .ok_or_else(fault),
        Number::Float(_) => Err(fault()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn arithmetic() {
        let table = [
            ("1 + 2 * 3", "7"),
            ("(1 + 2) * 3", "9"),
            ("-2 ** 2", "-4"),
            ("2 ** -1", "0.5"),
            ("2 ** 3 ** 2", "512"),
            ("--2", "2"),
            ("7 / 2", "3.5"),
            ("6 / 2", "3.0"),
            ("7 // 2", "3"),
            ("-7 // 2", "-4"),
            ("-7 % 3", "2"),
            ("7 % -3", "-2"),
            ("-7.5 // 2", "-4.0"),
            ("-7.5 % 2", "0.5"),
            ("0.1 + 0.2", "0.30000000000000004"),
            ("2 ** 200", "1606938044258990275541962092341162602522202993782792835301376"),
            ("1_000 * 1e3", "1000000.0"),
            (".5 + 5.", "5.5"),
            ("abs(-3)", "3"),
            ("round(2.5)", "2"),
            ("round(3.5)", "4"),
            ("round(-2.5)", "-2"),
            ("round(2.675, 2)", "2.67"),
            ("round(1234, -2)", "1200"),
            ("round(1250, -2)", "1200"),
            ("round(1350, -2)", "1400"),
            ("round(-1250, -2)", "-1200"),
            ("round(1234.5, -2)", "1200.0"),
            ("min(3, 1.5, 2)", "1.5"),
            ("max(1, 2)", "2"),
            ("sqrt(2)", "1.4142135623730951"),
            ("exp(0)", "1.0"),
            ("log(e)", "1.0"),
            ("log(8, 2)", "3.0"),
            ("log10(1000)", "3.0"),
            ("floor(-1.5)", "-2"),
            ("ceil(1.2)", "2"),
            ("floor(1e20)", "100000000000000000000"),
            ("2 * pi", "6.283185307179586"),
            ("(10 ** 400) / (10 ** 399)", "10.0"),
            ("(2 ** 60 + 1) / 3", "3.843071682022823e17"),
            ("1 / 10 ** 400", "0.0"),
            ("-10 ** 20 / 3", "-3.333333333333333e19"),
            ("1 ** (10 ** 100)", "1"),
            ("(-1) ** (10 ** 100 + 1)", "-1"),
            ("0 ** 0", "1"),
        ];
        for (expression, expected) in table {
            assert_eq!(calculate(expression).as_deref(), Ok(expected), "{expression}");
        }
    }

    /// Bug 48: powers and roundings that hang, and `^`.
    #[test]
    fn what_is_too_large_or_no_arithmetic_is_refused_at_once() {
        let table = [
            ("2 ^ 10", "'^' is not a power here: write ** instead"),
            ("9 ** 9 ** 9", "the result is too large (over 10,000 bits)"),
            ("2 ** 10000", "the result is too large (over 10,000 bits)"),
            ("10 ** 3000 * 10 ** 3000", "the result is too large (over 10,000 bits)"),
            ("2.0 ** 5000", "the result is too large for a float"),
            ("(10 ** 400) * 1.0", "that integer is too large for a float"),
            ("round(1, -10 ** 8)", "round takes a whole number of digits from -400 to 400"),
            ("round(1, 0.5)", "round takes a whole number of digits from -400 to 400"),
            ("1 / 0", "division by zero"),
            ("1 // 0", "division by zero"),
            ("1 % 0.0", "division by zero"),
            ("0 ** -1", "division by zero"),
            ("(-8) ** 0.5", "the result is complex, which is not supported"),
            ("sqrt(-1)", "the square root of a negative number is complex"),
            ("log(0)", "the logarithm of zero or less is undefined"),
            ("log(2, 1)", "a logarithm to the base of 1 is undefined"),
            ("1 +", "the expression ends too early"),
            ("(1", "')' is missing"),
            ("1 2", "unexpected '2'"),
            ("1,000", "unexpected ',': write numbers without separators, and arguments in parentheses"),
            ("", "the expression is empty"),
            ("sqrt", "sqrt needs its arguments in parentheses"),
            ("sqrt()", "sqrt does not take 0 arguments"),
            ("min(1)", "min does not take 1 argument"),
            ("round(1, 2, 3)", "round does not take 3 arguments"),
            ("1e400", "the result is too large for a float"),
            ("'a'", "unexpected ''a''"),
        ];
        for (expression, fault) in table {
            assert_eq!(calculate(expression), Err(fault.to_owned()), "{expression}");
        }
        let escape = calculate("__import__('os').system('id')").unwrap_err();
        assert!(escape.starts_with("unknown name '__import__'; known: abs, round"), "{escape}");
        assert!(calculate(&"(".repeat(4_000)).unwrap_err().contains("nested over 100 deep"));
        assert!(calculate(&"-".repeat(4_000)).unwrap_err().contains("nested over 100 deep"));
        assert!(calculate(&"1".repeat(4_000)).unwrap_err().contains("too large"));
        assert!(calculate(&"1+".repeat(4_000)).unwrap_err().contains("over 5000 characters"));
        assert_eq!(calculate("2 ** 9999").map(|digits| digits.len()), Ok(3_010));
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(expression in "[0-9+*/%(). ,eE_a-z^-]{0,40}") {
            drop(calculate(&expression));
        }

        #[test]
        fn integers_agree_with_exact_arithmetic(a in -1_000_000i128.., b in -1_000_000i128.., c in 1i128..1_000) {
            let (a, b) = (a % 1_000_000_007, b % 1_000_000_007);
            prop_assert_eq!(calculate(&format!("({a}) * ({b}) - {c}")), Ok((a * b - c).to_string()));
            prop_assert_eq!(calculate(&format!("({a}) // {c}")), Ok(a.div_euclid(c).to_string()));
            prop_assert_eq!(calculate(&format!("({a}) % {c}")), Ok(a.rem_euclid(c).to_string()));
        }
    }
}
