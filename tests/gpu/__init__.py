"""`cudafix verify` and its records, without a GPU."""
