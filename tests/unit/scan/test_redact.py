"""What `Scanner.redact` takes away and, as much, what it leaves."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from bead.scan import Exceptions, Hit, Scanner
from tests.unit.scan.made_up import Sample, draw, ordinary_lines, private_key, samples

_SAMPLES = samples()
_BARE = [sample for sample in _SAMPLES if sample.template.endswith(" {}") and not set("=:") & set(sample.template)]
"""Tokens that are known by their own shape, not by the words before them."""
_FIRM = [sample for sample in _BARE if len(sample.secret) >= 24]


def _name(sample: Sample) -> str:
    return f"{sample.rule_id}: {sample.template[:30]}"


@pytest.mark.parametrize("sample", _SAMPLES, ids=_name)
def test_the_secret_is_replaced_and_the_rest_of_the_line_stays(scanner: Scanner, sample: Sample) -> None:
    assert scanner.redact(sample.text).text == sample.redacted
    assert scanner.contains_secret(sample.text)


@pytest.mark.parametrize("sample", _SAMPLES, ids=_name)
@pytest.mark.parametrize("depth", [1, 2])
def test_the_secret_is_found_inside_escaped_json(scanner: Scanner, sample: Sample, depth: int) -> None:
    """A tool result in a request body: line ends and quotes are written out, the token follows an `n`."""
    text = f"$ show\n{sample.text}\ndone"
    for _ in range(depth):
        text = json.dumps(text)

    redacted = scanner.redact(text).text

    assert sample.secret not in redacted
    assert "$ show" in redacted and "done" in redacted


@pytest.mark.parametrize("sample", _FIRM, ids=_name)
@pytest.mark.parametrize("around", ["It is {}.", "({})", "[{}]", "<b>{}</b>", "a={}&b=1", "{}, {}", '"{}"', "{}\t|"])
def test_a_token_with_a_shape_is_found_whatever_follows_it(scanner: Scanner, sample: Sample, around: str) -> None:
    words = sample.template.removesuffix("{}")

    redacted = scanner.redact(words + around.replace("{}", sample.secret)).text

    assert sample.secret not in redacted


@pytest.mark.parametrize("line", ordinary_lines())
def test_an_ordinary_line_stays_as_it_is(scanner: Scanner, line: str) -> None:
    assert scanner.redact(line).text == line
    assert not scanner.contains_secret(line)


def test_ordinary_lines_stay_when_they_meet_in_one_text(scanner: Scanner) -> None:
    text = "\n".join(ordinary_lines())

    assert scanner.redact(text).text == text


def test_a_transcript_of_many_secrets_keeps_every_other_line(scanner: Scanner) -> None:
    lines = [f"{ordinary}\n- {sample.text}" for ordinary, sample in zip(ordinary_lines(), _SAMPLES, strict=False)]
    transcript = "\n\n".join(lines)

    redaction = scanner.redact(transcript)

    assert [sample.rule_id for sample in _SAMPLES[: len(lines)] if sample.secret in redaction.text] == []
    assert [line for line in ordinary_lines() if line not in redaction.text] == []


@pytest.mark.parametrize("label", ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
@pytest.mark.parametrize("written", [str, lambda text: json.dumps(text)[1:-1], lambda text: text.replace("\n", "\r\n")])
def test_a_private_key_goes_with_its_body(scanner: Scanner, label: str, written) -> None:  # type: ignore[no-untyped-def]
    key = written(private_key(label))

    assert scanner.redact(f"cat key.pem {key} done").text == "cat key.pem [REDACTED:private-key] done"


@pytest.mark.parametrize("mark", ["+", "-", "> ", "     7\t", "    12→"])
def test_a_private_key_behind_diff_marks_or_line_numbers_goes_whole(scanner: Scanner, mark: str) -> None:
    key = private_key()

    redacted = scanner.redact("\n".join(mark + line for line in key.splitlines())).text

    assert [line for line in key.splitlines() if line in redacted] == []


def test_a_private_key_that_was_cut_off_loses_every_line_it_has(scanner: Scanner) -> None:
    """The output limit of a tool ends in the middle of the key: there is no END line."""
    cut = private_key(lines=4).rsplit("\n", 2)[0]

    redacted = scanner.redact(f"{cut}\n... output truncated, 3 lines left").text

    assert redacted == "[REDACTED:private-key-cut]\n... output truncated, 3 lines left"


def test_prose_between_two_mentions_of_a_key_header_stays(scanner: Scanner) -> None:
    prose = "It starts with -----BEGIN PRIVATE KEY-----. " + "Many words follow. " * 40
    text = f"{prose}-----BEGIN PRIVATE KEY----- again, then -----END PRIVATE KEY-----"

    assert "Many words follow. " * 40 in scanner.redact(text).text


def test_a_token_in_two_stream_pieces_is_found_once_they_are_assembled(scanner: Scanner) -> None:
    """Neither piece alone is a token, which is why the scan belongs after assembly."""
    token = draw("ghp_<base62:36>")
    deltas = [f"it pushed with {token[:21]}", f"{token[21:]} ok"]

    assert not any(scanner.contains_secret(delta) for delta in deltas)
    assert scanner.redact("".join(deltas)).text == "it pushed with [REDACTED:github-pat] ok"


def test_a_hit_says_where_and_which_rule_but_never_what(scanner: Scanner) -> None:
    token = draw("ghp_<base62:36>")
    text = f"héllo 🌍 {token} done"

    redaction = scanner.redact(text)

    assert redaction.hits == (Hit("github-pat", 8, 8 + len(token)),)
    assert text[8 : 8 + len(token)] == token
    assert token not in repr(redaction)


def test_overlapping_hits_become_one_marker_of_the_firmer_rule(scanner: Scanner) -> None:
    """`password=` guesses, the token's own rule knows."""
    token = draw("ghp_<base62:36>")

    redaction = scanner.redact(f'password = "{token}"')

    assert redaction.text == 'password = "[REDACTED:github-pat]"'
    assert len(redaction.hits) == 1


