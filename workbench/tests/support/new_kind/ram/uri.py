def parse_uri(text, destroy):
    return None
