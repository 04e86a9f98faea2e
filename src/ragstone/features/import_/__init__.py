"""The flow `import`: its command, and what nobody else uses."""
