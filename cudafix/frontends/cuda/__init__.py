"""CUDA C++: parsed by tree-sitter, once for each configuration of its conditionals that may matter."""
