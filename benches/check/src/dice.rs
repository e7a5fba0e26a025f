//! Numbers that look random and are the same on every machine.

/// A source of such numbers (xorshift).
pub(crate) struct Dice(u64);

impl Dice {
    /// The numbers for a file.
    pub(crate) fn new(index: usize) -> Self {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ ((index as u64 + 1) * 0x0bad_cafe_f00d));
        for _ in 0..8 {
            dice.up_to(2);
        }
        dice
    }

    pub(crate) fn up_to(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    pub(crate) fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.up_to(most - least + 1)
    }

    pub(crate) fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.up_to(words.len())]
    }

    pub(crate) fn often(&mut self) -> bool {
        self.up_to(3) != 0
    }
}
