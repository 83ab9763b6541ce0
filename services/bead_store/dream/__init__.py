"""What the dream service lets the store write, and how a whole night is taken back."""
