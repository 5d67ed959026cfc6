"""`assay deploy`: the group; each command is a file beside this one."""

from assay.rooms.deploy.commands import audit, down, hosts, listing, status, template, up
from assay.terminal.command_group import group

app = group()


@app.callback()
def command() -> None:
    """Build storage designs in a cloud or on hosts that exist, and remove them again.

    Example: `assay deploy template nfs-gp3 --set volumes=4 > stack.yaml`
    """


app.command("template")(template.command)
app.command("hosts")(hosts.command)
app.command("up")(up.command)
app.command("status")(status.command)
app.command("down")(down.command)
app.command("list")(listing.command)
app.command("audit")(audit.command)
