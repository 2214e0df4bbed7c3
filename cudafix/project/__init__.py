"""What lies on the disk: which files there are, what they include, how they are built, and what is configured."""
