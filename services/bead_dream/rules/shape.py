"""Whether a claim is a fact at all: its key, type, length; no credential, no word of a harness (seed, rule 1)."""

import re

from bead import keys
from bead.errors import InvalidKey
from bead.facts import FactType
from bead.text.terms import significant_terms
from bead_dream.claims import Claim, Context, Verdict, refuse

MAX_BODY_CHARACTERS = 600
_SENTINEL = re.compile(r"\s*[A-Z0-9]+(?:_[A-Z0-9]+)+[.!]?\s*\Z|.*\b(?:NO_REPLY|HEARTBEAT_OK)\b.*\Z", re.DOTALL)
_ABOUT_AGENT = re.compile(
    r"\s*(?:the |this |an? )?(?:ai |coding |language )?(?:agent|assistant|model|claude|chatbot)\b"
    r"(?! (?:service|table|api))",
    re.IGNORECASE,
)


def key_is_valid(claim: Claim, context: Context) -> Verdict | None:
    """A key by the rules of `bead.keys`, in a scope of this session."""
    try:
        key = keys.parse(claim.key)
    except InvalidKey:
        return refuse("no valid key")
    return None if key.scope in context.scopes else refuse("a key of another scope")


def type_is_valid(claim: Claim, context: Context) -> Verdict | None:
    """One of the four words."""
    return None if claim.type in set(FactType) else refuse("no valid type")


def body_is_there(claim: Claim, context: Context) -> Verdict | None:
    """Something that says something."""
    return None if significant_terms(claim.body) else refuse("an empty value")


def body_is_short(claim: Claim, context: Context) -> Verdict | None:
    """A fact is a statement, no document."""
    return None if len(claim.body) <= MAX_BODY_CHARACTERS else refuse("longer than 600 characters")


def holds_no_credential(claim: Claim, context: Context) -> Verdict | None:
    """Nothing that the credential scan would change."""
    return refuse("holds a credential") if context.holds_secret(f"{claim.key}\n{claim.body}") else None


def is_no_sentinel(claim: Claim, context: Context) -> Verdict | None:
    """A word that programs say to each other."""
    return refuse("a word of the harness") if _SENTINEL.match(claim.body) else None


def is_not_about_the_agent(claim: Claim, context: Context) -> Verdict | None:
    """What an agent is told to be is no memory of the person's."""
    return refuse("about the agent itself") if _ABOUT_AGENT.match(claim.body) else None
