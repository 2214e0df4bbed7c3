"""A CUDA runtime that runs work as late, or as early, as CUDA allows, as the judge of a rewrite."""
