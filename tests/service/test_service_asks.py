"""Decisions and rewards: each once, whatever is repeated."""

import pytest

from prudent.service import messages as m
from prudent.service.problems import RequestError
from prudent.service.spec import decoded

SPEC = {
    "name": "shop",
    "arms": ["A", "B", "C"],
    "policy": "mv-lcb(rho=1)",
    "horizon": 1000,
    "support": [0, 1],
    "seed": 1,
}


def made(service, **more):
    """The name of a new experiment."""
    spec = decoded({**SPEC, **more})
    service.create(spec)
    return spec.name


def asked(service, name="shop", key=None, **request):
    """The only decision of a request."""
    (decision,) = service.run(name, m.Ask(**request), key=key).decisions
    return decision


def refused(kind, act, *given, **more):
    """The problem of a request that is refused with this kind."""
    with pytest.raises(RequestError) as caught:
        act(*given, **more)
    assert caught.value.kind == kind, caught.value
    return caught.value


def test_the_same_key_gives_the_same_decision(service):
    made(service)
    first = service.run("shop", m.Ask(), key="k")
    second = service.run("shop", m.Ask(), key="k")
    assert (first.again, second.again) == (False, True)
    assert first.decisions == second.decisions
    assert asked(service).decision != first.decisions[0].decision
    refused("key-reused", service.run, "shop", m.Ask(count=2), key="k")


def test_a_reward_counts_once(service):
    made(service)
    decision = asked(service)
    first = service.run("shop", m.Tell(0.5), decision=decision.decision)
    second = service.run("shop", m.Tell(0.5), decision=decision.decision)
    assert (first.again, second.again) == (False, True)
    other = refused("other-reward", service.run, "shop", m.Tell(0.6), decision=decision.decision)
    assert other.extra == {"stands": 0.5}
    assert [known.pulls for known in service.view("shop").state.agent.estimates()] == [1, 0, 0]


def test_a_sticky_unit_keeps_its_decision(service):
    made(service, sticky=True)
    first, second = asked(service, unit="ann"), asked(service, unit="ann")
    assert first == second
    assert asked(service, unit="bob").decision != first.decision
    refused("invalid", service.run, "shop", m.Ask())
    service.run("shop", m.BODIES["pause"]("lunch"))
    assert asked(service, unit="ann") == first
    refused("not-running", service.run, "shop", m.Ask(unit="cat"))


def test_a_forgotten_unit_is_unknown(service):
    made(service, sticky=True)
    before = asked(service, unit="ann")
    service.run("shop", m.BODIES["forget"]("she asked us to"))
    after = asked(service, unit="ann")
    assert after.decision != before.decision
    assert asked(service, unit="ann") == after
    assert service.verify("shop").ok


def test_a_sticky_unit_whose_decision_was_withdrawn_gets_a_new_one(service):
    made(service, sticky=True)
    first = asked(service, unit="ann")
    service.run("shop", m.Withdraw(), decision=first.decision)
    second = asked(service, unit="ann")
    assert second.decision != first.decision
    assert asked(service, unit="ann") == second


def test_a_reward_waits_for_its_window(service, clock):
    made(service, rewards={"window": "1 h", "default": 0})
    late, early = asked(service), asked(service)
    recorded = service.run("shop", m.Tell(1), decision=early.decision)
    assert recorded.counted == "when the window closes"
    service.close_windows()
    assert sum(known.pulls for known in service.view("shop").state.agent.estimates()) == 0
    clock.advance(3600)
    service.close_windows()
    known = service.view("shop").state.agent.estimates()
    assert [(one.pulls, one.mean) for one in known] == [(1, 0.0), (1, 1.0), (0, None)]
    assert service.decision(late.decision).state == "defaulted"
    assert service.decision(early.decision).state == "done"
    refused("window-closed", service.run, "shop", m.Tell(1), decision=late.decision)
    assert service.run("shop", m.Tell(1), decision=early.decision).again


def test_a_reward_after_its_window_is_refused_even_before_the_sweep(service, clock):
    made(service, rewards={"window": 60, "default": 0})
    decision = asked(service)
    clock.advance(60)
    refused("window-closed", service.run, "shop", m.Tell(1), decision=decision.decision)


def test_without_a_default_a_decision_expires(service, clock):
    made(service, rewards={"window": 60})
    decision = asked(service)
    clock.advance(60)
    service.close_windows()
    assert service.decision(decision.decision).state == "expired"
    assert service.view("shop").state.agent.estimates()[0].open_asks == 0


def test_at_once_counts_when_told(service, clock):
    made(service, rewards={"window": 60, "default": 0, "count": "at-once"})
    first, second = asked(service), asked(service)
    assert service.run("shop", m.Tell(1), decision=second.decision).counted == "now"
    clock.advance(60)
    service.close_windows()
    assert [one.mean for one in service.view("shop").state.agent.estimates()] == [0.0, 1.0, None]
    assert service.decision(first.decision).state == "defaulted"


def test_a_decision_that_waits_has_no_window_until_it_is_used(service, clock):
    made(service, rewards={"window": 60, "default": 0})
    decision = asked(service, activate="later")
    clock.advance(1000)
    service.close_windows()
    refused("conflict", service.run, "shop", m.Tell(1), decision=decision.decision)
    used = service.run("shop", m.Activate(), decision=decision.decision)
    assert (used.state, used.due) == ("open", clock() + 60_000)
    assert service.run("shop", m.Activate(), decision=decision.decision) == used
    clock.advance(60)
    service.close_windows()
    assert service.decision(decision.decision).state == "defaulted"


