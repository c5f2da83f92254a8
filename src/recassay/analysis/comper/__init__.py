"""ComPer: one score over five quality dimensions."""
