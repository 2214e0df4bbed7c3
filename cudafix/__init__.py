"""Migrate `cudaMalloc` / `cudaFree` to stream-ordered allocation, with a proof of ordering or a named refusal."""

from __future__ import annotations

__version__ = "0.1.0"
