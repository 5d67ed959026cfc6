"""What all generated classes share."""

from pydantic import BaseModel, ConfigDict


class Message(BaseModel):
    """What checks the fields is made when the first message of a class is read: a command reads few of them."""

    model_config = ConfigDict(defer_build=True)