def test_what_was_not_used_is_withdrawn_once(service):
    made(service)
    decision = asked(service)
    for _ in range(2):
        assert service.run("shop", m.Withdraw(), decision=decision.decision).state == "withdrawn"
    refused("conflict", service.run, "shop", m.Tell(1), decision=decision.decision)
    assert service.view("shop").state.agent.estimates()[0].open_asks == 0


def test_many_rewards_have_a_result_each(service):
    made(service)
    decision = asked(service)
    results = service.run(
        "shop",
        m.TellMany(
            [
                m.Told(0.5, decision=decision.decision),
                m.Told(0.5, decision=decision.decision),
                m.Told(0.6, decision=decision.decision),
                m.Told(2.0, decision=decision.decision),
                m.Told(0.1, arm="B", key="old-1"),
                m.Told(0.1, arm="B", key="old-1"),
                m.Told(0.2, arm="B", key="old-1"),
                m.Told(0.2, arm="D", key="old-2"),
                m.Told(0.2),
                m.Told(0.2, decision="1-99-abcdef"),
            ]
        ),
    ).results
    assert [one.status for one in results] == [201, 200, 409, 422, 201, 200, 422, 422, 422, 404]
    assert [one.pulls for one in service.view("shop").state.agent.estimates()] == [1, 1, 0]


def test_subsets_and_retired_arms(service):
    made(service)
    assert asked(service, among=["C"]).arm == "C"
    service.run("shop", m.BODIES["retire"]("C", "too slow"))
    refused("invalid", service.run, "shop", m.Ask(among=["C"]))
    refused("invalid", service.run, "shop", m.Ask(among=["Z"]))
    assert service.run("shop", m.BODIES["add"]("D", "new")).arms == ["A", "B", "D"]
    refused("conflict", service.run, "shop", m.BODIES["add"]("D", "new"))
    assert asked(service, among=["D"]).arm == "D"
    assert service.verify("shop").ok


def test_pause_freeze_resume_stop(service):
    made(service, fallback="A")
    service.run("shop", m.BODIES["pause"]("lunch"))
    away = asked(service)
    assert (away.decision, away.arm, away.why) == (None, "A", "the experiment is paused")
    refused("conflict", service.run, "shop", m.BODIES["pause"]("again"))
    assert service.run("shop", m.BODIES["freeze"]("B", "all B")).frozen_to == "B"
    assert {asked(service).arm for _ in range(5)} == {"B"}
    refused("not-running", service.run, "shop", m.Ask(among=["A"]))
    refused("conflict", service.run, "shop", m.BODIES["retire"]("B", "no"))
    service.run("shop", m.BODIES["resume"]("go"))
    decision = asked(service)
    service.run("shop", m.BODIES["stop"]("done"))
    assert asked(service).decision is None
    refused("not-running", service.run, "shop", m.Ask(among=["B"]))
    assert not service.run("shop", m.Tell(0.3), decision=decision.decision).again
    refused("conflict", service.run, "shop", m.BODIES["resume"]("no"))


def test_the_state_must_be_the_one_that_was_seen(service):
    made(service)
    seq = service.view("shop").state.seq
    refused("state-changed", service.run, "shop", m.BODIES["stop"]("why"), if_match=seq + 1)
    assert service.run("shop", m.BODIES["stop"]("why"), if_match=seq).status == "stopped"


def test_a_batch_and_its_merged_rewards(service):
    made(service)
    batch = service.run("shop", m.Split(90), key="b")
    assert batch.arms == {"A": 30, "B": 30, "C": 30}
    assert service.run("shop", m.Split(90), key="b") == m.Batch(batch.batch, batch.arms, batch.seed, again=True)
    given = m.Merge({"A": m.Statistics(30, 0.5, 0.1), "B": m.Statistics(10, 0.25, 0.0)})
    merged = service.run("shop", given, decision=batch.batch)
    assert (merged.rewards, merged.unused, merged.again) == ({"A": 30, "B": 10}, 50, False)
    assert service.run("shop", given, decision=batch.batch).again
    refused("other-reward", service.run, "shop", m.Merge({}), decision=batch.batch)
    refused("conflict", service.run, "shop", m.Tell(1), decision=batch.batch)
    known = service.view("shop").state.agent.estimates()
    assert [(one.pulls, one.open_asks) for one in known] == [(30, 0), (10, 0), (0, 0)]
    other = service.run("shop", m.Split(3)).batch
    for arms in ({"A": m.Statistics(4, 0.5, 0.1)}, {"A": m.Statistics(1, 2.0, 0.0)}, {"Z": m.Statistics(1, 0.5, 0.0)}):
        refused("invalid", service.run, "shop", m.Merge(arms), decision=other)
    assert service.verify("shop").ok


def test_an_experiment_is_created_once(service):
    spec = decoded({**SPEC, "seed": None})
    (first, new), (second, newer) = service.create(spec), service.create(spec)
    assert (new, newer) == (True, False)
    assert first == second
    refused("name-taken", service.create, decoded({**SPEC, "arms": ["A", "B"]}))


def test_a_decision_of_another_database_is_not_taken_for_one_of_ours(service):
    made(service)
    decision = asked(service).decision
    refused("not-found", service.run, "shop", m.Tell(1), decision=decision[:-1] + ("0" if decision[-1] != "0" else "1"))
    refused("not-found", service.decision, decision[:-1])
    refused("not-found", service.experiment_of, "99-1-abc")
    refused("not-found", service.experiment_of, "x")
