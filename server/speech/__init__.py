"""Audio and text as plain data: PCM, endpointing by samples, sentences, fluency figures."""