def test_a_secret_glued_to_a_marker_does_not_hide_behind_it(scanner: Scanner) -> None:
    token = draw("ghp_<base62:36>")

    redacted = scanner.redact(f"[REDACTED:{token}] [REDACTED:github-pat]{token}").text

    assert token not in redacted


def test_an_exempt_rule_and_an_exempt_expression_leave_their_secrets(scanner: Scanner) -> None:
    pat, stripe = draw("ghp_<base62:36>"), draw("sk_test_<base62:24>")
    lenient = Scanner.load(Exceptions(regexes=("^sk_test_",), rules=("github-pat",)))
    text = f"use {pat} and {stripe}"

    assert lenient.redact(text).text == text
    assert pat not in scanner.redact(text).text and stripe not in scanner.redact(text).text


def test_a_known_secret_is_replaced_wherever_it_stands_and_no_exception_saves_it() -> None:
    token = draw("<b64url:43>")
    scanner = Scanner.load(Exceptions(regexes=(".*",)), known_secrets=[token])

    assert scanner.redact(f"x{token}y and {token}").text == "x[REDACTED:bead-token]y and [REDACTED:bead-token]"
    assert token not in repr(scanner._book)


def test_a_digest_after_its_word_stays_even_where_a_vendor_is_named(scanner: Scanner) -> None:
    digest = draw("<hex:40>")

    assert scanner.redact(f"datadog_commit: {digest}").text == f"datadog_commit: {digest}"
    assert digest not in scanner.redact(f"datadog_key: {digest}").text


@pytest.mark.parametrize(
    "odd",
    [
        "",
        "\x00",
        "\ud800",
        "a\udfffb",
        "\\",
        "\\n",
        "[REDACTED:",
        "-----BEGIN PRIVATE KEY-----",
        "x" * 1_000_000,
        "\\" * 500_000,
    ],
    ids=[
        "empty",
        "nul",
        "lone-high",
        "lone-low",
        "backslash",
        "escape",
        "half-marker",
        "half-key",
        "long-line",
        "backslashes",
    ],
)
def test_odd_text_passes_and_does_not_stop_the_scan(scanner: Scanner, odd: str) -> None:
    token = draw("ghp_<base62:36>")

    assert scanner.redact(odd).text == odd
    assert scanner.redact(f"{odd} {token} {odd}").text == f"{odd} [REDACTED:github-pat] {odd}"


def test_many_threads_share_one_scanner_and_get_the_same_answers() -> None:
    """A fresh scanner, so that threads meet while rules are compiled."""
    shared = Scanner.load()
    work = _SAMPLES * 4

    with ThreadPoolExecutor(8) as pool:
        redacted = list(pool.map(lambda sample: shared.redact(sample.text).text, work))

    assert redacted == [sample.redacted for sample in work]
