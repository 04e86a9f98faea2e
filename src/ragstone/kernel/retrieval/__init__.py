"""Chunks and questions -> rankings: BM25, dense, hybrid; and the rank measures."""
