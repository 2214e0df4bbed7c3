"""What programs use instead of the command line (`cudafix.check`), and what the commands are made of."""
