"""The command line: one function a command, and what the user is told and asked."""
