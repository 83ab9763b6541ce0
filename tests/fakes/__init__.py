"""Stand-ins for what bead talks to, built for tests and used over real sockets."""
