"""`--settle`: what is planned, kept, ended in time, and said; with runs that no engine has made."""

from pathlib import Path

import pytest
from page_runs import store_page_run

from assay.model.base import AssayError
from assay.run.added_repeats import (
    AddedRounds,
    add_repeats,
    current_settling,
    end_added_repeats,
    interleaved,
    missing_repeats,
    study_change_lines,
)
from assay.run.answers import compute_answers
from assay.store import RunStore


def opened(root: Path, name: str) -> RunStore:
    return RunStore.open(store_page_run(root, name), write=True)


def test_the_page_and_the_command_say_the_same_time(tmp_path: Path) -> None:
    with opened(tmp_path, "all-unstable") as store:
        page = compute_answers(store).page
        said: list[str] = []
        assert add_repeats(store, said.append)
    assert page is not None
    step = page.next
    assert step.endswith(f"assay run {store.folder.name} --resume --settle")
    time = said[0].rsplit("at most ", 1)[1]
    assert f"in at most {time}, " in step


def test_only_the_repeats_of_undecided_cases_are_asked_for_in_turns(tmp_path: Path) -> None:
    with opened(tmp_path, "all-unstable") as store:
        before, wanted = set(store.order()), missing_repeats(store)
        add_repeats(store, lambda _: None)
        pending = store.pending()
        assert dict(wanted.repeats) == {
            case: sum(one == case for one, _ in pending) for case in {case for case, _ in pending}
        }
        assert before <= set(store.order()) and not before & set(pending)
        first = pending[: len(wanted.repeats)]
        assert {case for case, _ in first} == set(wanted.repeats), "one of each case, then the next"
        info = store.info()
        assert (info.status, info.planned) == ("running", info.finished + len(pending))
        # What a crash leaves goes on as it was planned, with no further look.
        assert add_repeats(store, lambda _: None) and store.pending() == pending
        assert len(store.info().added_repeats) == 1 and info.look_count == 2


def test_no_round_begins_that_would_end_too_late(tmp_path: Path) -> None:
    now = [100.0]
    with opened(tmp_path, "all-unstable") as store:
        add_repeats(store, lambda _: None)
        settling = current_settling(store)
        assert settling is not None
        rounds = AddedRounds(store, store.cases(), settling, now[0], lambda: now[0])
        assert rounds.settle_before_round(9) == {}
        now[0] += settling.seconds - settling.after - 0.05
        fewer = rounds.settle_before_round(10)
        assert set(fewer) == set(settling.repeats) and not store.pending()
        end_added_repeats(store, settling)
        assert current_settling(store) is None
        store.set_status("complete")
        assert add_repeats(store, lambda _: None), "it can be asked for again"


@pytest.mark.parametrize(
    ("name", "words"), [("stopped-and-cached", "not finished"), ("plain", ""), ("all-client-bound", "")]
)
def test_runs_without_anything_to_add(tmp_path: Path, name: str, words: str) -> None:
    said: list[str] = []
    with opened(tmp_path, name) as store:
        before = store.order()
        if words:
            with pytest.raises(AssayError, match=words):
                add_repeats(store, said.append)
        else:
            assert not add_repeats(store, said.append) and said
        assert store.order() == before and not store.info().added_repeats


def test_a_changed_study_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with opened(tmp_path, "all-unstable") as store:
        assert study_change_lines(store) == []
        file = Path(store.base_folder(), "all-unstable.yaml")
        monkeypatch.setattr(RunStore, "base_folder", lambda self: str(tmp_path))
        file = tmp_path / "all-unstable.yaml"
        file.write_text(store.study_text())
        assert study_change_lines(store) == []
        file.write_text("study: another\n")
        (line,) = study_change_lines(store)
        assert "has changed since" in line


def test_in_turns() -> None:
    assert interleaved({"a": 3, "b": 5}, {"a": 2, "b": 1}) == [("a", 4), ("b", 6), ("a", 5)]
