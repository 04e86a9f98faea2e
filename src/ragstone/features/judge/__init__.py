"""An answer sheet -> judgements."""
