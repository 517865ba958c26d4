"""The pinned Kokoro in a graph that runs faster, made once on this machine, and the choice between the two."""
