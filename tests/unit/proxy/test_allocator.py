"""Tuning the allocator, in a process of its own: it lasts as long as the process."""

import platform
import subprocess
import sys

import pytest


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be tuned")
def test_glibc_accepts_the_settings() -> None:
    program = "from bead_proxy.allocator import tune_allocator; print(tune_allocator())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout == "True\n"
