"""The plugin that tells opencode what `bead prime` says, where no base URL may be set: opencode runs no hooks.

Pure. One question a session and process; the text stays the same from request to request, so a provider's cache holds.
"""

import json

_PLUGIN = """\
// Written by `bead prime --opencode-plugin`. Tells each session what bead remembers, at the end of its system part.
import { spawn } from "node:child_process"

const PROGRAM = %(program)s
const LIMIT_MS = 5000

function ask(directory, session) {
  return new Promise((done) => {
    let said = ""
    const child = spawn(PROGRAM[0], [...PROGRAM.slice(1), "prime", "--hook-json", "--harness", "claude"], {
      cwd: directory,
      stdio: ["pipe", "pipe", "ignore"],
      timeout: LIMIT_MS,
    })
    child.on("error", () => done(""))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (piece) => (said += piece))
    child.on("close", () => {
      try {
        done(said.trim() ? JSON.parse(said).hookSpecificOutput.additionalContext : "")
      } catch {
        done("")
      }
    })
    child.stdin.end(JSON.stringify({ session_id: session, source: "startup" }))
  })
}

export const BeadPlugin = async ({ directory }) => {
  const told = new Map()
  return {
    "experimental.chat.system.transform": async (input, output) => {
      const session = (input && input.sessionID) || "opencode"
      if (!told.has(session)) told.set(session, ask(directory, session))
      const text = await told.get(session)
      if (text) output.system.push(text)
    },
  }
}
"""


def plugin(program: list[str]) -> str:
    """The file's text; `program` is how bead is started."""
    return _PLUGIN % {"program": json.dumps(program)}
