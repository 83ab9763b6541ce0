"""Where a value lies in a JSON body, in bytes, at the speed of validation.

Pure. One msgspec pass validates the whole body and leaves the interesting values as `Raw`, which point into the very
buffer that was decoded: a value's offset is the difference of two addresses. What the values mean is `anthropic`'s
business. A key that comes twice counts with its last value, as in JSON.parse and every provider.
"""

import ctypes
import re
from typing import Generic, TypeVar

import msgspec

from bead_proxy.protocol import Unreadable

T = TypeVar("T")

_SIMPLE = 0  # PyBUF_SIMPLE
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_ESCAPE_BYTES = 6
_PLACEHOLDER = rb"\ufffd"


class _Buffer(ctypes.Structure):
    """Py_buffer, as CPython's C API declares it."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_void_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    )


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = (ctypes.py_object, ctypes.c_void_p, ctypes.c_int)
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = (ctypes.c_void_p,)
_release_buffer.restype = None


class Document(Generic[T]):
    """A decoded body, and the place of each `Raw` in it."""

    def __init__(self, body: bytes, value: T) -> None:
        self.value = value
        self._body = body  # keeps the buffer alive that the addresses point into
        self._buffer = _Buffer()
        self._pointer = ctypes.addressof(self._buffer)
        self._base, self._length = self._address(body)

    def span(self, raw: msgspec.Raw) -> tuple[int, int]:
        """Start and end of `raw` in the body, in bytes. Raises Unreadable when it is no part of the body."""
        address, length = self._address(raw)
        if not self._base <= address <= self._base + self._length - length:
            raise Unreadable("a value lies outside the body")
        start = address - self._base
        return start, start + length

    def holds(self, raw: msgspec.Raw) -> bool:
        """Whether `raw` is a part of this body."""
        address, length = self._address(raw)
        return self._base <= address <= self._base + self._length - length

    def _address(self, value: bytes | msgspec.Raw) -> tuple[int, int]:
        _get_buffer(value, self._pointer, _SIMPLE)
        address, length = self._buffer.buf, self._buffer.len
        _release_buffer(self._pointer)
        return address or 0, length


def decode(body: bytes, decoder: msgspec.json.Decoder[T]) -> Document[T]:
    """`body` read by `decoder`; offsets hold for `body` itself.

    Half a surrogate pair (an emoji that JavaScript cut in two) is allowed in JSON but not by msgspec: such an escape
    counts as U+FFFD, which is as long. Raises Unreadable for everything that JSON forbids or that nests too deep.
    """
    try:
        return Document(body, decoder.decode(body))
    except msgspec.ValidationError as error:
        raise Unreadable("not a request of the expected shape") from error
    except msgspec.DecodeError as error:
        masked = mask_lone_surrogates(body)
        if masked is body:
            raise Unreadable("not valid JSON") from error
        return _decode_masked(masked, decoder)
    except (UnicodeDecodeError, RecursionError) as error:
        raise Unreadable(f"not readable: {type(error).__name__}") from error


def _decode_masked(masked: bytes, decoder: msgspec.json.Decoder[T]) -> Document[T]:
    try:
        return Document(masked, decoder.decode(masked))
    except msgspec.ValidationError as error:
        raise Unreadable("not a request of the expected shape") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Unreadable("not valid JSON") from error


def mask_lone_surrogates(body: bytes) -> bytes:
    r"""`body` with each unpaired `\ud800`-`\udfff` escape as `\ufffd`, of equal length; `body` itself if none."""
    lone = _lone_surrogates(body)
    if not lone:
        return body
    masked = bytearray(body)
    for at in lone:
        masked[at : at + _ESCAPE_BYTES] = _PLACEHOLDER
    return bytes(masked)


def _lone_surrogates(body: bytes) -> list[int]:
    lone: list[int] = []
    high: int | None = None
    for match in _SURROGATE.finditer(body):
        at = match.start()
        if _is_escaped(body, at):
            continue
        is_high = body[at + 3] in b"89abAB"
        if high is not None and not (at == high + _ESCAPE_BYTES and not is_high):
            lone.append(high)
            high = None
        if is_high:
            high = at
        elif high is None:
            lone.append(at)
        else:
            high = None
    if high is not None:
        lone.append(high)
    return lone


def _is_escaped(body: bytes, at: int) -> bool:
    """Whether the backslash at `at` is itself escaped: an odd number of backslashes before it."""
    start = at
    while start and body[start - 1] == 0x5C:
        start -= 1
    return (at - start) % 2 == 1
