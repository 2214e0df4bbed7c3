"""The order program of a function, its summary, and what a rewrite would lose."""
