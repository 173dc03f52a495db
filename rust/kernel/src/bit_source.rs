//! Where random bits come from.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// A stream of independent fair bits.
///
/// The kernel compares a uniform number with e^−x on the first *word* of its bits and draws more
/// only where these do not decide. Production has words of 64 bits, where that is rare; the tests
/// walk all bits of streams with words of a few bits, where it is common. The law is the same.
pub trait BitSource {
    /// Why no more bits are to be had.
    type Stop;

    /// The number of bits in a word, from 1 to 64.
    fn width(&self) -> u32;

    /// The next `count` bits as a number, at most 64.
    ///
    /// # Errors
    /// When the stream ends.
    fn bits(&mut self, count: u32) -> Result<u64, Self::Stop>;

    /// Called now and then on long work, which ends if this is an error.
    ///
    /// # Errors
    /// When the work is to end, such as by Ctrl-C.
    fn checkpoint(&mut self) -> Result<(), Self::Stop> {
        Ok(())
    }
}

/// A secret key, drawn from the operating system: of it are made as many streams as are needed, and
/// no two are alike.
pub struct Key([u8; 32]);

/// The operating system gave no random key.
#[derive(Debug)]
pub struct NoEntropy;

impl Key {
    /// A key that nobody else has.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn fresh() -> Result<Self, NoEntropy> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|_| NoEntropy)?;
        Ok(Self(key))
    }

    /// A key that was sent from elsewhere; whoever repeats a key repeats noise.
    #[must_use]
    pub fn received(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// The key, to be sent where its streams are needed, and to nobody else.
    #[must_use]
    pub fn to_send(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A `ChaCha20` stream, one of those of a key.
///
/// A key that is drawn for one stream alone is shared with nobody, so forked processes, threads and
/// copies never share noise.
pub struct Cipher<C> {
    stream: ChaCha20Rng,
    spare: u64,
    spares: u32,
    checkpoint: C,
}

impl<C> Cipher<C> {
    /// A stream with a key of its own; `checkpoint` is asked now and then whether to go on.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn fresh(checkpoint: C) -> Result<Self, NoEntropy> {
        Ok(Self::of(&Key::fresh()?, 0, checkpoint))
    }

    /// The stream of this number: the same bits each time for the same key and number.
    pub fn of(key: &Key, number: u64, checkpoint: C) -> Self {
        let mut stream = ChaCha20Rng::from_seed(key.0);
        stream.set_stream(number);
        Self { stream, spare: 0, spares: 0, checkpoint }
    }
}

impl<C: FnMut() -> Result<(), E>, E> BitSource for Cipher<C> {
    type Stop = E;

    #[inline]
    fn width(&self) -> u32 {
        64
    }

    #[inline]
    fn bits(&mut self, count: u32) -> Result<u64, E> {
        if count == 64 {
            return Ok(self.stream.next_u64());
        }
        if self.spares < count {
            self.spare = self.stream.next_u64();
            self.spares = 64;
        }
        let number = self.spare & ((1 << count) - 1);
        self.spare >>= count;
        self.spares -= count;
        Ok(number)
    }

    fn checkpoint(&mut self) -> Result<(), E> {
        (self.checkpoint)()
    }
}
