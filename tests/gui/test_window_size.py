"""The window fits a small laptop, whatever page it shows and however much runs."""

from __future__ import annotations

from collections.abc import Callable

from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import find_pages
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import JobChanged

LAPTOP = (1280, 680)


def test_that_no_page_and_no_number_of_jobs_asks_for_more_than_a_laptops_screen(
    make_window: Callable[..., MainWindow], services: Services, qtbot
) -> None:
    pages = find_pages()
    window = make_window(*pages)
    window.attach(services)
    for number in range(9):
        window.task_strip.job_changed(JobChanged(str(number), f"verify a-node-with-a-long-name-{number}"))
    for page in pages:
        window.go(page.id)
        qtbot.wait(50)
        least = window.minimumSizeHint()
        assert (least.width(), least.height()) <= LAPTOP and least.height() <= LAPTOP[1], page.id
    assert len(window.task_strip.titles) == 9
    assert sum(task.isVisible() for task in window.task_strip.findChildren(type(window.task_strip._tasks["0"]))) == 3
    for number in range(9):
        window.task_strip.job_changed(JobChanged(str(number), "", ended=True))
    assert window.task_strip.titles == ()
