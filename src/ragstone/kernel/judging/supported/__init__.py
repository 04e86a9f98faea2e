"""Kind `supported`: whether contexts say what an answer says, without a model."""
