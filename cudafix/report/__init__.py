"""What the user reads: the terminal report and the pages of `cudafix explain`."""
