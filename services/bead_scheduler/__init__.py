"""When things run. For now it starts, answers for its health, and stops."""
