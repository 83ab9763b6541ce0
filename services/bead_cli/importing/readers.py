"""The table of programs that `bead import --from` reads."""

from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple, cast

from bead_cli.importing.records import Reader


class Program(NamedTuple):
    """One row; the module is imported when it is asked for."""

    reader: str
    reads: str
    """What PATH is, for a person."""
    is_history: bool = False
    """Past sessions for the raw log, not memories."""

    def load(self) -> Reader:
        """The function that reads."""
        module, _, name = self.reader.rpartition(".")
        return cast(Reader, getattr(import_module(f"bead_cli.importing.{module}"), name))


PROGRAMS: Mapping[str, Program] = {
    "claude-md": Program("markdown.read_instructions", "a CLAUDE.md"),
    "agents-md": Program("markdown.read_instructions", "an AGENTS.md"),
    "gemini-md": Program("markdown.read_instructions", "a GEMINI.md"),
    "mcp-memory": Program("jsonstores.read_mcp_memory", "the MCP memory server's memory.json or .jsonl"),
    "basic-memory": Program("markdown.read_basic_memory", "a folder of basic-memory's notes, or one note"),
    "mem0": Program("jsonstores.read_mem0", "a JSON export of mem0"),
    "claude-mem": Program("claudemem.read_claude_mem", "claude-mem.db"),
    "beads": Program("beads.read_beads", "JSON lines with _type: memory"),
    "claude-transcripts": Program("transcripts.read_claude", "a session's .jsonl of Claude Code, or a folder", True),
    "codex-transcripts": Program("transcripts.read_codex", "a rollout of Codex, or a folder of them", True),
}
