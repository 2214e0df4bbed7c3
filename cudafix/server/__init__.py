"""`cudafix server`: the findings of a workspace while its files are edited, for editors that speak LSP."""
