"""The interpreter: runs a program over the lockstep state of the original and the rewrite."""
