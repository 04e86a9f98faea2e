"""`ragstone bench answerers`: models, prompts and systems that answer, under each condition."""
