"""`bead vault init`, `bead seal`, `bead unseal` and `bead sealed`: what only you can read."""

import argparse
import re
from typing import TYPE_CHECKING, Any

from bead.errors import BadRequest, Exists, NotFound
from bead_cli import passphrase
from bead_cli.context import Context
from bead_cli.door import opened
from bead_cli.harness_env import refuse_inside_harness
from bead_cli.lookup import key_named
from bead_cli.output import Output

if TYPE_CHECKING:
    from bead_cli.vault import Opened

_LIMIT_S = 600.0
"""A seal reads the whole raw log, as a forget does."""
_PENDING = 3
_VERSIONED = re.compile(r"(.+)@v([1-9][0-9]*)\Z")
_EPILOGS = {
    "vault": """\
Makes a pair of keys in the vault folder of the home. Sealing needs only the public one; reading what is sealed needs
the secret one and the passphrase you choose now. Without the passphrase, or without identity.age, nobody can read it
again: keep a copy of that file. An identity that is there is never replaced.

Exit code 1 at once when no terminal is there to type a passphrase at.

examples:
  bead vault init
""",
    "seal": """\
Encrypts every version of a fact and takes its text out of everything else that bead keeps: turns, blocks, documents,
index. It is never shown to an agent again. Needs no passphrase.

Exit code 3 when the search index follows later: it drops the text before it answers again.

examples:
  bead seal user/bank-pin
  bead write user/bank-pin --sensitivity secret        keep a new secret; asks for the text
""",
    "unseal": """\
Decrypts every version in this process and stores the fact in the clear again, with sensitivity private. What looks like
a credential stays in the vault. Asks for the passphrase; exit code 1 at once when there is no terminal.

examples:
  bead unseal user/bank-pin
""",
    "sealed": """\
`list` names what is sealed and needs no passphrase; `show` asks for it and prints the text here and nowhere else. Exit
code 1 at once when there is no terminal.

examples:
  bead sealed list
  bead sealed show user/bank-pin
  bead sealed show user/bank-pin@v1
""",
}


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """An action, a key."""
    parser.epilog = _EPILOGS[name]
    if name == "vault":
        parser.add_argument("action", choices=("init",), metavar="init", help="make the vault")
        return
    if name == "sealed":
        parser.add_argument("action", choices=("list", "show"), nargs="?", default="list", metavar="list|show")
    count = "?" if name == "sealed" else None
    parser.add_argument("key", metavar="KEY", nargs=count, help="a key, or a name in this project, user/ or global/")
    parser.add_argument("--project", metavar="P", help="default: the project of this directory")


def run(args: argparse.Namespace, context: Context) -> int:
    """Do what the command of this name says."""
    if args.command == "sealed" and (args.action == "list") != (args.key is None):
        raise BadRequest("'bead sealed show' needs one KEY, as 'bead sealed list' names it")
    if args.command == "sealed" and args.action == "list":
        return _list(context)
    refuse_inside_harness(context.environ, _NAMES.get(args.command, args.command))
    runners = {"vault": _init, "seal": _seal, "unseal": _unseal, "sealed": _show}
    return runners[args.command](args, context)


_NAMES = {"vault": "vault init", "sealed": "sealed show"}


def _init(args: argparse.Namespace, context: Context) -> int:
    from bead_cli import vault

    passphrase.require_terminal("the vault's passphrase")
    vault.require_support()
    with opened(context, "store", begins=True) as door:
        state = door.call("store", "GET", "/v1/vault")
        if state["has_identity"] and state["recipient"]:
            raise Exists("there is a vault already, and bead never replaces its identity")
        if state["has_identity"]:
            context.output.note("identity.age is there and recipient.txt is missing; the passphrase brings it back")
            recipient = str(vault.open_identity(door).recipient())
            state = door.call("store", "POST", "/v1/vault/recipient", {"recipient": recipient})
        else:
            recipient, identity = vault.make_identity()
            sealed = vault.encrypted_identity(identity, passphrase.ask_new())
            state = door.call("store", "POST", "/v1/vault", {"recipient": recipient, "identity": sealed})
    if context.output.as_json:
        context.output.document(state)
        return 0
    context.output.text(f"{context.output.style('green', 'the vault is ready')} in {context.layout().identity.parent}")
    context.output.text("  keep a copy of identity.age; without it or its passphrase nobody can read what is sealed")
    return 0


def _seal(args: argparse.Namespace, context: Context) -> int:
    output = context.output
    with opened(context, "store", "index") as door:
        key = key_named(context, door, args.key, args.project)
        answer = door.call("store", "POST", "/v1/vault/seal", {"key": key}, timeout_s=_LIMIT_S)
    if output.as_json:
        output.document(answer)
    else:
        _print_seal(output, answer)
    return _PENDING if answer["index"] == "pending" else 0


def _print_seal(output: Output, answer: dict[str, Any]) -> None:
    output.text(f"{output.style('green', 'sealed')} {answer['key']} ({_counted(answer['versions'], 'version')})")
    output.text(f"  its text was taken out of {_counted(answer['redacted'], 'other place')}")
    for left in answer["left"]:
        output.text(output.style("yellow", f"  left: {output.stored(left)}"))
    if answer["level"] == 1:
        output.text("  this file system may keep old blocks until it uses them again; disk encryption protects them")
    if answer["index"] == "pending":
        output.text("  the search index drops it before it answers again")


def _unseal(args: argparse.Namespace, context: Context) -> int:
    from bead_cli import vault

    passphrase.require_terminal("the vault's passphrase")
    with opened(context, "store") as door:
        key = vault.sealed_key(context, door, args.key, args.project)
        versions = vault.open_versions(door, key, vault.open_identity(door))
        plain = [{"version": each.version, "text": each.text} for each in versions]
        answer = door.call("store", "POST", "/v1/vault/unseal", {"key": key, "versions": plain})
    if context.output.as_json:
        context.output.document(answer)
        return 0
    said = context.output.style("green", "unsealed")
    context.output.text(f"{said} {key} ({_counted(answer['versions'], 'version')}); agents may be told it again")
    return 0


def _list(context: Context) -> int:
    with opened(context, "store") as door:
        sealed = door.call("store", "GET", "/v1/vault/sealed")
    if context.output.as_json:
        context.output.document(sealed)
        return 0
    for each in sealed["sealed"]:
        context.output.text(f"{context.output.style('bold', each['key'])}  {_numbers(each['versions'])}")
    if not sealed["sealed"]:
        context.output.text("nothing is sealed")
    return 0


def _show(args: argparse.Namespace, context: Context) -> int:
    from bead_cli import vault

    passphrase.require_terminal("the vault's passphrase")
    versioned = _VERSIONED.match(args.key)
    name, number = (versioned[1], int(versioned[2])) if versioned else (args.key, None)
    with opened(context, "store") as door:
        key = vault.sealed_key(context, door, name, args.project)
        versions = vault.open_versions(door, key, vault.open_identity(door))
    fact = vault.fact_in(_wanted(key, number, versions), key)
    if context.output.as_json:
        context.output.document(fact.model_dump(mode="json"))
    else:
        context.output.text(context.output.stored(fact.body))
    return 0


def _wanted(key: str, number: int | None, versions: "list[Opened]") -> "Opened":
    for each in versions:
        if each.version == number or (number is None and each is versions[-1]):
            return each
    raise NotFound(f"{key} has no version {number}; sealed are {_numbers([each.version for each in versions])}")


def _numbers(versions: list[int]) -> str:
    return ", ".join(f"v{number}" for number in versions)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
