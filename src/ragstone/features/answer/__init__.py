"""Questions -> an answer sheet of a system, alone or in conversations."""
