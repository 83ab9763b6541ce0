"""Bech32 as age spells its keys: BIP 173's alphabet and checksum, without its limit on length.

Pure. What the bytes mean is `hybrid`'s. Source: BIP 173; C2SP age, "Recipients and identities".
"""

from collections.abc import Iterable

from bead.age.errors import MalformedHeader

_ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_VALUE = {letter: value for value, letter in enumerate(_ALPHABET)}
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_CHECKSUM_LETTERS = 6


def encode(prefix: str, data: bytes) -> str:
    """`data` behind `prefix`; upper case when the prefix is."""
    low = prefix.lower()
    values = _regroup(data, 8, 5, pad=True)
    checksum = _checksum(_spread(low) + values + [0] * _CHECKSUM_LETTERS) ^ 1
    values += [checksum >> 5 * (_CHECKSUM_LETTERS - 1 - place) & 31 for place in range(_CHECKSUM_LETTERS)]
    text = f"{low}1{''.join(_ALPHABET[value] for value in values)}"
    return text if prefix == low else text.upper()


def decode(text: str, prefix: str) -> bytes:
    """The bytes behind `prefix`, which must be there in its own case.

    Raises:
        MalformedHeader: another prefix, a wrong letter, or a checksum that does not fit.
    """
    low = text.lower()
    there, _, letters = low.rpartition("1")
    is_one_case = text in (low, text.upper())
    if not is_one_case or there != prefix.lower() or (text == low) is not (prefix == prefix.lower()):
        raise MalformedHeader(f"this is no key that begins with {prefix}1")
    if len(letters) < _CHECKSUM_LETTERS or any(letter not in _VALUE for letter in letters):
        raise MalformedHeader(f"a key that begins with {prefix}1 has a letter that cannot be in it")
    values = [_VALUE[letter] for letter in letters]
    if _checksum(_spread(there) + values) != 1:
        raise MalformedHeader(f"the checksum of a key that begins with {prefix}1 does not fit: a letter is wrong")
    return bytes(_regroup(values[:-_CHECKSUM_LETTERS], 5, 8, pad=False))


def _checksum(values: Iterable[int]) -> int:
    state = 1
    for value in values:
        top = state >> 25
        state = (state & 0x1FFFFFF) << 5 ^ value
        for place, generator in enumerate(_GENERATOR):
            if top >> place & 1:
                state ^= generator
    return state


def _spread(prefix: str) -> list[int]:
    return [*(ord(letter) >> 5 for letter in prefix), 0, *(ord(letter) & 31 for letter in prefix)]


def _regroup(values: Iterable[int], width: int, new_width: int, *, pad: bool) -> list[int]:
    """The same bits in groups of another width; without `pad` what is left over must be less than a group of zeros."""
    held = bits = 0
    groups: list[int] = []
    for value in values:
        held = held << width | value
        bits += width
        while bits >= new_width:
            bits -= new_width
            groups.append(held >> bits)
            held &= (1 << bits) - 1
    if pad and bits:
        groups.append(held << new_width - bits)
    if not pad and (bits >= width or held):
        raise MalformedHeader("a key has bits behind its end")
    return groups
