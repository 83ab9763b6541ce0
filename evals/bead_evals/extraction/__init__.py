"""How well a night learns: what the rules make of recorded replies."""
