"""The loopback bus: HTTP and JSON between services, or the same calls without a socket inside `bead up`."""
