"""The credential scan: finds secrets in assembled text and replaces each by `[REDACTED:<rule>]`. Invariants I12, I13.

Pure but for reading its own rule files once. Which text is scanned and when is the caller's affair: the store scans
before a write, dream before a provider call. `<private>` spans are removed elsewhere. What the scan does not promise:
plain words used as passwords, secrets that are encoded (base64, URL escapes) or cut into pieces, unknown formats
without a telling name beside them.
"""

from bead.scan.engine import Scanner
from bead.scan.rules import Exceptions
from bead.scan.spans import Hit, Redaction

__all__ = ["Exceptions", "Hit", "Redaction", "Scanner"]
