"""Facts of a whole program that are found before it is run, from the IR alone."""
