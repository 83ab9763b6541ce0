"""Credentials that never were: drawn from the vector file's recipes at run time, the same on every run."""

import random
import re
import string
from dataclasses import dataclass
from pathlib import Path

VECTORS = Path(__file__).parents[2] / "vectors" / "scan"

_BASE62 = string.ascii_letters + string.digits
_ALPHABETS = {
    "base62": _BASE62,
    "base64": _BASE62 + "+/",
    "b64url": _BASE62 + "-_",
    "hex": "0123456789abcdef",
    "digits": string.digits,
    "lower": string.ascii_lowercase,
    "alnum": string.ascii_lowercase + string.digits,
    "ALNUM": string.ascii_uppercase + string.digits,
    "B32": string.ascii_uppercase + "234567",
    "BECH32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}


@dataclass(frozen=True)
class Sample:
    """One line with one secret, and what must be left of it."""

    rule_id: str
    secret: str
    template: str

    @property
    def text(self) -> str:
        return self.template.replace("{}", self.secret)

    @property
    def redacted(self) -> str:
        return self.template.replace("{}", f"[REDACTED:{self.rule_id}]")


def draw(recipe: str) -> str:
    """`recipe` with each `<alphabet:length>` replaced by random characters that depend on the recipe alone."""
    source = random.Random(recipe)

    def characters(match: re.Match[str]) -> str:
        return "".join(source.choices(_ALPHABETS[match[1]], k=int(match[2])))

    return re.sub(r"<(\w+):(\d+)>", characters, recipe)


def samples() -> list[Sample]:
    lines = (VECTORS / "must_redact.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [Sample(rule_id, draw(recipe), template) for rule_id, recipe, template in rows]


def ordinary_lines() -> list[str]:
    return (VECTORS / "must_stay.txt").read_text(encoding="utf-8").splitlines()


def private_key(label: str = "PRIVATE KEY", lines: int = 3) -> str:
    """A PEM block with a random body of full lines."""
    body = "\n".join(draw(f"<base64:64>{line}")[:64] for line in range(lines))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"
