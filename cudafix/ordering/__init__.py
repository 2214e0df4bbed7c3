"""The ordering engine: what may still be pending for whom, in the original and in the rewritten program."""
