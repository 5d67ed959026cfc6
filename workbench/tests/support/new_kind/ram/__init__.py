"""Memory of the engine: the least that a kind of target has to say."""
