"""A fact as one message of bytes, as the catalogue keeps it: small, and nothing for the garbage collector to walk."""

from datetime import datetime

import msgspec

from bead.facts import FactType, FactVersion, Sensitivity, Status, TriggerCard, Trust

Card = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""`say`, `do`, `see`, `unless`."""


class Packed(msgspec.Struct, array_like=True, gc=False):
    """The current version of a fact without its key and number, which its entry tells."""

    uid: str
    type: FactType
    owner: str
    status: Status
    trust: Trust
    sensitivity: Sensitivity
    valid_from: datetime
    body: str
    pinned: bool = False
    sources: tuple[str, ...] = ()
    harness: str | None = None
    project_id: str | None = None
    last_injected: datetime | None = None
    when: Card | None = None


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Packed).decode


class _Uid(msgspec.Struct, array_like=True, gc=False):
    """The first field of a message."""

    uid: str


_decode_uid = msgspec.msgpack.Decoder(_Uid).decode


def of_fact(fact: FactVersion) -> Packed:
    """What is kept of `fact`."""
    card = fact.when
    return Packed(
        uid=fact.uid,
        type=fact.type,
        owner=fact.owner,
        status=fact.status,
        trust=fact.trust,
        sensitivity=fact.sensitivity,
        valid_from=fact.valid_from,
        body=fact.body,
        pinned=fact.pinned,
        sources=fact.sources,
        harness=fact.harness,
        project_id=fact.project_id,
        last_injected=fact.last_injected,
        when=(card.say, card.do, card.see, card.unless) if card else None,
    )


def pack(current: Packed) -> bytes:
    """The message. A highest version is the current one, also when the newer one was deleted by hand (I1)."""
    if current.status is Status.SUPERSEDED:
        current.status = Status.CURRENT
    return _encode(current)


def uid_of(message: bytes) -> str:
    """The uid alone, in a tenth of the time."""
    return _decode_uid(message).uid


def unpack(key: str, version: int, message: bytes) -> FactVersion:
    """The fact that was packed; it was checked then, so nothing is checked a second time."""
    fields = msgspec.structs.asdict(_decode(message))
    say, do, see, unless = fields.pop("when") or ((), (), (), ())
    card = TriggerCard.model_construct(say=say, do=do, see=see, unless=unless)
    return FactVersion.model_construct(key=key, version=version, when=card, **fields)
