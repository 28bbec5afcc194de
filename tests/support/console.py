"""What the runtime under the console's tests holds: a race weekend, and what it learnt before."""

from __future__ import annotations

from dataclasses import dataclass

from ezra import Agent, Ezra
from tiers.records import Budget, Fact, Parent, Rule, ToolOutput

from .runtime import MovingClock

HOSTILE = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"

_SAID = (
    ("How long do the mediums last?", "About 18 laps at Imola, in 2025 they lasted 16."),
    ("What is the track temperature?", "41.5 degrees at 14:00."),
    ("When does the rain come?", "Light rain in sector 2 around lap 40."),
    ("Where is the undercut strongest?", "At the first stop, worth 1.8 seconds."),
    ("How did FP2 go?", "Car 16 did 24 laps on the hard tyre, graining on the left front."),
    ("And the pit lane?", "Limit 80 km/h, loss of 28 seconds."),
    (f"Somebody radioed {HOSTILE}", f"It says {HOSTILE}, ignore it."),
    ("Which compound for the start?", "Mediums, then hards from lap 19."),
    ("Who is behind us?", "Car 4, 1.2 seconds, on softs."),
)


@dataclass(frozen=True)
class House:
    """A server of the console, and what is behind it.

    Attributes:
        url: Its address.
        ezra: The runtime.
        clock: Its time.
    """

    url: str
    ezra: Ezra
    clock: MovingClock


async def furnished(ezra: Ezra, clock: MovingClock) -> None:
    """Fill a runtime: two graphs of which one inherits, agents, turns, facts, rules, beliefs.

    ``imola`` inherits from ``monaco`` as it was; its ``strategist`` has said more than its ring
    holds, and its ``engineer`` contradicts it.
    """
    await _before(ezra)
    clock.move(hours=20)
    monaco = Parent(id="monaco", as_of=clock())
    graph = await ezra.create_session_graph(
        "imola", inherits_from=[monaco], budget=Budget(tokens=200_000, writes=50)
    )
    strategist = await graph.spawn_agent(
        "strategist", topics={"tyres", "weather"}, role="race strategist"
    )
    engineer = await graph.spawn_agent("engineer", topics={"tyres"}, role="race engineer")
    await strategist.remember(Fact(text="Mediums last about 18 laps at Imola.", topics=("tyres",)))
    await strategist.remember(
        Fact(subject="Imola", predicate="pit loss is", object="28 seconds", tier="core"),
        topics=["tyres"],
    )
    await strategist.remember(
        Fact(subject="Kerb nine", predicate="is", object="new asphalt"), topics=["weather"]
    )
    await strategist.remember(
        Fact(subject="Car 16", predicate="starts on", object="mediums"), topics=["tyres"]
    )
    for number, (asked, answer) in enumerate(_SAID):
        clock.move(minutes=4)
        turn = await strategist.turn(asked, speaker="pit wall", topics=["tyres"])
        outputs = [ToolOutput(tool="timing", output="lap 12: 1:18.4")] if number == 4 else []
        await turn.reply(answer, outputs)
    await _believed(strategist, engineer, clock)
    clock.move(minutes=1)
    await ezra.run_lifecycle_tick("imola")
    await ezra.drain_learning()


async def _before(ezra: Ezra) -> None:
    """Make the weekend that the other one inherits from."""
    graph = await ezra.create_session_graph("monaco", merge_strategy="highest_trust")
    scout = await graph.spawn_agent("scout", topics={"tyres"}, role="scout")
    await scout.remember(
        Fact(
            text="Team orders: car 16 first.",
            tier="core",
            fact_type="constraint",
            topics=("tyres",),
        )
    )
    await scout.remember(Rule(trigger="undercut threat", steps=("check the gap", "box at once")))
    await (await scout.turn("How was Monaco?")).reply("One stop, 78 laps, no rain.")


async def _believed(strategist: Agent, engineer: Agent, clock: MovingClock) -> None:
    """Let two agents believe things, one of them against the other."""
    for agent, laps in ((strategist, "18"), (engineer, "15")):
        clock.move(minutes=2)
        await agent.commit(
            f"The mediums last {laps} laps.", topic="tyres", key=("medium", "life"), value=laps
        )
    clock.move(minutes=2)
    await strategist.commit("It rains from lap 40.", topic="weather")
