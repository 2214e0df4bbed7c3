"""Syntax trees: what the grammar stumbles over is masked, so that every offset still fits."""
