"""Rows to come."""

from __future__ import annotations

from cudafix.models.rows import Table

TABLES: tuple[Table, ...] = ()
