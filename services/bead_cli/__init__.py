"""The `bead` command. It composes the services for `bead up`; everything else it does as a client of curate."""
