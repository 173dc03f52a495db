//! A deterministic automaton over the bytes of UTF-8, in which every state leads to a match.

use std::collections::HashMap;

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::Hir;
use regex_syntax::utf8::{Utf8Range, Utf8Sequences};

use crate::refusal::Refusal;

const NFA_BYTES: usize = 4 << 20;
const DFA_BYTES: usize = 16 << 20;
const DETERMINIZATION_BYTES: usize = 8 << 20;

/// An automaton has at most so many states.
const MOST_STATES: usize = 100_000;

/// The state of each automaton in which a text begins.
pub(crate) const START: u32 = 0;

/// In the table of moves: no text of the pattern goes on so.
const DEAD: u32 = u32::MAX;

/// The bytes first to last lead to a state; either all of them continue a character or none does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) first: u8,
    pub(crate) last: u8,
    pub(crate) to: u32,
}

impl Edge {
    pub(crate) fn width(self) -> u32 {
        u32::from(self.last - self.first) + 1
    }

    pub(crate) fn begins_character(self) -> bool {
        begins_character(self.first)
    }
}

/// Whether a byte of UTF-8 is the first of its character.
pub(crate) fn begins_character(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

/// A state: whether a text may end in it, and how it goes on, in the order of bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) accepts: bool,
    pub(crate) edges: Vec<Edge>,
}

/// An automaton without states from which no text ends.
#[derive(Debug)]
pub(crate) struct Automaton {
    pub(crate) states: Vec<State>,
    /// The state that each state goes to, for each class of bytes that no state tells apart.
    moves: Vec<u32>,
    class_of: [u8; 256],
    classes: usize,
}

impl Automaton {
    /// The automaton of a pattern that is matched whole.
    ///
    /// # Errors
    ///
    /// It is too large, or matches nothing, or cannot be made.
    pub(crate) fn new(hir: &Hir) -> Result<Self, Refusal> {
        let dfa = determinize(hir)?;
        let states = prune(&read_states(&dfa)?).ok_or(Refusal::Empty)?;
        let (class_of, classes) = byte_classes(&states);
        let mut moves = vec![DEAD; states.len() * classes];
        for (place, state) in states.iter().enumerate() {
            for edge in &state.edges {
                for byte in edge.first..=edge.last {
                    moves[place * classes + usize::from(class_of[usize::from(byte)])] = edge.to;
                }
            }
        }
        Ok(Self { states, moves, class_of, classes })
    }

    /// Whether the pattern matches the whole text.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let mut state = START;
        for byte in text.bytes() {
            let class = usize::from(self.class_of[usize::from(byte)]);
            state = self.moves[state as usize * self.classes + class];
            if state == DEAD {
                return false;
            }
        }
        self.states[state as usize].accepts
    }

    /// Whether a text can begin with one of these characters.
    pub(crate) fn begins_with(&self, characters: &[(char, char)]) -> bool {
        sequences(characters).iter().any(|bytes| self.leads(START, bytes, &|_| true))
    }

    /// Whether a text can end with one of these characters.
    pub(crate) fn ends_with(&self, characters: &[(char, char)]) -> bool {
        let sequences = sequences(characters);
        let accepts = |state: u32| self.states[state as usize].accepts;
        (START..)
            .take(self.states.len())
            .any(|state| sequences.iter().any(|bytes| self.leads(state, bytes, &accepts)))
    }

    /// Whether bytes of these ranges lead from a state to one that is wanted.
    fn leads(&self, state: u32, bytes: &[Utf8Range], wanted: &dyn Fn(u32) -> bool) -> bool {
        let Some((range, rest)) = bytes.split_first() else {
            return wanted(state);
        };
        let edges = &self.states[state as usize].edges;
        edges
            .iter()
            .filter(|edge| edge.first <= range.end && range.start <= edge.last)
            .any(|edge| self.leads(edge.to, rest, wanted))
    }
}

fn sequences(characters: &[(char, char)]) -> Vec<Vec<Utf8Range>> {
    characters
        .iter()
        .flat_map(|&(first, last)| Utf8Sequences::new(first, last))
        .map(|sequence| sequence.as_slice().to_vec())
        .collect()
}

