//! The characters of a pattern: each must be its own normal form, whatever stands beside it.
//!
//! A text of such characters alone is in Unicode's NFC. So no two of them are the same cell, and
//! each is what a cell that holds it is compared by.

use std::iter::once;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};
use regex_syntax::{ParserBuilder, parse};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc_quick};

use crate::refusal::Refusal;

/// A pattern may have so many characters.
const MOST_CHARACTERS: usize = 2_000;

/// Groups and repetitions may stand so deep within each other.
const MOST_NESTING: u32 = 100;

/// The first digits of some scripts; what takes them all takes the digits of all scripts.
const ZEROS: [char; 5] = ['0', '\u{660}', '\u{966}', '\u{ff10}', '\u{1d7ce}'];

/// Read a pattern, in the syntax of the crate `regex`.
///
/// # Errors
///
/// It cannot be read, or takes characters that are not their own normal form.
pub(crate) fn read(pattern: &str) -> Result<Hir, Refusal> {
    if pattern.chars().count() > MOST_CHARACTERS {
        return Err(Refusal::TooLong { most: MOST_CHARACTERS });
    }
    let mut parser = ParserBuilder::new().nest_limit(MOST_NESTING).build();
    let hir = parser.parse(pattern).map_err(|error| syntax(pattern, &error))?;
    let mut characters = ClassUnicode::empty();
    collect(&hir, &mut characters)?;
    if let Some(other) = first_not_normal(&characters) {
        return Err(Refusal::NotNormal(other));
    }
    Ok(hir)
}

fn syntax(pattern: &str, error: &regex_syntax::Error) -> Refusal {
    let (problem, span) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span()),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), error.span()),
        _ => return Refusal::Unsupported,
    };
    let before = pattern.get(..span.start.offset).unwrap_or(pattern);
    Refusal::Syntax { problem, place: before.chars().count() + 1 }
}

/// Add all characters that the pattern names, also those that no text of it has.
fn collect(hir: &Hir, characters: &mut ClassUnicode) -> Result<(), Refusal> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => {
            let text = str::from_utf8(&literal.0).map_err(|_| Refusal::Unsupported)?;
            for each in text.chars() {
                characters.push(ClassUnicodeRange::new(each, each));
            }
        }
        HirKind::Class(class) => {
            let class = match class {
                Class::Unicode(class) => class.clone(),
                Class::Bytes(class) => class.to_unicode_class().ok_or(Refusal::Unsupported)?,
            };
            if ZEROS.iter().all(|&zero| holds(&class, zero)) && first_not_normal(&class).is_none() {
                return Err(Refusal::AllDigits);
            }
            characters.union(&class);
        }
        HirKind::Repetition(repetition) => collect(&repetition.sub, characters)?,
        HirKind::Capture(capture) => collect(&capture.sub, characters)?,
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            for part in parts {
                collect(part, characters)?;
            }
        }
    }
    Ok(())
}

fn holds(class: &ClassUnicode, character: char) -> bool {
    class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&character))
}

/// The first character that normalization can change or join with one before it, or of which that
/// is not known, because Unicode has not assigned it. NUL is one of them: it is replaced in cells.
fn first_not_normal(characters: &ClassUnicode) -> Option<char> {
    let mut unassigned = characters.clone();
    unassigned.intersect(&unassigned_characters());
    characters
        .ranges()
        .iter()
        .flat_map(|range| range.start()..=range.end())
        .find(|&each| !is_inert(each))
        .or_else(|| unassigned.ranges().first().map(ClassUnicodeRange::start))
}

fn is_inert(character: char) -> bool {
    character != '\0'
        && canonical_combining_class(character) == 0
        && is_nfc_quick(once(character)) == IsNormalized::Yes
}

fn unassigned_characters() -> ClassUnicode {
    match parse(r"\p{Cn}").map(Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        _ => ClassUnicode::empty(),
    }
}
