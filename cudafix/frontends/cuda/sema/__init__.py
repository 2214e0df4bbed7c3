"""What names and types mean: declarations, lookup, references, owners, device code."""
