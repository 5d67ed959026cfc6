"""Targets reached over HTTP: their common fields in a job of the engine, and what a run does with them."""

from typing import Any

from assay.contract._answers import BackendCapabilities, Look
from assay.contract._generated import Balance
from assay.kinds.handler import Claimer, Cleaner, LayerFinder, Prober, ServiceHandler
from assay.kinds.http import HttpTarget, environment_endpoint
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.result.layers import Layer, LayerKind
from assay.servers.kinds import load_kind


def common_job_fields(
    target: HttpTarget, directory: str, run: str | None, destroy: bool, servers: int | None
) -> dict[str, Any]:
    """Return the job fields that all kinds share. Credentials are not among them: the engine finds its own."""
    return {
        "endpoints": list(target.endpoint_urls[:servers]),
        "balance": Balance(target.balance),
        "root": target.prefix,
        "directory": directory,
        "run": run,
        "destroy": destroy,
        "region": target.region,
        "profile": target.profile,
        "ca_file": target.ca_file,
        "timeout_ns": target.timeout,
    }


class HttpHandler(ServiceHandler[HttpTarget]):
    """Handles a target that only engines have credentials for."""

    def claim(self, claimer: Claimer) -> None:
        """See `TargetHandler.claim`: nothing to record for a started server, whose data is removed with it."""
        if not self.target.server:
            super().claim(claimer)

    def probe(self, prober: Prober) -> BackendCapabilities:
        """See `TargetHandler.probe`.

        Raises:
            AssayError: The environment sets an endpoint that other AWS programs would use and this study ignores, or
                the engine refuses the target.
        """
        name, _ = environment_endpoint(self.target.kind)
        if name and not self.target.endpoints and not self.target.server:
            message = (
                f"{name} is set, and the study names no endpoint: the run would measure {self.target.aws_endpoint}"
            )
            raise AssayError(
                message, f"write endpoint: in the study, with that or with {self.target.aws_endpoint}", EXIT_REFUSED
            )
        return super().probe(prober)

    def clean(self, directory: str, cleaner: Cleaner) -> list[str]:
        """See `TargetHandler.clean`: removes only what the job itself made, since others may store data there, too."""
        return cleaner.job_leftovers(self.target.job_target(directory, destroy=True))

    def layers(self, filesystem: str, look: Look | None, layer_finder: LayerFinder) -> tuple[Layer, ...]:
        """See `TargetHandler.layers`: layers behind the network are not visible."""
        target = self.target
        if target.server:
            kind: LayerKind = "memory" if load_kind(target.server).in_memory else "program"
            return (Layer(kind=kind, name=target.server, detail="a server that Assay started on this machine"),)
        return (Layer(kind="network", name=target.kind, detail=f"endpoints: {', '.join(target.endpoint_urls)}"),)
