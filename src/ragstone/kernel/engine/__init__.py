"""Where rows run: this process, or the workers of a Ray cluster."""
