"""The base class of all generated classes."""

from pydantic import BaseModel, ConfigDict


class Message(BaseModel):
    """Base of the classes of the contract. Validators are built at first use, since a command reads few classes."""

    model_config = ConfigDict(defer_build=True)
