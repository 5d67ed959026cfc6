"""Values that models have in common are stored once, and nothing else changes."""

from builders import make_analysis

from assay.model.frozen import Frozen
from assay.model.shared_values import SharedValues


class Part(Frozen):
    """A model in a model."""

    name: str
    sizes: dict[str, float]
    more: "tuple[Part, ...]" = ()
    zero: float = 0.0


def made() -> Part:
    text = (
        '{"name": "a long name", "sizes": {"x": 12345.5}, "more": [{"name": "inner name", "sizes": {}, "zero": -0.0}]}'
    )
    return Part.model_validate_json(text)


def test_equal_values_become_one_object_and_models_stay_equal() -> None:
    first, second = made(), made()
    assert first.sizes["x"] is not second.sizes["x"]
    shared = SharedValues()
    for model in (first, second):
        shared.share(model)
    assert first.name is second.name and first.sizes["x"] is second.sizes["x"]
    assert (
        first.more[0].name is second.more[0].name and first.more[0].model_fields_set is second.more[0].model_fields_set
    )
    assert first == second == made() and str(first.more[0].zero) == "-0.0"


def test_a_copy_of_a_shared_model_has_its_own_field_names() -> None:
    first, second = made(), made()
    shared = SharedValues()
    for model in (first, second):
        shared.share(model)
    changed = first.model_copy(update={"zero": 1.0})
    assert "zero" in changed.model_fields_set and "zero" not in second.model_fields_set


def test_an_analysis_stays_as_it_was() -> None:
    analysis = make_analysis()
    before = analysis.model_dump()
    SharedValues().share(analysis)
    assert analysis.model_dump() == before
