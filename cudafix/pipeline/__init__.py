"""From files to results: programs, clusters, batches and who proves them, and what earlier runs found out."""
