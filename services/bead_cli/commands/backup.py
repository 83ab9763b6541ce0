"""`bead backup DIR` and `bead restore DIR`: an encrypted copy of everything, and the way back."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bead.errors import BadRequest, NoVault, Refused, StoreLocked, WrongPassphrase
from bead_cli import passphrase
from bead_cli.context import Context
from bead_cli.door import opened
from bead_cli.harness_env import refuse_inside_harness

if TYPE_CHECKING:
    from bead import age

_LIMIT_S = 3_600.0
_WRONG = 4
_IDENTITY = "AGE-SECRET-KEY-PQ-1"
_EPILOGS = {
    "backup": """\
Writes one encrypted file for each file of the home, only for those that are new or have changed, and checks every one
that is there. It needs no passphrase: it encrypts for the vault's recipient, or for `backup.recipient`. With
`backup.dir` in config.yaml the scheduler does it every night. What you forget goes from every backup that can be
reached at once, and from the others when they are written the next time; the receipt names those.

Exit code 4 with --verify when something in the backup is not as it was written.

examples:
  bead vault init                             once
  bead backup /media/stick/bead
  bead backup /media/stick/bead --verify      write nothing, compare
""",
    "restore": """\
Decrypts a backup into a home that is empty, verifies every file, and takes out again what was forgotten since: by the
tombstones in the backup, those that lie in the home, and those of --forgotten. Asks for the vault's passphrase; a
backup for another recipient needs --identity with a file that age-keygen -pq wrote.

examples:
  bead --home ~/.bead restore /media/stick/bead
  bead restore /media/stick/bead --forgotten ~/.bead-old
  bead restore /media/stick/bead --check       decrypt everything, write nothing
""",
}


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """A folder."""
    parser.epilog = _EPILOGS[name]
    parser.add_argument("folder", metavar="DIR", help="the folder of the backup")
    if name == "backup":
        parser.add_argument("--verify", action="store_true", help="write nothing, compare with what was written")
        return
    parser.add_argument("--identity", metavar="FILE", help="an age identity; default: the vault's, in the backup")
    parser.add_argument("--forgotten", metavar="HOME", help="a home whose tombstones count too")
    parser.add_argument("--check", action="store_true", help="decrypt everything, write nothing")


def run(args: argparse.Namespace, context: Context) -> int:
    """Write one, or bring one back."""
    folder = Path(args.folder).expanduser().absolute()
    if args.command == "backup":
        return _backup(folder, context, only_verify=args.verify)
    refuse_inside_harness(context.environ, "restore")
    return _restore(folder, args, context)


def _backup(folder: Path, context: Context, *, only_verify: bool) -> int:
    request = {"path": str(folder), "only_verify": only_verify}
    with opened(context, "store") as door:
        done: dict[str, Any] = door.call("store", "POST", "/v1/backup", request, timeout_s=_LIMIT_S)
    output = context.output
    if output.as_json:
        output.document(done)
    elif only_verify and done["wrong"]:
        output.text(f"{output.style('red', 'damaged')} {done['wrong']} of {done['files']} files in {folder}")
        output.text("  `bead backup` without --verify writes them again")
    elif only_verify:
        output.text(f"{output.style('green', 'whole')} {done['files']} files in {folder}")
    else:
        mended = f", {done['wrong']} were damaged and are mended" if done["wrong"] else ""
        output.text(f"{output.style('green', 'backed up')} {done['files']} files to {folder}")
        output.text(f"  {done['written']} written, {done['removed']} old ones removed{mended}")
    return _WRONG if only_verify and done["wrong"] else 0


def _restore(folder: Path, args: argparse.Namespace, context: Context) -> int:
    from bead.home import Home
    from bead_cli import runtime
    from bead_store import restoring

    who = runtime.read(context.home)
    if who is not None and runtime.is_running(who):
        raise StoreLocked(f"bead runs on {context.home}; stop it first: `bead down`")
    identity = _identity(folder, args.identity)
    if args.check:
        count = restoring.check(folder, identity)
        context.output.text(f"{context.output.style('green', 'whole')} {count} files can be restored from {folder}")
        return 0
    newer = Home(Path(args.forgotten).expanduser().absolute()) if args.forgotten else None
    if newer is not None and not newer.tombstone_key.exists():
        raise BadRequest(f"{newer.root} holds no tombstones (tombstone.key is missing)")
    done = restoring.restore(folder, context.layout(), identity, newer)
    if context.output.as_json:
        context.output.document(done._asdict())
        return 0
    context.output.text(f"{context.output.style('green', 'restored')} {done.files} files into {context.home}")
    if done.forgotten:
        context.output.text(f"  {done.forgotten} of them held what was forgotten since; that did not come back")
    return 0


def _identity(folder: Path, named: str | None) -> "age.Identity":
    """The identity in a file: in the clear, or under a passphrase that is asked for."""
    from bead import age
    from bead.age import passphrase as under_passphrase

    path = Path(named).expanduser() if named else folder / "identity.age"
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        if named:
            raise BadRequest(f"{path} does not exist") from None
        raise NoVault(f"{folder} is for a recipient of your own; name its identity: --identity FILE") from None
    except OSError as error:
        raise Refused(f"{path} cannot be read ({os.strerror(error.errno or 0)})") from None
    try:
        if data.startswith(b"age-encryption.org/"):
            data = under_passphrase.decrypt(data, passphrase.ask("passphrase of the vault: ", "the passphrase"))
        lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
        return age.Identity.parse(next(line for line in lines if line.startswith(_IDENTITY)))
    except age.NoIdentityMatched:
        raise WrongPassphrase("this passphrase does not open the backup") from None
    except (age.AgeError, StopIteration):
        raise Refused(f"{path} holds no identity that bead knows ({_IDENTITY}…)") from None
