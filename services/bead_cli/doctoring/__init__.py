"""What `bead doctor` looks at, one module a subject; each yields findings and changes nothing unless it is told to."""
