"""Which files are opened, which are refused, and does refusing leave them untouched?"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlite_utils import Database

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import Supplier
from gpulease_gui.store import runs
from gpulease_gui.store.migrations import APPLICATION_ID, LATEST_VERSION, TRIGGERS, migrations
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.place import advice, network_file_system
from gpulease_gui.store.records import Run, RunState
from gpulease_gui.store.suppliers import list_suppliers, save_supplier
from gpulease_gui.store.upgrade import back_up, row_counts, upgrade
from gpulease_gui.store.workspace import Workspace

posix = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")


def refused(path, **how):
    with pytest.raises(UserFacing) as caught:
        Workspace.open(path, **how)
    assert str(path) in caught.value.what
    assert caught.value.next_step
    return caught.value


def run_sql(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def closed_workspace(path, **how):
    opened = Workspace.open(path, **how)
    opened.submit(lambda db: save_supplier(db, Supplier("s1", "007"))).result(60)
    opened.close()


def test_that_what_was_saved_is_there_after_closing_and_opening(path):
    closed_workspace(path)
    again = Workspace.open(path, create=False)
    with again.read() as connection:
        assert list_suppliers(connection) == (Supplier("s1", "007"),)
    again.close()
    assert not list(path.parent.glob("*-wal"))  # a copy of the closed file is complete


def test_that_each_connection_keeps_its_promises(workspace):
    def pragmas(connection):
        return [connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("foreign_keys", "trusted_schema", "journal_mode", "synchronous", "application_id")]  # fmt: skip

    expected = [1, 0, "wal", 1, APPLICATION_ID]
    assert workspace.submit(lambda db: pragmas(db.conn)).result(60) == expected
    with workspace.read() as connection:
        assert pragmas(connection) == expected
        assert connection.execute("PRAGMA user_version").fetchone() == (LATEST_VERSION,)


def test_that_every_table_is_strict(workspace):
    with workspace.read() as connection:
        loose = connection.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND NOT strict AND name NOT LIKE '%sqlite%'"
        ).fetchall()
    assert loose == []


@posix
def test_that_only_the_owner_can_read_the_files(path):
    opened = Workspace.open(path)
    opened.submit(lambda db: save_supplier(db, Supplier("s1", "a"))).result(60)
    modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    opened.close()
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert set(modes) == {path.name, *(path.name + end for end in ("-wal", "-shm", "-open"))}
    assert set(modes.values()) == {0o600}


@posix
def test_that_a_file_which_others_could_read_is_made_private(path):
    closed_workspace(path)
    path.chmod(0o644)
    Workspace.open(path).close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_that_a_name_with_url_characters_is_a_name(tmp_path):
    path = tmp_path / "算力 50%?mode=memory#1.db"
    closed_workspace(path)
    assert path.stat().st_size > 4096


def test_that_a_missing_file_is_not_made_unless_asked(path):
    assert "there is no workspace" in refused(path, create=False).what
    assert not path.parent.exists()


def test_that_a_folder_is_refused(tmp_path):
    assert "is a folder" in refused(tmp_path).what


def test_that_a_text_file_is_refused_and_untouched(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database at all, but long enough to be one " * 40)
    before = path.read_bytes()
    assert "no database" in refused(path).why
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_that_the_database_of_another_program_is_refused_and_untouched(tmp_path):
    path = tmp_path / "other.db"
    run_sql(path, "CREATE TABLE mail (id)", "INSERT INTO mail VALUES (1)")
    before = path.read_bytes()
    assert "another program" in refused(path).why
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_that_a_file_of_a_newer_version_is_refused_and_untouched(path):
    closed_workspace(path)
    run_sql(path, f"PRAGMA user_version = {LATEST_VERSION + 1}")
    before = path.read_bytes()
    error = refused(path)
    assert "newer version" in error.what and str(LATEST_VERSION + 1) in error.why
    assert path.read_bytes() == before


@pytest.mark.parametrize("kept", [100, 1024, 4096, 50_000, -1])
def test_that_a_cut_off_file_is_refused_and_untouched(path, kept):
    closed_workspace(path)
    content = path.read_bytes()[:kept]
    path.write_bytes(content)
    error = refused(path)
    assert "damaged" in str(error)
    assert "backup" in error.next_step
    assert path.read_bytes() == content


def test_that_a_file_with_a_planted_trigger_is_refused(path):
    closed_workspace(path)
    run_sql(path, "CREATE TRIGGER findings_x AFTER INSERT ON findings BEGIN SELECT 1; END")
    assert "findings_x" in refused(path).why


def test_that_a_trigger_of_our_name_with_another_text_is_refused(path):
    closed_workspace(path)
    name = "findings_never_changed"
    run_sql(path, f"DROP TRIGGER {name}", f"CREATE TRIGGER {name} BEFORE UPDATE ON findings BEGIN SELECT 1; END")
    assert name in refused(path).why


def test_that_every_trigger_of_ours_is_known_by_its_text(workspace):
    with workspace.read() as connection:
        texts = connection.execute("SELECT sql FROM sqlite_master WHERE type IN ('trigger', 'view')").fetchall()
    assert {text for (text,) in texts} == TRIGGERS


def test_that_a_file_which_does_not_say_its_kind_is_refused(path):
    closed_workspace(path)
    run_sql(path, "DELETE FROM workspace")
    with pytest.raises(UserFacing, match="does not say whether it is a demo or a real one"):
        Workspace.open(path)


def test_that_a_file_with_our_mark_but_without_our_tables_is_refused(tmp_path):
    path = tmp_path / "hollow.db"
    run_sql(path, f"PRAGMA application_id = {APPLICATION_ID}", f"PRAGMA user_version = {LATEST_VERSION}", "CREATE TABLE a (b)")
    assert "no such table" in refused(path).why


@posix
def test_that_a_place_without_write_access_is_refused_in_words(tmp_path):
    script = (
        "import os, sys; from pathlib import Path; from gpulease_gui.store.workspace import Workspace\n"
        "import sqlite_utils, gpulease_gui.store.migrations\n"
        "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "try: Workspace.open(Path(sys.argv[1]))\n"
        "except Exception as error: print(type(error).__name__, '|', error)\n"
    )
    folder = tmp_path / "shut"
    folder.mkdir()
    closed_workspace(folder / "there.db")
    folder.chmod(0o555)
    for parent in (tmp_path, *tmp_path.parents[:2]):
        parent.chmod(0o755)  # pytest's own folders are closed to others
    (folder / "there.db").chmod(0o444)
    for name in ("new.db", "there.db"):
        done = subprocess.run([sys.executable, "-c", script, folder / name], capture_output=True, text=True, timeout=60)
        assert done.stdout.startswith("UserFacing | could not open the workspace"), done.stderr
        assert "Permission denied" in done.stdout and "you may write" in done.stdout
    folder.chmod(0o755)


def test_that_a_workspace_stays_demo_or_real_for_ever(tmp_path):
    closed_workspace(tmp_path / "real.db")
    closed_workspace(tmp_path / "demo.db", demo=True)
    assert "is a real workspace" in refused(tmp_path / "real.db", demo=True).what
    assert "is a demo workspace" in refused(tmp_path / "demo.db").what
    again = Workspace.open(tmp_path / "demo.db", demo=True)
    assert again.demo
    again.close()


@pytest.mark.parametrize(("demo_file", "reach", "demo_run", "accepted"), [
    (False, Reach.SSH, False, True), (False, Reach.LOCAL, False, True), (True, Reach.DEMO, True, True),
    (False, Reach.DEMO, True, False), (False, Reach.DEMO, False, False), (False, Reach.SSH, True, False),
    (True, Reach.SSH, False, False), (True, Reach.LOCAL, True, False), (True, Reach.DEMO, False, False),
])  # fmt: skip
def test_that_demo_runs_and_real_runs_never_share_a_file(path, demo_file, reach, demo_run, accepted):
    opened = Workspace.open(path, demo=demo_file)
    opened.submit(lambda db: save_node(db, Node("n", "node-01", reach, demo_name="honest"))).result(60)
    run = Run("r", "n", utc_now(), demo=demo_run)
    future = opened.submit(lambda db: runs.save_run(db, run))
    if accepted:
        future.result(60)
    else:
        with pytest.raises(UserFacing, match="node-01 can't be verified in this workspace"):
            future.result(60)
    opened.close()


def test_that_a_run_left_by_a_killed_process_is_interrupted_and_keeps_its_findings(desk, path):
    stored = desk.find()
    other = Run("r2", "n1", desk.noon + timedelta(hours=1))
    desk.write(lambda db: runs.save_run(db, other))
    desk.workspace.close()
    again = Workspace.open(path)
    with again.read() as connection:
        assert runs.get_run(connection, "r1") == replace(desk.run, state=RunState.INTERRUPTED, finished_at=desk.noon)
        assert runs.get_run(connection, "r2") == replace(other, state=RunState.INTERRUPTED)
        assert runs.list_findings(connection, "r1") == (stored,)
    again.close()


def test_that_a_second_opener_does_not_interrupt_the_runs_of_the_first(desk, path):
    second = Workspace.open(path)
    assert second.shared and not desk.workspace.shared
    with second.read() as connection:
        assert runs.get_run(connection, "r1").state is RunState.RUNNING
    second.close()
    desk.write(lambda db: runs.finish_run(db, "r1", RunState.FINISHED, desk.noon, Verdict.PASS))


def test_that_the_main_thread_may_not_read_once_it_is_forbidden(workspace):
    with workspace.read() as connection:
        assert list_suppliers(connection) == ()
    workspace.forbid_main_thread()
    with pytest.raises(RuntimeError, match="main thread"), workspace.read():
        pass
    found = []

    def read():
        with workspace.read() as connection:
            found.append(list_suppliers(connection))

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert found == [()]


def old_workspace(path, version):
    """A file as an older program left it: only the first steps were applied."""
    path.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        db = Database(connection)
        names = [step.name for step in migrations.pending(db)]
        db.execute("PRAGMA journal_mode = WAL")
        migrations.apply(db, stop_before=names[version])
        db.execute("INSERT INTO workspace (only_row, kind, created_at) VALUES (1, 'real', '2026-01-01T00:00:00.000000Z')")
        save_supplier(db, Supplier("s1", "北辰算力"))
        assert connection.execute("PRAGMA user_version").fetchone() == (version,)


@pytest.mark.parametrize("version", range(1, LATEST_VERSION))
def test_that_an_older_file_is_backed_up_and_then_upgraded(path, version):
    old_workspace(path, version)
    with closing(sqlite3.connect(path)) as connection:
        before = row_counts(connection)
    opened = Workspace.open(path)
    with opened.read() as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (LATEST_VERSION,)
        assert list_suppliers(connection) == (Supplier("s1", "北辰算力"),)
    backup = opened.backup
    opened.close()
    assert backup.parent == path.parent and f"before-upgrade-{version}-" in backup.name
    assert backup.read_bytes()[18:20] == b"\x01\x01"  # whole by itself, no log beside it
    assert os.name != "posix" or backup.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(f"file:{backup}?mode=ro&immutable=1", uri=True)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA user_version").fetchone() == (version,)
        assert row_counts(connection) == before
        assert connection.execute("SELECT id, name FROM suppliers").fetchall() == [("s1", "北辰算力")]
    assert not list(path.parent.glob("*.part*"))


def test_that_a_file_of_today_is_not_backed_up(path):
    closed_workspace(path)
    opened = Workspace.open(path)
    opened.close()
    assert opened.backup is None
    assert not list(path.parent.glob("*before-upgrade*"))


def test_that_an_upgrade_which_finds_broken_rows_changes_nothing(path):
    old_workspace(path, 1)
    run_sql(path, "PRAGMA foreign_keys = OFF", "INSERT INTO offers VALUES ('o', 'nobody', '1', '', NULL, NULL, '', NULL, '')")
    assert "refers to nothing" in refused(path).why
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'runs'").fetchone() == (0,)


def test_that_nothing_is_upgraded_when_the_backup_can_not_be_made(path):
    old_workspace(path, 1)
    moment = utc_now()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        taken = back_up(connection, path, moment)
        taken.unlink()
        taken.mkdir()  # a folder where the copy should go
        with pytest.raises(UserFacing, match="could not back up the workspace"):
            upgrade(connection, path, new=False, demo=False, now=moment)
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)


MOUNTS = "/dev/sda1 / ext4 rw 0 0\nnas:/v /mnt/nas nfs4 rw 0 0\n//win/s /mnt/my\\040share cifs rw 0 0\ntmpfs /mnt/nas/fast tmpfs rw 0 0\n"


@pytest.mark.parametrize(("path", "kind"), [
    ("/home/li/w.db", None), ("/mnt/nas/w.db", "nfs4"), ("/mnt/my share/w.db", "cifs"), ("/mnt/nas/fast/w.db", None),
    ("/mnt/nas2/w.db", None), ("//server/share/w.db", "smb"),
])  # fmt: skip
def test_that_a_network_drive_is_told_from_a_local_disk(path, kind):
    assert network_file_system(Path(path), MOUNTS) == kind
    assert (advice(Path(path), MOUNTS) is not None) == (kind is not None)


@pytest.mark.parametrize("folder", ["OneDrive - Firma", "Dropbox", "Google Drive", "坚果云"])
def test_that_a_synchronised_folder_is_warned_of_in_both_languages(folder):
    words = advice(Path("/home/li") / folder / "w.db", MOUNTS)
    assert "synchronises" in words.en and "云同步" in words.zh


def test_that_the_store_can_be_imported_before_sqlite_utils_is_loaded():
    code = (
        "import sys\n"
        "from gpulease_gui.store import claims, hostkeys, nodes, runs, samples, settings, suppliers, workspace\n"
        "print('sqlite_utils' in sys.modules, 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("False False", "")
