"""Is a coding agent typing? One table of what agents set in the environment of the commands they run.

Pure. Inside a harness the CLI speaks for the agent, never for the person (I4): a false alarm costs one word of trust,
a miss would let an agent write as the person, so a doubtful variable counts.
"""

from collections.abc import Mapping

from bead.errors import NotAllowed

# (harness, names; a name ending in `_` stands for every variable that starts with it)
_MARKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("claude", ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID")),
    ("codex", ("CODEX_",)),
    ("gemini", ("GEMINI_CLI",)),
    ("qwen", ("QWEN_CODE",)),
    ("opencode", ("OPENCODE", "OPENCODE_")),
    ("copilot", ("COPILOT_CLI", "COPILOT_AGENT_")),
    ("cursor", ("CURSOR_AGENT", "CURSOR_TRACE_ID")),
    ("cline", ("CLINE_ACTIVE",)),
    ("goose", ("GOOSE_TERMINAL",)),
    ("amp", ("AMP_CURRENT_THREAD_ID",)),
    ("agent", ("AI_AGENT", "AGENT_SESSION_ID")),
)


def harness_in(environ: Mapping[str, str]) -> str | None:
    """The harness that runs this command, or None for a person's own terminal."""
    for harness, names in _MARKS:
        for variable, value in environ.items():
            if value and any(variable == name or (name[-1] == "_" and variable.startswith(name)) for name in names):
                return harness
    return None


def refuse_inside_harness(environ: Mapping[str, str], what: str) -> None:
    """Raise NotAllowed when an agent is typing: this decision is a person's (I4)."""
    harness = harness_in(environ)
    if harness:
        raise NotAllowed(f"'{what}' is a person's decision, and this runs inside {harness}; use a terminal of your own")


def trust_of(harness: str | None) -> str:
    """The trust of a write from here: an agent's words are never the person's."""
    return "user_stated" if harness is None else "agent_observed"
