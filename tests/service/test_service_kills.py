"""A service that is killed loses nothing that it acknowledged, and counts nothing twice."""

import pytest

from helpers.service.worker_kills import STEPS, kill_often


def test_what_has_ended_is_ended_whenever_one_asks_and_cannot_be_killed_again(nursery, tmp_path):
    workers = [nursery.start(str(tmp_path / f"{i}.db"), dies=1) for i in range(4)]
    for worker in (*workers, *workers):
        assert worker.ended()
        worker.kill()
        assert worker.state() == "ended"
        assert not worker.begins()


@pytest.mark.slow
def test_kills_lose_nothing_and_count_nothing_twice(nursery, database):
    killed = kill_often(nursery, database, 30, failing=40)
    assert set(killed.steps) == set(STEPS)
    assert min(killed.decisions, killed.rewards, killed.messages) > 30


@pytest.mark.parametrize("mutant", ["early", "cache", "ahead"])
def test_faults_of_the_write_path_are_noticed(nursery, tmp_path, mutant):
    with pytest.raises((AssertionError, KeyError)):
        kill_often(nursery, str(tmp_path / "prudent.db"), 30, mutant=mutant, failing=20 if mutant == "ahead" else 0)


@pytest.mark.parametrize("mutant", ["hasty", "forgetful"])
def test_faults_of_the_outbox_are_noticed(nursery, tmp_path, mutant):
    steps = ["before webhook", "after webhook"]
    with pytest.raises(AssertionError):
        kill_often(nursery, str(tmp_path / "prudent.db"), 4, mutant=mutant, steps_of=steps)


@pytest.mark.slow
def test_kills_of_the_whole_server_lose_nothing(nursery, tmp_path):
    killed = kill_often(nursery, str(tmp_path / "prudent.db"), 12, web=True)
    assert min(killed.decisions, killed.rewards) > 12
