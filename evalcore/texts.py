"""Many texts as arrays, and which of them are equal, without a Python object for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evalcore.arrays import AnyArray, IntArray
from evalcore.segments import offsets_of

WORD = 8
MASKS = np.array([256**length - 1 for length in range(WORD + 1)], dtype=np.uint64)
"""What keeps the first bytes of a little-endian word, by how many they are."""
ODD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))  # 2**64 over the golden ratio; a prime
FEWEST_SLOTS = 16


@dataclass(frozen=True, slots=True)
class Texts:
    """UTF-8 in one buffer.

    data     (n_bytes,) of which WORD are behind the end of the last text
    starts   (n_texts,) where each begins in the data
    lengths  (n_texts,) in bytes
    """

    data: AnyArray
    starts: IntArray
    lengths: IntArray

    def __len__(self) -> int:
        return len(self.starts)

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """From Python's; half a surrogate pair, which is no UTF-8, is kept as it is.

        >>> Texts.of(["a", "é"]).to_list()
        ['a', 'é']
        """
        joined = "".join(texts)
        if joined.isascii():
            encoded, lengths = joined.encode(), np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        else:
            each = [text.encode(errors="surrogatepass") for text in texts]
            encoded, lengths = b"".join(each), np.fromiter(map(len, each), dtype=np.int64, count=len(each))
        data = np.frombuffer(encoded + bytes(WORD), dtype=np.uint8)
        return cls(data, offsets_of(lengths)[:-1], lengths)

    @classmethod
    def joined(cls, several: Sequence[Texts]) -> Texts:
        """One after another, in a buffer of their own: what they were made of may be gone afterwards."""
        before = offsets_of([len(each.data) for each in several])[:-1].tolist()
        return cls(
            np.concatenate([*(each.data for each in several), np.zeros(WORD, dtype=np.uint8)]),
            np.concatenate([each.starts + start for each, start in zip(several, before, strict=True)]),
            np.concatenate([each.lengths for each in several]),
        )

    def taken(self, indices: IntArray) -> Texts:
        """Some of them, in this order."""
        return Texts(self.data, self.starts[indices], self.lengths[indices])

    def to_list(self) -> list[str]:
        """As Python's.  Raises UnicodeDecodeError for what is no UTF-8."""
        stops = np.cumsum(self.lengths)
        starts = stops - self.lengths
        packed = self.data[np.arange(self.lengths.sum()) + np.repeat(self.starts - starts, self.lengths)].tobytes()
        if not packed.isascii():
            return [each.decode(errors="surrogatepass") for each in self._bytes()]
        text = packed.decode()  # cut into pieces by itself: quicker than decoding each
        return [text[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]

    def order(self) -> IntArray:
        """The place of each among all, sorted by code point: the order of UTF-8 bytes.  (n_texts,)

        >>> Texts.of(["b", "a", "ab"]).order()
        array([2, 0, 1])
        """
        each = self._bytes()
        places = np.empty(len(each), dtype=np.int64)
        places[sorted(range(len(each)), key=each.__getitem__)] = np.arange(len(each))
        return places

    def first_equal(self) -> IntArray:
        """The index of the first text that is equal to each.  (n_texts,)

        >>> Texts.of(["b", "a", "b"]).first_equal()
        array([0, 1, 0])
        """
        words = self._words()
        found = first_equal(self._hashes(words))
        if not self._same(words, found):
            known: dict[bytes, int] = {}
            each = (known.setdefault(text, index) for index, text in enumerate(self._bytes()))
            return np.fromiter(each, dtype=np.int64, count=len(self))
        return found

    def _bytes(self) -> list[bytes]:
        data, stops = np.ascontiguousarray(self.data).data, (self.starts + self.lengths).tolist()
        return [bytes(data[start:stop]) for start, stop in zip(self.starts.tolist(), stops, strict=True)]

    def _words(self) -> list[tuple[IntArray | slice, AnyArray]]:
        """For each place of a word the texts that reach it, and their words, filled up with 0 behind the end."""
        shape = (len(self.data) - WORD + 1,)
        from_each_byte = np.ndarray(shape, dtype="<u8", buffer=np.ascontiguousarray(self.data), strides=(1,))
        rows: IntArray | slice = slice(None)
        starts, left = self.starts, self.lengths
        found: list[tuple[IntArray | slice, AnyArray]] = []
        while len(left):
            words: AnyArray = from_each_byte[starts]
            if left.min() < WORD:
                words &= MASKS[np.minimum(left, WORD)]
            found.append((rows, words))
            longer = left > WORD
            if not longer.all():
                kept = np.flatnonzero(longer)
                rows = kept if isinstance(rows, slice) else rows[kept]
                starts, left = starts[kept], left[kept]
            starts, left = starts + WORD, left - WORD
        return found

    def _hashes(self, words: Iterable[tuple[IntArray | slice, AnyArray]]) -> AnyArray:
        """(n_texts,) uint64, the same for equal texts."""
        hashes: AnyArray = self.lengths.astype(np.uint64)
        for rows, of_rows in words:
            mixed = (hashes[rows] ^ of_rows) * ODD[0]
            mixed ^= mixed >> np.uint64(29)
            hashes[rows] = mixed
        return hashes

    def _same(self, words: Iterable[tuple[IntArray | slice, AnyArray]], others: IntArray) -> bool:
        """Whether each text is equal to the one at the index beside it."""
        if not np.array_equal(self.lengths, self.lengths[others]):
            return False
        index = np.empty(len(self), dtype=np.int64)
        for rows, of_rows in words:  # of one length, the other has a word here too
            theirs = others
            if not isinstance(rows, slice):
                index[rows] = np.arange(len(rows))
                theirs = index[others[rows]]
            if not np.array_equal(of_rows, of_rows[theirs]):
                return False
        return True


def first_equal(keys: AnyArray) -> IntArray:
    """The index of the first key that is equal to each.  (n,) uint64 -> (n,)

    Keys are written into the slots of a table, the last one first, so that the first of those that share a slot
    stays. Which is in the slot of a key that is not its own is tried again with the keys that are left: after one
    round few are. No sorting, and no Python for each key. Equal keys that follow one another are tried as one.

    >>> first_equal(np.array([7, 9, 7], dtype=np.uint64))
    array([0, 1, 0])
    """
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    if len(starts) < len(keys) / 2:
        found: IntArray = starts[first_equal(keys[starts])]
        return np.repeat(found, np.diff(np.append(starts, len(keys))))
    first = np.empty(len(keys), dtype=np.int64)
    index = np.int32 if len(keys) < 2**31 else np.int64  # a smaller table stays in the cache longer
    left, mine = np.arange(len(keys), dtype=index), keys
    while len(left):
        bits = max(FEWEST_SLOTS, 2 * len(left) - 1).bit_length()
        mine = mine * ODD[1]
        slots = ((mine ^ (mine >> np.uint64(32))) * ODD[0] >> np.uint64(64 - bits)).view(np.int64)
        table = np.empty(1 << bits, dtype=index)
        table[slots[::-1]] = left[::-1]
        found = table[slots]
        same = keys[found] == keys[left]
        first[left[same]] = found[same]
        left, mine = left[~same], mine[~same]
    return first
