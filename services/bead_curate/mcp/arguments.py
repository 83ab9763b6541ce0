"""What each tool takes, described for the model that fills it in. Pure: the words here are the tools' manual."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from bead.wire.forget import MAX_MATCH_CHARS

MAX_LIMIT = 50
MAX_QUERY_CHARS = 4_000
_KEY = "A whole key, as other tools show it: user/editor, global/licence, project/shop/deploy-day"

Entry = Annotated[str, Field(min_length=1, max_length=500)]
Entries = Annotated[tuple[Entry, ...], Field(max_length=50)]
Key = Annotated[str, Field(min_length=1, max_length=400, description=_KEY)]
Offset = Annotated[int, Field(ge=0, description="Items to leave out at the start, as the last answer named it")]
Confirm = Annotated[
    str,
    Field(
        max_length=100, description="Leave out at first; then the word that the preview gave, once the person agrees"
    ),
]


class Arguments(BaseModel):
    """An unknown argument is an error that names it, so that a model's slip is not silently ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Nothing(Arguments):
    """No arguments."""


class Card(Arguments):
    """When a fact matters, see `bead.facts.TriggerCard`."""

    say: Entries = Field(
        (),
        description="2 to 5 short sentences as the person would type them when they need this fact, each in other "
        "words: 'how do we release?', 'ship it to production'. Their words, not the fact's.",
    )
    do: Entries = Field(
        (),
        description="Literal pieces of commands, paths or code that an agent would write just before it goes wrong "
        "without this fact: 'npm install', 'src/generated/', 'kubectl apply'. Rare and exact; never a bare common "
        "word.",
    )
    see: Entries = Field(
        (),
        description="Literal pieces of output or error messages in which it helps: 'permission denied (publickey)', "
        "'ERR_PNPM_OUTDATED_LOCKFILE'. Copy them exactly, without line numbers, times or paths of one machine.",
    )
    unless: Entries = Field(
        (),
        description="Literal pieces that show that the fact is followed already, so that it need not be said: for "
        "'use pnpm, never npm' that is 'pnpm '.",
    )


class Recall(Arguments):
    """`recall`."""

    query: str = Field(
        max_length=MAX_QUERY_CHARS, description="Plain words to look for; no syntax. Name things as the person does"
    )
    project: str | None = Field(None, description="Name of a project to prefer; default: the active one")
    limit: int = Field(8, ge=1, description=f"Most facts, {MAX_LIMIT} at the most")
    offset: Offset = 0


class Remember(Arguments):
    """`remember`."""

    text: str = Field(
        min_length=1,
        max_length=16_000,
        description="One fact in one or two sentences that will be true and clear in a month, to somebody without "
        "this conversation: names, exact commands, and why. No secrets",
    )
    key: str | None = Field(
        None,
        description="Where to keep it: a short name such as 'deploy-day' for the active project, or a whole key. The "
        "same key again replaces the fact and keeps its history. Default: made from the text",
    )
    type: str | None = Field(
        None,
        pattern="^(user|feedback|project|reference)$",
        description="user: about the person. feedback: how they want work done. project: about this code base. "
        "reference: where to find something",
    )
    project: str | None = Field(None, description="Name of the project it belongs to; default: the active one")
    when: Card | None = Field(
        None,
        description="When the fact matters. bead shows it by itself at these moments, without anybody asking, so a "
        "good card is what makes the fact useful: fill at least `say` and, where there is one, `do` or `see`",
    )


class Search(Recall):
    """`search`."""

    all_versions: bool = Field(False, description="Superseded versions too")


class OneKey(Arguments):
    """A tool about one fact."""

    key: Key


class History(OneKey):
    """`history`."""

    offset: Offset = 0


class Pin(OneKey):
    """`pin`."""

    pinned: bool = Field(True, description="false takes the pin away")


class Rekey(Arguments):
    """`rekey`."""

    old: Key
    new: Key


class SetWhen(OneKey):
    """`set_when`."""

    when: Card = Field(description="The whole card in place of the one it has; an empty one takes it away")


class Page(Arguments):
    """A list that goes on."""

    offset: Offset = 0


class Forget(Arguments):
    """`forget`."""

    keys: tuple[Key, ...] = Field(
        min_length=1, max_length=100, description="Whole keys; exactly these, nothing below them"
    )
    confirm: Confirm = ""


class ForgetMatching(Arguments):
    """`forget_matching`."""

    text: str = Field(
        min_length=3,
        max_length=MAX_MATCH_CHARS,
        description="Literal text, at least 3 characters; case and spaces do not count",
    )
    confirm: Confirm = ""


class Seal(OneKey):
    """`seal`."""

    confirm: Confirm = ""
