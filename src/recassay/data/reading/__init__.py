"""How one file or frame becomes interactions: layout, columns, values, times, ids, repeated pairs."""
