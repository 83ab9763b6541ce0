"""Templates: what every page has, and how times, numbers and keys are written. Autoescape is on for all of them.

What a person, an agent or a tool has written goes into a page as text only; nothing is ever marked safe.
"""

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_FOLDER = Path(__file__).parent
_KINDS = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

MENU = (
    ("/", "Home"),
    ("/live", "Live"),
    ("/facts", "Facts"),
    ("/review", "Review"),
    ("/sessions", "Sessions"),
    ("/reports", "Reports"),
    ("/audit", "Audit"),
    ("/traces", "Traces"),
    ("/spend", "Spend"),
    ("/settings", "Settings"),
)


class Static(NamedTuple):
    """A file of the page, named by its content so that a browser may keep it."""

    data: bytes
    kind: str
    tag: str


def load_statics() -> dict[str, Static]:
    """The style sheet, the script and the icon, by file name."""
    found = {}
    for path in sorted((_FOLDER / "static").iterdir()):
        if path.suffix in _KINDS:
            data = path.read_bytes()
            found[path.name] = Static(data, _KINDS[path.suffix], sha256(data).hexdigest()[:12])
    return found


def environment(statics: Mapping[str, Static]) -> Environment:
    """The templates with their filters; every value is escaped."""
    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(
        ago=ago, moment=moment, iso=iso, number=number, compact=compact, percent=percent, fact_url=fact_url,
        words=words, scope=scope_of, name=name_of, source_url=source_url, session_of=session_of, count=counted,
        query=query, short_id=short_id, pretty=pretty, segment=segment,
    )  # fmt: skip
    made.globals["static"] = lambda name: f"/static/{statics[name].tag}/{name}"
    made.globals["menu"] = MENU
    return made


# -- how things are written ------------------------------------------------------------------------------------------


def ago(value: datetime | str | None) -> str:
    """How long ago, in one unit: `4 min ago`; `never` for None."""
    if value is None:
        return "never"
    seconds = (datetime.now(UTC) - _time(value)).total_seconds()
    for limit, divisor, unit in ((90, 1, "s"), (5_400, 60, "min"), (129_600, 3_600, "h"), (3_888_000, 86_400, "days")):
        if seconds < limit:
            return "now" if seconds < 5 else f"{seconds / divisor:.0f} {unit} ago"
    return _time(value).strftime("%d %b %Y").lstrip("0")


def moment(value: datetime | date | str | None) -> str:
    """Date and time, UTC."""
    if value is None:
        return "never"
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.strftime("%d %b").lstrip("0")
    return _time(value).strftime("%d %b %Y, %H:%M").lstrip("0")


def iso(value: datetime | str) -> str:
    """RFC 3339, for the `datetime` attribute."""
    return _time(value).isoformat()


def _time(value: datetime | str) -> datetime:
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except ValueError:
        return datetime(1970, 1, 1, tzinfo=UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def number(value: float, digits: int = 0) -> str:
    """With thousands set apart by a thin blank."""
    return f"{value:,.{digits}f}".replace(",", "\u202f")


def compact(value: float) -> str:
    """Three digits and a unit: 1.2k, 34M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f}".rstrip("0").rstrip(".") + unit
    return f"{value:.0f}"


def percent(value: float) -> str:
    """A share between 0 and 1."""
    return f"{100 * value:.{1 if 0 < value < 0.01 else 0}f}\u202f%"


def counted(value: int, one: str, many: str | None = None) -> str:
    """`1 fact`, `2 facts`."""
    return f"{number(value)} {one if value == 1 else many or one + 's'}"


def words(value: object) -> str:
    """`user_stated` as `user stated`."""
    return str(value).replace("_", " ").replace("-", " ")


def scope_of(key: str) -> str:
    """Everything of a key before its name, with the slash."""
    parts = key.split("/")
    size = 2 if parts[0] in ("project", "team") and len(parts) > 2 else 1
    return "/".join(parts[:size]) + "/" if len(parts) > size else ""


def name_of(key: str) -> str:
    """What follows the scope."""
    return key[len(scope_of(key)) :]


def short_id(value: str) -> str:
    """The begin of a long id."""
    return value if len(value) <= 13 else value[:12] + "…"


def pretty(value: object) -> str:
    """A setting's value as one would write it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


# -- where things are ------------------------------------------------------------------------------------------------


def segment(text: str) -> str:
    """`text` as one part of a path."""
    return quote(text, safe="")


def fact_url(key: str, below: str = "") -> str:
    """The page of a fact."""
    return f"/fact/{quote(key, safe='/')}{below and '?' + below}"


def session_of(source: str) -> str:
    """The session that a source `raw/YYYY/MM/DD/<session>.md#turn-N` lies in; empty for something else."""
    file, _, _ = source.partition("#")
    return file.rpartition("/")[2].removesuffix(".md") if file.startswith("raw/") else ""


def source_url(source: str) -> str:
    """The turn that a source names, in its session; empty when it names none."""
    session, turn = session_of(source), source.partition("#")[2]
    return f"/sessions/{segment(session)}#{turn}" if session and turn.startswith("turn-") else ""


def query(base: Mapping[str, Any], **changes: Any) -> str:
    """A query with some of its values replaced; empty ones are left out."""
    merged = {name: value for name, value in {**base, **changes}.items() if value not in (None, "", 0)}
    return "?" + urlencode(merged) if merged else "?"
