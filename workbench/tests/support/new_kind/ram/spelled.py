def spelled(text, destroy):
    return None
