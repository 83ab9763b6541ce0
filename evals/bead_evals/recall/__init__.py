"""`bead eval recall`: which facts the gates choose for recorded turns, side by side (D7)."""
