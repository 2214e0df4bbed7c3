"""From syntax trees to the IR: statements, expressions, calls, objects."""
