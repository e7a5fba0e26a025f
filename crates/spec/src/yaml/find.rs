//! Finds bytes, eight in one step.

/// The first of some bytes from a position on, or the end.
// Most searches end in their first steps.
#[allow(clippy::inline_always)]
#[inline(always)]
pub(super) fn first_of<const N: usize>(bytes: &[u8], from: usize, wanted: [u8; N]) -> usize {
    let mut rest = bytes.get(from..).unwrap_or_default();
    let mut pos = from;
    while let Some((eight, after)) = rest.split_first_chunk() {
        let places = places(*eight, wanted);
        if places != 0 {
            return pos + places.trailing_zeros() as usize / 8;
        }
        pos += 8;
        rest = after;
    }
    let found = rest.iter().position(|byte| wanted.contains(byte));
    pos + found.unwrap_or(rest.len())
}

/// The lowest bit that is set lies in the first byte that is one of some. Higher bits mean nothing.
#[inline]
fn places<const N: usize>(eight: [u8; 8], wanted: [u8; N]) -> u64 {
    let text = u64::from_le_bytes(eight);
    let mut places = 0;
    for byte in wanted {
        // Zero where it stands; to take one from zero sets the highest bit, and borrows from the byte above.
        let others = text ^ u64::from_le_bytes([byte; 8]);
        places |= others.wrapping_sub(u64::from_le_bytes([1; 8])) & !others;
    }
    places & u64::from_le_bytes([0x80; 8])
}

/// How many spaces stand at a position.
#[inline]
pub(super) fn count_spaces(bytes: &[u8], from: usize) -> usize {
    let mut rest = bytes.get(from..).unwrap_or_default();
    let mut count = 0;
    while let Some((eight, after)) = rest.split_first_chunk() {
        let others = u64::from_le_bytes(*eight) ^ u64::from_le_bytes([b' '; 8]);
        if others != 0 {
            return count + others.trailing_zeros() as usize / 8;
        }
        count += 8;
        rest = after;
    }
    count + rest.iter().take_while(|byte| **byte == b' ').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_of_some_bytes_wherever_it_stands() {
        let wanted = [b':', b'\n'];
        for length in 0..50 {
            let mut text = vec![b'x'; length];
            assert_eq!(first_of(&text, 0, wanted), length);
            for place in (0..length).rev() {
                text[place] = wanted[place % 2];
                for from in 0..=place {
                    assert_eq!(first_of(&text, from, wanted), place);
                }
            }
        }
        assert_eq!(first_of(b"x", 2, wanted), 2, "behind the end");
    }

    #[test]
    fn counts_spaces_up_to_the_first_other_byte() {
        for spaces in 0..40 {
            for after in 0..20 {
                let text = " ".repeat(spaces) + &"x ".repeat(after);
                assert_eq!(count_spaces(text.as_bytes(), 0), spaces);
            }
        }
    }
}
