"""Is a source that falls silent told once and in time, and no silence of the whole node taken for one?"""

from __future__ import annotations

from gpulease_gui.services.source_silence import Silence


def silences(silence: Silence, seconds: range, *, every: dict[str, int], until: dict[str, int]) -> list[tuple[int, str, float]]:
    """(second, source, when it was heard last) of what is called stale; `every` source speaks so often, `until` then."""
    found = []
    for second in seconds:
        for source, pause in every.items():
            if second % pause == 0 and second < until.get(source, 10**9):
                silence.heard(source, float(second))
        found += [(second, *one) for one in silence.stale(float(second))]
    return found


def test_that_a_source_that_falls_silent_is_told_once_and_again_only_after_it_spoke() -> None:
    silence = Silence(1.0)
    assert silences(silence, range(100), every={"gpu": 1, "network": 1}, until={"gpu": 20}) == [(30, "gpu", 19.0)]
    silence.heard("gpu", 100.0)
    assert silences(silence, range(101, 130), every={"network": 1}, until={}) == [(111, "gpu", 100.0)]


def test_that_a_slow_source_is_given_the_time_that_it_took_before() -> None:
    assert silences(Silence(1.0), range(200), every={"npu": 8, "network": 1}, until={"npu": 100}) == [(121, "npu", 96.0)]
    assert silences(Silence(10.0), range(400), every={"gpu": 10, "network": 10}, until={"gpu": 100}) == [(150, "gpu", 90.0)]


def test_that_a_source_that_was_there_before_the_connection_is_missed_and_one_that_never_was_is_not() -> None:
    silence = Silence(1.0)
    silence.begin({"gpu"}, 0.0)
    assert silences(silence, range(60), every={"network": 1}, until={}) == [(11, "gpu", 0.0)]


def test_that_a_time_in_which_nothing_at_all_was_heard_is_no_silence_of_a_source() -> None:
    silence = Silence(1.0)
    assert silences(silence, range(10), every={"gpu": 1, "network": 1}, until={}) == []
    silence.heard("network", 7200.0)
    assert silence.stale(7200.0) == ()
    silence.heard("network", 3600.0)
    assert silence.stale(3600.0) == (), "a clock that was set back makes no silence either"


def test_that_a_source_that_says_why_it_ends_is_not_waited_for() -> None:
    silence = Silence(1.0)
    silence.heard("gpu", 0.0)
    silence.trouble("gpu", 1.0, said=True)
    assert silences(silence, range(2, 60), every={"network": 1}, until={}) == []
    silence.trouble("gpu", 60.0, said=False)
    assert silences(silence, range(61, 80), every={"network": 1}, until={}) == [(71, "gpu", 60.0)]


def test_that_a_source_that_only_speaks_is_late_after_two_lines_and_one_that_never_told_anything_is_not() -> None:
    silence = Silence(1.0)
    assert silence.missed_s("gpu", 50.0) is None
    silence.heard("gpu", 10.0)
    assert [silence.missed_s("gpu", at_s) for at_s in (10.0, 12.0, 12.5)] == [None, None, 11.0]
    silence.heard("gpu", 18.0)
    assert silence.missed_s("gpu", 37.9) is None, "it took its time before"


def test_that_a_source_is_not_late_in_a_pause_in_which_nothing_at_all_was_heard() -> None:
    silence = Silence(1.0)
    assert silences(silence, range(10), every={"gpu": 1, "network": 1}, until={}) == []
    assert silence.missed_s("gpu", 13.0) is None
    assert silences(silence, range(13, 15), every={"network": 1}, until={}) == []
    assert silence.missed_s("gpu", 14.0) == 10.0, "it said nothing either once others were heard again"
