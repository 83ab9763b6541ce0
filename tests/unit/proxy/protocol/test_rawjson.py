"""Byte offsets out of the validating pass."""

import json
import sys

import msgspec
import pytest

from bead_proxy import rawjson
from bead_proxy.protocol import Unreadable


class _Thing(msgspec.Struct):
    value: msgspec.Raw
    rest: list[msgspec.Raw] = []


_DECODER = msgspec.json.Decoder(_Thing)


def _value_at(body: bytes) -> bytes:
    document = rawjson.decode(body, _DECODER)
    start, end = document.span(document.value.value)
    return body[start:end]


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"value":1}', b"1"),
        (b' \r\n\t{ "value" \n: [1, {"value":2}]\t } ', b'[1, {"value":2}]'),
        (b'{"v\\u0061lue":"\\"]}"}', b'"\\"]}"'),
        ('{"ü":"ü","value":"日本"}'.encode(), '"日本"'.encode()),
        (b'{"value":1,"value":[2]}', b"[2]"),
        (b'{"rest":["same"],"value":"same"}', b'"same"'),
        (b'{"value":12345678901234567890123}', b"12345678901234567890123"),
        (b'{"value":{"deep":' + b"[" * 200 + b"]" * 200 + b"}}", b'{"deep":' + b"[" * 200 + b"]" * 200 + b"}"),
    ],
)
def test_a_value_is_found_at_its_own_bytes(body: bytes, value: bytes) -> None:
    assert _value_at(body) == value


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not JSON",
        b"[]",
        b'{"value":1',
        b'{"value":1} x',
        b"\xef\xbb\xbf" + b'{"value":1}',
        '{"value":1}'.encode("utf-16"),
        b'{"value":NaN}',
        b'{"value":01}',
        b'{"value":"\x01"}',
        b'{"value":"\\x"}',
        b'{"value":"\\ud800',
        b'{"value":"\\ud800" "x"}',
        b"{'value':1}",
        b'{"value":[1,]}',
        b'{"value":' + b"[" * 100_000,
        b'{"value":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"rest":5,"value":1}',
    ],
)
def test_what_json_forbids_or_nests_too_deep_is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        rawjson.decode(body, _DECODER)


def test_a_value_of_another_body_has_no_place_in_this_one() -> None:
    here, elsewhere = (rawjson.decode(b'{"value":%d}' % number, _DECODER) for number in (1, 2))

    with pytest.raises(Unreadable):
        here.span(elsewhere.value.value)


@pytest.mark.parametrize(
    ("written", "masked"),
    [
        (rb"\ud800", rb"\ufffd"),
        (rb"\uDC00 \uD83D", rb"\ufffd \ufffd"),
        (rb"\ud83d\ude00", rb"\ud83d\ude00"),
        (rb"\ud83d\ud83d\ude00", rb"\ufffd\ud83d\ude00"),
        (rb"\ud83d\ude00\ude00", rb"\ud83d\ude00\ufffd"),
        (rb"\\ud800", rb"\\ud800"),
        (rb"\\\ud800", rb"\\\ufffd"),
        (rb"\ud83d\\ude00", rb"\ufffd\\ude00"),
        (rb"\ud83d \ude00", rb"\ufffd \ufffd"),
        (rb"\ue000\ud7ff", rb"\ue000\ud7ff"),
    ],
)
def test_only_halves_of_surrogate_pairs_are_masked(written: bytes, masked: bytes) -> None:
    body = b'"' + written + b'"'

    assert rawjson.mask_lone_surrogates(body) == b'"' + masked + b'"'
    expected = json.loads(body).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert json.loads(b'"' + masked + b'"') == expected


def test_offsets_hold_for_the_body_itself_when_it_has_half_a_pair() -> None:
    assert _value_at(rb'{"rest":["\ud83d"],"value":"\ude00 x"}') == rb'"\ude00 x"'


def test_many_unpaired_escapes_cost_linear_time() -> None:
    """A quadratic scan would hang here."""
    body = b'{"value":"' + rb"\ud800" * 200_000 + b"\\" * 400_000 + b'"}'

    assert len(_value_at(body)) == len(body) - len('{"value":}')


def test_asking_for_places_leaks_no_reference() -> None:
    body = b'{"value":"%s"}' % b"x" * 1
    before = sys.getrefcount(body)
    for _ in range(100):
        _value_at(body)

    assert sys.getrefcount(body) <= before + 1
