//! How many texts go on from each state: exact, in integers of any size.

use num_bigint::BigUint;

use crate::automaton::{Automaton, Edge, START, State};
use crate::refusal::Refusal;

/// So many counts are kept at most.
const MOST_COUNTS: usize = 1 << 21;

/// They have so many bits at most, all together.
const MOST_BITS: u64 = 1 << 29;

/// How many texts go on from a state within a number of characters.
///
/// Within no characters more, a text may still end. Without a greatest length there is one layer,
/// for any number of characters.
#[derive(Debug)]
pub(crate) struct Counts {
    layers: Vec<Vec<BigUint>>,
    is_limited: bool,
}

impl Counts {
    /// Count the texts of at most so many characters, or all of them.
    ///
    /// # Errors
    ///
    /// There are more than `most`, or infinitely many, or the counts need too much memory.
    pub(crate) fn new(
        automaton: &Automaton,
        max_length: Option<usize>,
        most: &BigUint,
    ) -> Result<Self, Refusal> {
        let states = &automaton.states;
        let all = order(states, |_| true);
        let longest = all.as_ref().map(|order| longest_text(states, order));
        let limit = match (longest, max_length) {
            (None, None) => return Err(Refusal::Endless),
            (Some(longest), Some(max)) if longest > max => Some(max),
            (Some(_), _) => None,
            (None, max) => max,
        };
        let order = match (limit, all) {
            (None, Some(all)) => all,
            // Within a character there is no way back to the state in which it began.
            _ => order(states, |edge| !edge.begins_character()).ok_or(Refusal::Unsupported)?,
        };
        let mut counts = Self { layers: Vec::new(), is_limited: limit.is_some() };
        let (mut entries, mut bits) = (0_usize, 0_u64);
        for layer in 0..=limit.unwrap_or(0) {
            entries = entries.saturating_add(states.len());
            if entries > MOST_COUNTS {
                return Err(Refusal::TooLarge);
            }
            counts.layers.push(vec![BigUint::ZERO; states.len()]);
            for &state in &order {
                let count = counts.sum(&states[state as usize], layer);
                bits += count.bits();
                if bits > MOST_BITS {
                    return Err(Refusal::TooLarge);
                }
                counts.layers[layer][state as usize] = count;
            }
            if counts.layers[layer][START as usize] > *most {
                return Err(Refusal::TooMany);
            }
        }
        Ok(counts)
    }

    /// The greatest number of characters that is counted; 0 also if there is no greatest.
    pub(crate) fn last_layer(&self) -> usize {
        self.layers.len() - 1
    }

    /// The greatest length, if longer texts would go on.
    pub(crate) fn limit(&self) -> Option<usize> {
        self.is_limited.then(|| self.last_layer())
    }

    /// The texts from a state on.
    pub(crate) fn from(&self, state: u32, layer: usize) -> &BigUint {
        &self.layers[layer][state as usize]
    }

    /// The layer in which a text goes on after one of an edge's bytes; `None` if it may not.
    pub(crate) fn next_layer(&self, edge: Edge, layer: usize) -> Option<usize> {
        if self.is_limited && edge.begins_character() { layer.checked_sub(1) } else { Some(layer) }
    }

    fn sum(&self, state: &State, layer: usize) -> BigUint {
        let mut count = BigUint::from(u8::from(state.accepts));
        for &edge in &state.edges {
            if let Some(next) = self.next_layer(edge, layer) {
                count += self.from(edge.to, next) * edge.width();
            }
        }
        count
    }
}

/// The states, each after all that its edges of this kind lead to; `None` if they lead in a circle.
fn order(states: &[State], follows: impl Fn(Edge) -> bool) -> Option<Vec<u32>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let (mut marks, mut order) = (vec![Mark::New; states.len()], Vec::new());
    for root in (START..).take(states.len()) {
        let mut path = vec![(root, 0)];
        while let Some((state, edge)) = path.pop() {
            let place = state as usize;
            if edge == 0 {
                if marks[place] == Mark::Done {
                    continue;
                }
                marks[place] = Mark::Open;
            }
            let edges = &states[place].edges;
            let Some(next) = (edge..edges.len()).find(|&next| follows(edges[next])) else {
                marks[place] = Mark::Done;
                order.push(state);
                continue;
            };
            path.push((state, next + 1));
            match marks[edges[next].to as usize] {
                Mark::Open => return None,
                Mark::New => path.push((edges[next].to, 0)),
                Mark::Done => {}
            }
        }
    }
    Some(order)
}

/// The greatest number of characters of a text, for states that lead in no circle.
fn longest_text(states: &[State], order: &[u32]) -> usize {
    let mut longest = vec![0; states.len()];
    for &state in order {
        let edges = states[state as usize].edges.iter();
        let lengths =
            edges.map(|edge| longest[edge.to as usize] + usize::from(edge.begins_character()));
        longest[state as usize] = lengths.max().unwrap_or(0);
    }
    longest[START as usize]
}
