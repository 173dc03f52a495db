//! The texts of a pattern in their order: size, membership, rank and unrank.
//!
//! Texts are ordered as UTF-8 is, which is the order of their characters: a text comes before those
//! that it begins. So the rank of a text is the number of texts that end on its way, and of those
//! that leave it by a lesser byte; and unrank walks the same way back.

use num_bigint::BigUint;

use crate::automaton::{Automaton, Edge, START};
use crate::characters::read;
use crate::counts::Counts;
use crate::refusal::Refusal;

/// The texts that match a pattern whole.
#[derive(Debug)]
pub struct Language {
    automaton: Automaton,
    counts: Counts,
}

impl Language {
    /// The texts of a pattern, of at most so many characters.
    ///
    /// `blank` are the characters, first to last, that do not count at both ends of a cell, and
    /// there are at most `most` texts.
    ///
    /// # Errors
    ///
    /// The pattern is no domain.
    pub fn new(
        pattern: &str,
        max_length: Option<usize>,
        blank: &[(char, char)],
        most: &BigUint,
    ) -> Result<Self, Refusal> {
        let automaton = Automaton::new(&read(pattern)?)?;
        if automaton.states[START as usize].accepts {
            return Err(Refusal::EmptyText);
        }
        if automaton.begins_with(blank) {
            return Err(Refusal::BlankStart);
        }
        if automaton.ends_with(blank) {
            return Err(Refusal::BlankEnd);
        }
        let counts = Counts::new(&automaton, max_length, most)?;
        let language = Self { automaton, counts };
        if *language.size() == BigUint::ZERO { Err(Refusal::Empty) } else { Ok(language) }
    }

    /// How many texts there are.
    #[must_use]
    pub fn size(&self) -> &BigUint {
        self.counts.from(START, self.counts.last_layer())
    }

    /// Whether it is one of the texts.
    #[must_use]
    pub fn contains(&self, text: &str) -> bool {
        let fits = |most| text.len() <= most || text.chars().count() <= most;
        self.automaton.matches(text) && self.counts.limit().is_none_or(fits)
    }

    /// Whether any text may have a byte from the first to the last of these in its UTF-8.
    #[must_use]
    pub fn may_have(&self, first: u8, last: u8) -> bool {
        let mut edges = self.automaton.states.iter().flat_map(|state| &state.edges);
        edges.any(|edge| edge.first <= last && first <= edge.last)
    }

    /// The place of a text; `None` if it is none of them.
    #[must_use]
    pub fn rank(&self, text: &str) -> Option<BigUint> {
        if !self.contains(text) {
            return None;
        }
        let (mut state, mut layer) = (START, self.counts.last_layer());
        let mut rank = BigUint::ZERO;
        for byte in text.bytes() {
            rank += u8::from(self.automaton.states[state as usize].accepts);
            let &edge = self.edges(state).iter().find(|edge| edge.last >= byte)?;
            for &lesser in self.edges(state).iter().take_while(|each| each.last < byte) {
                rank += self.texts_by(lesser, layer) * lesser.width();
            }
            rank += self.texts_by(edge, layer) * u32::from(byte - edge.first);
            layer = self.counts.next_layer(edge, layer)?;
            state = edge.to;
        }
        Some(rank)
    }

    /// The text at a place; `None` if there are not so many.
    #[must_use]
    pub fn unrank(&self, mut rank: BigUint) -> Option<String> {
        if rank >= *self.size() {
            return None;
        }
        let (mut state, mut layer) = (START, self.counts.last_layer());
        let mut text = Vec::new();
        loop {
            if self.automaton.states[state as usize].accepts {
                if rank == BigUint::ZERO {
                    return String::from_utf8(text).ok();
                }
                rank -= 1_u8;
            }
            let mut edges = self.edges(state).iter();
            let edge = loop {
                let &edge = edges.next()?;
                let texts = self.texts_by(edge, layer) * edge.width();
                if rank < texts {
                    break edge;
                }
                rank -= texts;
            };
            let each = self.texts_by(edge, layer);
            text.push(edge.first + u8::try_from(&rank / &each).ok()?);
            rank %= each;
            layer = self.counts.next_layer(edge, layer)?;
            state = edge.to;
        }
    }

    fn edges(&self, state: u32) -> &[Edge] {
        &self.automaton.states[state as usize].edges
    }

    /// How many texts go on by any one byte of an edge.
    fn texts_by(&self, edge: Edge, layer: usize) -> BigUint {
        let next = self.counts.next_layer(edge, layer);
        next.map_or(BigUint::ZERO, |next| self.counts.from(edge.to, next).clone())
    }
}
