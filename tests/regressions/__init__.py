"""Every fixture, and messages and defects that were wrong once."""
