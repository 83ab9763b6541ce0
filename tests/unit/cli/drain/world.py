"""A person's home with memories of every agent in it, and a store that remembers what it was handed."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from bead.drain.memory import MAX_BODY_BYTES, memhash, normal
from bead.errors import BeadError
from bead.wire.drafts import CLIS, DraftAnswer, DraftVerb, NewDraft
from bead_cli.drain import places
from bead_cli.drain.draining import Bus, Report, Wish, drain

UID = os.getuid()
CRLF = "\ufeff- one \U0001f680\r\n  - below\r\n- [Role](role.md) — who\r\n## Build\r\n```\r\n- no bullet\r\n```\r\n"
ROLE = "---\nname: role\nmetadata:\n  type: user\n---\n\nThe user is a data engineer.\n"
GEMINI = "# Mine\n- rule\n\n## Gemini Added Memories\n- tabs\n- tabs\n\n## Later\n- keep\n"


@dataclass
class Kept:
    """What a store was handed; `trouble` is raised for the memory with this number."""

    drafts: dict[str, NewDraft] = field(default_factory=dict)
    tags: dict[str, set[str]] = field(default_factory=dict)
    trouble: dict[int, BeadError] = field(default_factory=dict)
    calls: int = 0

    def add(self, new: NewDraft) -> DraftAnswer:
        self.calls += 1
        if error := self.trouble.get(self.calls):
            raise error
        hash = memhash(new.body)
        verb = DraftVerb.UNCHANGED if hash in self.drafts else DraftVerb.CREATED
        self.drafts.setdefault(hash, new)
        self.tags.setdefault(hash, set()).update(new.tags)
        whole = len(normal(new.body).encode()) <= MAX_BODY_BYTES
        return DraftAnswer(verb=verb, id=hash, is_whole=whole)

    @property
    def bodies(self) -> set[str]:
        return {normal(new.body) for new in self.drafts.values()}


@dataclass
class World:
    """`root` is HOME."""

    root: Path
    kept: Kept = field(default_factory=Kept)
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        return self.root / "shop"

    @property
    def claude(self) -> Path:
        return self.root / ".claude" / "projects" / places.slug_of(str(self.project)) / "memory"

    def put(self, path: str | Path, text: str) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in target.relative_to(self.root).parents:
            (self.root / folder).chmod(0o700)
        target.write_bytes(text.encode())
        return target

    def fill(self) -> "World":
        self.project.mkdir(parents=True, exist_ok=True)
        self.put(self.claude / "MEMORY.md", CRLF)
        self.put(self.claude / "role.md", ROLE)
        self.put(".gemini/GEMINI.md", GEMINI)
        self.put(".codex/memories/MEMORY.md", "codex says\n")
        self.put(".codex/memories/raw_memories.md", "raw\n")
        self.put(".qwen/memories/MEMORY.md", "- tabs\n")
        return self

    def drain(self, *clis: str, usual: bool = False, **wish: bool | str) -> Report:
        environ = {"HOME": str(self.root), **self.environ}
        found = places.find(environ, clis or CLIS, UID, usual=usual)
        return drain(found, Bus(self.kept.add, lambda directory: Path(directory).name), Wish(**wish), UID)  # type: ignore[arg-type]
