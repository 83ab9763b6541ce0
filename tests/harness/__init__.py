"""Real coding agents from npm, run without any network but a loopback of their own."""