fn determinize(hir: &Hir) -> Result<dense::DFA<Vec<u32>>, Refusal> {
    let nfa = thompson::Compiler::new()
        .configure(
            thompson::Config::new()
                .nfa_size_limit(Some(NFA_BYTES))
                .which_captures(WhichCaptures::None),
        )
        .build_from_hir(hir)
        .map_err(|error| match error.size_limit() {
            Some(_) => Refusal::TooLarge,
            None => Refusal::Unsupported,
        })?;
    // All matches, or the longer of two would be lost where the shorter is preferred.
    let config = dense::Config::new()
        .start_kind(StartKind::Anchored)
        .match_kind(MatchKind::All)
        .accelerate(false)
        .dfa_size_limit(Some(DFA_BYTES))
        .determinize_size_limit(Some(DETERMINIZATION_BYTES));
    dense::Builder::new().configure(config).build_from_nfa(&nfa).map_err(|error| {
        if error.is_size_limit_exceeded() { Refusal::TooLarge } else { Refusal::Unsupported }
    })
}

/// All states that a text can reach, the first of them first.
fn read_states(dfa: &dense::DFA<Vec<u32>>) -> Result<Vec<State>, Refusal> {
    let start = dfa
        .start_state(&start::Config::new().anchored(Anchored::Yes))
        .map_err(|_| Refusal::Unsupported)?;
    let mut places: HashMap<StateID, u32> = HashMap::from([(start, START)]);
    let (mut found, mut states) = (vec![start], Vec::new());
    while let Some(&id) = found.get(states.len()) {
        let mut edges: Vec<Edge> = Vec::new();
        for byte in 0..=u8::MAX {
            let next = dfa.next_state(id, byte);
            if dfa.is_quit_state(next) {
                return Err(Refusal::Unsupported);
            }
            if dfa.is_dead_state(next) {
                continue;
            }
            let to = *places.entry(next).or_insert_with(|| {
                found.push(next);
                u32::try_from(found.len() - 1).unwrap_or(DEAD)
            });
            match edges.last_mut() {
                Some(edge)
                    if edge.to == to
                        && edge.last.checked_add(1) == Some(byte)
                        && begins_character(edge.last) == begins_character(byte) =>
                {
                    edge.last = byte;
                }
                _ => edges.push(Edge { first: byte, last: byte, to }),
            }
        }
        // A match is told one byte late, so that the end of the text can still prevent it.
        let accepts = dfa.is_match_state(dfa.next_eoi_state(id));
        states.push(State { accepts, edges });
        if found.len() > MOST_STATES {
            return Err(Refusal::TooLarge);
        }
    }
    Ok(states)
}

/// The states from which a text can end; `None` if none is.
fn prune(states: &[State]) -> Option<Vec<State>> {
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); states.len()];
    for (from, state) in (START..).zip(states) {
        for edge in &state.edges {
            before[edge.to as usize].push(from);
        }
    }
    let mut lives: Vec<bool> = states.iter().map(|state| state.accepts).collect();
    let mut open: Vec<u32> =
        (START..).zip(states).filter(|(_, state)| state.accepts).map(|(place, _)| place).collect();
    while let Some(state) = open.pop() {
        for &from in &before[state as usize] {
            if !std::mem::replace(&mut lives[from as usize], true) {
                open.push(from);
            }
        }
    }
    if !lives[START as usize] {
        return None;
    }
    let mut next = START;
    let places: Vec<u32> = lives
        .iter()
        .map(|&lives| {
            let place = next;
            next += u32::from(lives);
            place
        })
        .collect();
    let kept = states.iter().zip(&lives).filter(|(_, lives)| **lives).map(|(state, _)| {
        let edges = state.edges.iter().filter(|edge| lives[edge.to as usize]);
        let edges = edges.map(|edge| Edge { to: places[edge.to as usize], ..*edge }).collect();
        State { accepts: state.accepts, edges }
    });
    Some(kept.collect())
}

/// The class of each byte, and how many classes there are.
fn byte_classes(states: &[State]) -> ([u8; 256], usize) {
    let mut begins = [false; 257];
    for edge in states.iter().flat_map(|state| &state.edges) {
        begins[usize::from(edge.first)] = true;
        begins[usize::from(edge.last) + 1] = true;
    }
    let (mut class_of, mut class) = ([0; 256], 0_u8);
    for byte in 1..256 {
        class += u8::from(begins[byte]);
        class_of[byte] = class;
    }
    (class_of, usize::from(class) + 1)
}
