"""Forgotten words are found in any spelling, by hashes alone, and nothing else is touched."""

import json
import time
from hashlib import sha256

import pytest

from bead_store.spans import Hashes, Spans, span_of, texts_of_turn, texts_of_value


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


HASHES = Hashes(lambda word: _hash(word)[:4], _hash)


def known(*values: str) -> Spans:
    found = [span_of(text, HASHES) for value in values for text in texts_of_value(value)]
    return Spans([span for span in found if span], HASHES)


VALUE = 'Xylophonist-Ämter "go" out'


@pytest.mark.parametrize(
    "said",
    [
        VALUE,
        VALUE.upper(),
        VALUE.replace(" ", "\n   "),
        VALUE.replace("Ä", "A\u0308"),
        VALUE.replace("phon", "ph\u200bon"),
        json.dumps(VALUE)[1:-1],
        json.dumps(VALUE, ensure_ascii=False)[1:-1],
        json.dumps("a line\n" + VALUE, ensure_ascii=False)[1:-1].removeprefix("a line"),
        "".join(chr(ord(sign) + 0xFEE0) if sign.isalpha() and sign.isascii() else sign for sign in VALUE),
    ],
)
def test_value_is_left_out_however_it_is_spelled(said: str) -> None:
    text = known(VALUE).redacted(f"before {said}, after")

    assert text.startswith("before") and text.endswith("[forgotten] after")
    assert "out" not in text


@pytest.mark.parametrize("said", ["Xylophonist-Ämter go in", "Xylophonist", "nothing", "", "out go Ämter Xylophonist"])
def test_other_words_stay(said: str) -> None:
    assert known(VALUE).redacted(said) == said


def test_text_without_blanks_between_words_is_found_inside_a_sentence() -> None:
    assert known("部署在星期四").redacted("我们说部署在星期四吧") == "我们说[forgotten]吧"


def test_short_turn_is_no_span_of_its_own() -> None:
    assert list(texts_of_turn("go on", lambda _: False)) == []
    assert list(texts_of_turn("go on with the tests now", lambda _: False)) == ["go on with the tests now"]


def test_looking_at_a_usual_turn_takes_less_than_its_credential_scan() -> None:
    spans = known(*(f"forgotten number {number} of xylophone-{number}" for number in range(200)))
    text = " ".join(f"word{number % 300} and more" for number in range(230))
    began = time.process_time()
    for _ in range(20):
        assert spans.redacted(text) is text
    assert (time.process_time() - began) / 20 < 0.01
