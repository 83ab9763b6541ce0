"""The grooming job: proposes, never deletes. For now it starts, answers for its health, and stops."""
