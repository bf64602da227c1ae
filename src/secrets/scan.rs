//! Bounded looks at a text. Whatever looks around a place does it with these, so that tests can count how much a search
//! reads: the count must grow with the text and no faster.

/// How many bytes from here on fit, of at most `most`.
pub(super) fn ahead(text: &str, at: usize, most: usize, fits: impl Fn(u8) -> bool) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    let count = rest.iter().take(most).take_while(|b| fits(**b)).count();
    read(count + 1);
    count
}

/// How many bytes right before here fit, of at most `most`.
pub(super) fn behind(text: &str, at: usize, most: usize, fits: impl Fn(u8) -> bool) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let before = before.iter().rev().take(most);
    let count = before.take_while(|b| fits(**b)).count();
    read(count + 1);
    count
}

/// Where this byte comes next, within the next `most` bytes.
pub(super) fn next(text: &str, at: usize, most: usize, byte: u8) -> Option<usize> {
    let count = ahead(text, at, most, |b| b != byte);
    (count < most && at + count < text.len()).then_some(at + count)
}

/// At most this many bytes from here on, whole characters.
pub(super) fn window(text: &str, at: usize, most: usize) -> &str {
    let to = text.floor_char_boundary(text.len().min(at + most));
    text.get(at..to.max(at)).unwrap_or_default()
}

/// Bytes were read.
#[inline]
pub(super) fn read(bytes: usize) {
    #[cfg(test)]
    STEPS.set(STEPS.get() + bytes as u64);
    #[cfg(not(test))]
    let _ = bytes;
}

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// How many bytes this reads, each time that it reads one.
#[cfg(test)]
pub(super) fn steps(what: impl FnOnce()) -> u64 {
    STEPS.set(0);
    what();
    STEPS.get()
}
