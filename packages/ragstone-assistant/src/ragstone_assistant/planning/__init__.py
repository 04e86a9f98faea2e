"""The agent: thought, action, observation, until there is a reply."""
