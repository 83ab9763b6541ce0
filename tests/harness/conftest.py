"""Makes the harness fixtures known in this folder."""

from tests.harness.fixtures import claude_code, namespace, provider

__all__ = ["claude_code", "namespace", "provider"]
