"""From a template and options to an order: parameters, expiry, price, and the budget. Pure but for reading files."""

import datetime as dt
import getpass
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.money.amount import format_money
from assay.model.money.price import PriceBook
from assay.model.units import about_duration, parse_duration
from assay.model.user_files import read_user_file
from assay.rooms.deploy.model.priced import Prices
from assay.rooms.deploy.model.stack import TIME_FORMAT
from assay.rooms.deploy.work.life.charges import price_things
from assay.rooms.deploy.work.life.creation import Failure, Order
from assay.rooms.deploy.work.life.planned import planned_things
from assay.rooms.deploy.work.life.resolve import Resolver
from assay.rooms.deploy.work.life.template import (
    TemplateBody,
    all_values,
    body_of,
    parameter_values,
    parse_template,
    secret_parameters,
)

MAX_FILE_BYTES = 1 << 20
MIN_HOURS, MAX_DAYS = 0.25, 365
NANOSECONDS = 10**9
MAX_RUN_NAME = 47
"""Characters of a stack's name in that of its run, which has 63 at most with the time."""


@dataclass(frozen=True)
class Options:
    """What the user chooses about a stack, besides its template.

    Attributes:
        name: Its name.
        region: Its region.
        parameters: Parameter -> value.
        expires: Time until it ends by itself, such as 8h.
        budget: Most money until then; None: no limit.
        failure: What becomes of it if its creation fails.
        owner: Its owner; empty: the user of this machine.
    """

    name: str
    region: str
    parameters: Mapping[str, str]
    expires: str
    budget: Decimal | None = None
    failure: Failure = Failure.ROLLBACK
    owner: str = ""


@dataclass(frozen=True)
class PricedOrder:
    """An order with its price.

    Attributes:
        order: The order.
        prices: Of all that it makes.
        hours: Hours until it ends by itself.
        end: When it does.
    """

    order: Order
    prices: Prices
    hours: Decimal
    end: dt.datetime

    @property
    def most(self) -> Decimal:
        """The most that it costs until it ends by itself, without what is charged by use or has no known price."""
        return self.prices.most * self.hours


def read_body(path: str) -> TemplateBody:
    """Return the template in a file.

    Raises:
        AssayError: It cannot be read, is no template, or is too long.
    """
    data = read_user_file(path, path, "give a CloudFormation template", MAX_FILE_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise AssayError(f"{path}: is not UTF-8 text", "give a CloudFormation template") from None
    return body_of(parse_template(text, path), text, path)


def check_input(body: TemplateBody, options: Options, now: dt.datetime) -> None:
    """Check expiry and parameters, for which neither credentials nor a region are needed.

    Raises:
        AssayError: One is wrong.
    """
    hours = expiry_hours(options.expires)
    parameter_values(
        body.template, options.parameters, _automatic(options, now + dt.timedelta(hours=float(hours)), now)
    )


def _automatic(options: Options, end: dt.datetime, now: dt.datetime) -> dict[str, str]:
    """Return the values that Assay gives to parameters that the user leaves out."""
    run = options.parameters.get("RunName", f"{options.name[:MAX_RUN_NAME]}-{now:%Y%m%d-%H%M%S}")
    owner = options.owner or getpass.getuser()
    found = {"RunName": run, "Owner": owner, "ExpiryTime": end.strftime(TIME_FORMAT)}
    if options.budget is not None and "BudgetEmail" in options.parameters:
        found["BudgetAmount"] = str(math.ceil(options.budget))
    return found


def make_order(body: TemplateBody, options: Options, book: PriceBook | None, now: dt.datetime) -> PricedOrder:
    """Return what is to be made, with its price.

    Raises:
        AssayError: A parameter, the expiry or the budget is wrong, or the budget is lower than the price.
    """
    hours = expiry_hours(options.expires)
    # Whole seconds: the tag has no finer ones.
    end = (now + dt.timedelta(hours=float(hours))).replace(microsecond=0)
    automatic = _automatic(options, end, now)
    run, owner, expires = automatic["RunName"], automatic["Owner"], automatic["ExpiryTime"]
    values = parameter_values(body.template, options.parameters, automatic)
    pseudo = {"AWS::Region": options.region, "AWS::StackName": options.name, "AWS::Partition": "aws"}
    things = planned_things(Resolver(body.template, all_values(body.template, values), pseudo))
    secrets = secret_parameters(body.template)
    written = {key: value for key, value in options.parameters.items() if key not in secrets}
    order = Order(options.name, body, values, written, run, values.get("Owner", owner), expires, options.failure)
    priced = PricedOrder(order, price_things(things, book), hours, end)
    _check_budget(priced, options.budget)
    return priced


def expiry_hours(written: str) -> Decimal:
    """Return an expiry such as `8h` or `2d` in hours.

    Raises:
        AssayError: It is no duration, or out of bounds.
    """
    try:
        nanoseconds = parse_duration(written)
    except ValueError as error:
        raise AssayError(f"--expires: {error}", "write it such as 8h or 2d") from None
    hours = Decimal(nanoseconds) / (3600 * NANOSECONDS)
    if not Decimal(str(MIN_HOURS)) <= hours <= 24 * MAX_DAYS:
        raise AssayError(f"--expires {written}: must be from 15min to {MAX_DAYS}d", "write it such as 8h or 2d")
    return hours


def _check_budget(priced: PricedOrder, budget: Decimal | None) -> None:
    if budget is None or priced.most <= budget:
        return
    currency = priced.prices.currency
    seconds = float(budget / priced.prices.most) * 3600
    fitting = f"at this price it lasts {about_duration(seconds)}: shorten --expires, or make the stack smaller"
    raise AssayError(
        f"until it ends the stack costs {format_money(priced.most, currency)}, "
        f"more than the budget of {format_money(budget, currency)}",
        fitting,
        EXIT_REFUSED,
    )


def parse_budget(written: str) -> Decimal | None:
    """Return `--budget` as money; None if it is empty.

    Raises:
        AssayError: It is no amount above 0.
    """
    from pydantic_core import PydanticCustomError

    from assay.model.money.amount import parse_decimal

    if not written:
        return None
    try:
        amount = parse_decimal(written)
    except PydanticCustomError as error:
        raise AssayError(f"--budget: {(error.context or {}).get('message', written)}", "write it such as 25") from None
    if not amount:
        raise AssayError("--budget 0: nothing can be made for it", "write an amount such as 25")
    return amount
