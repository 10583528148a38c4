"""What is to run on the node, how long, and which promise is it to prove?"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QLineEdit

from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.task import (
    ContainerTool,
    SourceKind,
    TaskContainer,
    TaskSource,
    TaskSpec,
    TaskVariable,
    variable,
)
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.fields import Chooser, Field, LineField, open_dialog
from gpulease_gui.gui.forms.record_form import Invalid, NoteField, RecordForm, needed
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import Words

NEW = ""
_KINDS: tuple[tuple[str, Words], ...] = (
    (SourceKind.SCRIPT, Text("A script of this computer", "本机脚本")), (SourceKind.FOLDER, Text("A folder of this computer", "本机文件夹")),
    (SourceKind.BUILTIN, Text("Built-in task (PyTorch)", "内置任务（PyTorch）")), (SourceKind.LOG, Text("A log that grows on the node", "节点上正在写入的日志")),
)  # fmt: skip
BUILTINS: tuple[tuple[str, Words], ...] = (
    ("tiny_gpt", Text("Small GPT in training", "小型 GPT 训练")), ("matmul", Text("Matrix products", "矩阵乘法")), ("gpu_copy", Text("Copies to, from and between GPUs", "显存与互联拷贝")),
)  # fmt: skip
_TOOLS: tuple[tuple[str, Words], ...] = (
    (ContainerTool.AUTO, Text("whichever the node has", "以节点所有为准")), *((str(tool), foreign(str(tool))) for tool in ContainerTool if tool is not ContainerTool.AUTO),
)  # fmt: skip
_KEEP: tuple[tuple[str, Words], ...] = (("", Text("Remove it", "删除")), ("keep", Text("Keep it on the node", "保留在节点上")))
EXPECTED: tuple[tuple[str, Text], ...] = (
    ("work.tokens_s", Text("tokens/s", "token/s")), ("work.samples_s", Text("samples/s", "样本/s")), ("work.step_s", Text("s per step", "秒/步")),
    ("work.gpu_util_percent", Text("GPU utilization %", "GPU 利用率 %")),
)  # fmt: skip
_NUMBER = Text("Write a number above 0, such as 12000", "请填写大于 0 的数字，例如 12000")
_PAIR = Text("One NAME=value a line", "每行一个 NAME=值")


class TaskForm(RecordForm):
    """The fields of a task; Save keeps it under its name. `chosen` carries the name of a saved task, `tried` asks to try the pattern.

    Values of secret variables stand in the form only: drafts and saved tasks never hold them.
    """

    chosen = Signal(str)
    removed = Signal(str)
    tried = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.saved_tasks = Chooser(Text("Saved task", "已存任务"), [(NEW, Text("New task", "新任务"))])
        self.saved_tasks.picked.connect(self.chosen)
        self.forget = Button(Text("Remove", "移除"), kind="quiet", small=True)
        self.forget.clicked.connect(lambda: self.removed.emit(self.saved_tasks.current))
        self.name = LineField(Text("Name", "名称"), Text("llama-8b LoRA, 1 node", "llama-8b LoRA 单节点"))
        self.kind = Chooser(Text("What runs", "运行内容"), _KINDS)
        self.kind.picked.connect(lambda _: self._fit())
        self.place = LineField(Text("Path", "路径"), code=True)
        self.browse = Button(Text("Browse…", "浏览…"), small=True)
        self.browse.clicked.connect(self._browse)
        self.builtin = Chooser(Text("Built-in task", "内置任务"), BUILTINS)
        self.command = LineField(Text("Command", "命令"), "python3 train.py --steps 200", code=True)
        self.environment = NoteField()
        self.limit = LineField(Text("Time limit, minutes", "时间上限，分钟"), "20")
        self.scratch = LineField(Text("Writes at most, GiB", "最多写入，GiB"), "8")
        self.keep = Chooser(Text("Its folder afterwards", "结束后的文件夹"), _KEEP)
        self.figures = {key: LineField(words) for key, words in EXPECTED}
        self.pattern = LineField(Text("Pattern for its log", "日志模式"), r"step (?P<step>\d+) loss (?P<loss>[\d.]+)", code=True)
        self.try_it = Button(Text("Try…", "试读…"), small=True)
        self.try_it.clicked.connect(self.tried)
        self.image = LineField(Text("Container image", "容器镜像"), Text("none: runs on the node itself", "不填：直接在节点上运行"), code=True)
        self.tool = Chooser(Text("Container tool", "容器工具"), _TOOLS)
        self._lay_out()

    def _lay_out(self) -> None:
        self._saved_row = Field(Text("Saved task", "已存任务"), self.saved_tasks, self.forget)
        self._name_row = Field(Text("Name", "名称"), self.name)
        self._place_row = Field(Text("Path", "路径"), self.place, self.browse)
        self._builtin_row = Field(Text("Task", "任务"), self.builtin)
        self._command_row = Field(Text("Command, run in its folder", "命令（在其文件夹中运行）"), self.command)
        self._environment_row = Field(Text("Environment, one NAME=value a line", "环境变量，每行一个 NAME=值"), self.environment)
        self._limit_row = Field(Text("Time limit, minutes", "时间上限，分钟"), self.limit)
        self._scratch_row = Field(Text("Writes at most, GiB", "最多写入，GiB"), self.scratch)
        self._keep_row = Field(Text("Its folder afterwards", "结束后的文件夹"), self.keep)
        self._figure_rows = {key: Field(words, self.figures[key]) for key, words in EXPECTED}
        self._pattern_row = Field(Text("Pattern for its log (known trainers need none)", "日志模式（常见训练框架无需填写）"), self.pattern, self.try_it)
        self._image_row = Field(Text("Container image", "容器镜像"), self.image)
        self._tool_row = Field(Text("Container tool", "容器工具"), self.tool)
        figures = list(self._figure_rows.values())
        self.arrange([
            self._saved_row, self._name_row, Field(Text("What runs", "运行内容"), self.kind), self._place_row, self._builtin_row,
            self._command_row, self._environment_row, [self._limit_row, self._scratch_row], self._keep_row, figures[:2], figures[2:],
            self._pattern_row, self._image_row, self._tool_row,
        ])  # fmt: skip
        self.begin(Text("Own task", "自有任务"), Text(
            "It is sent over the open connection, watched beside the hardware, and its folder is removed afterwards. The figures are what it is to prove.",
            "任务通过现有连接发送，与硬件曲线并列显示，结束后删除其文件夹。下列数值是需要它证明的承诺。"))  # fmt: skip
        self._fit()

    # -- what stands in it ----------------------------------------------------------------------------------------------

    def offer(self, tasks: Sequence[TaskSpec]) -> None:
        """The saved tasks by name."""
        self.saved_tasks.set_choices([(NEW, Text("New task", "新任务")), *((task.name, foreign(task.name)) for task in tasks)])
        self._fit()

    def show_task(self, spec: TaskSpec) -> None:
        """Put a task in; secret values have to be typed again."""
        self.name.setText(spec.name)
        self.kind.choose(spec.source.kind)
        self.place.setText("" if spec.source.kind is SourceKind.BUILTIN else spec.source.place)
        self.builtin.choose(spec.source.place)
        self.command.setText(spec.command)
        self.environment.setPlainText("\n".join(f"{v.name}={'' if v.secret else v.value}" for v in spec.environment))
        self.limit.setText(_plain(Decimal(spec.time_limit_s) / 60))
        self.scratch.setText(_plain(Decimal(str(spec.scratch_gib))))
        self.keep.choose("keep" if spec.keep_folder else "")
        stated = dict(spec.serves)
        for key, editor in self.figures.items():
            editor.setText(_plain(Decimal(str(stated[key]))) if key in stated else "")
        self.pattern.setText(spec.pattern)
        self.image.setText(spec.container.image if spec.container else "")
        self.tool.choose(spec.container.tool if spec.container else ContainerTool.AUTO)
        self._dirty = False
        self.band.hide()
        self._fit()

    def words_now(self) -> tuple[str, ...]:
        """What drafts keep: without the values of secret variables."""
        editors = self._editors()
        return tuple(
            without_secrets(said) if editor is self.environment else said for editor, said in zip(editors, super().words_now(), strict=True)
        )

    def build(self) -> TaskSpec:
        """The task that the fields make. Raises Invalid."""
        kind = SourceKind(self.kind.current)
        name = needed(self._name_row, self.name, Text("Give it a name: runs of one name are compared", "请填写名称：同名任务的运行会相互比较"))
        return TaskSpec(
            name, TaskSource(kind, self._source(kind)), self._command(kind), self._variables(), round(_above_zero(self._limit_row, self.limit, "20") * 60),
            bool(self.keep.current), self.pattern.text().strip(), self._serves(), self._container(kind),
            scratch_gib=float(_above_zero(self._scratch_row, self.scratch, "8")),
        )  # fmt: skip

    def _source(self, kind: SourceKind) -> str:
        if kind is SourceKind.BUILTIN:
            return self.builtin.current
        return needed(self._place_row, self.place, Text("Choose what is to run", "请选择要运行的内容"))

    def _command(self, kind: SourceKind) -> str:
        if kind in (SourceKind.BUILTIN, SourceKind.LOG):
            return ""
        return needed(self._command_row, self.command, Text("Write the command that starts it", "请填写启动命令"))

    def _variables(self) -> tuple[TaskVariable, ...]:
        made: list[TaskVariable] = []
        for line in self.environment.toPlainText().splitlines():
            name, equals, value = line.strip().partition("=")
            if not line.strip():
                continue
            if not equals or not name.isidentifier() or not name.isascii():
                raise Invalid(self._environment_row, _PAIR)
            made.append(variable(name, value))
            if isinstance(made[-1].value, Secret) and not value:
                raise Invalid(self._environment_row, Text(f"Type the value of {name}: it is never stored", f"请填写 {name} 的值：它不会被保存"))
        return tuple(made)

    def _serves(self) -> tuple[tuple[str, TermValue], ...]:
        written = [(key, row, self.figures[key]) for key, row in self._figure_rows.items() if self.figures[key].text().strip()]
        return tuple((key, float(_above_zero(row, editor, ""))) for key, row, editor in written)

    def _container(self, kind: SourceKind) -> TaskContainer | None:
        image = self.image.text().strip()
        return TaskContainer(image, ContainerTool(self.tool.current)) if image and kind is not SourceKind.LOG else None

    def begin_log(self) -> None:
        """A log is to be followed; what was typed for another kind stays for when it is chosen again."""
        self.kind.choose(SourceKind.LOG)
        self._fit()
        self.place.setFocus()

    # -- what fits to what ------------------------------------------------------------------------------------------------

    def _fit(self) -> None:
        """Show the fields that mean something for what runs."""
        kind = SourceKind(self.kind.current)
        own, log = kind in (SourceKind.SCRIPT, SourceKind.FOLDER), kind is SourceKind.LOG
        self._place_row.setVisible(kind is not SourceKind.BUILTIN)
        self.browse.setVisible(own)
        self._builtin_row.setVisible(kind is SourceKind.BUILTIN)
        self._command_row.setVisible(own)
        for row in (self._environment_row, self._scratch_row, self._keep_row):
            row.setVisible(own)
        for row in (self._image_row, self._tool_row):
            row.setVisible(not log)
        self._pattern_row.setVisible(kind is not SourceKind.BUILTIN)
        self.forget.setVisible(self.saved_tasks.current != NEW)

    def _browse(self) -> None:
        dialog = QFileDialog(self.window(), say(Text("What runs on the node", "在节点上运行的内容")), self.place.text())
        folder = self.kind.current == SourceKind.FOLDER
        dialog.setFileMode(QFileDialog.FileMode.Directory if folder else QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._picked)
        open_dialog(dialog)

    def _picked(self, path: str) -> None:
        self.place.setText(path)
        if not self.command.text().strip() and self.kind.current == SourceKind.SCRIPT:
            self.command.setText(start_line(path))
        self._changed()


def start_line(path: str) -> str:
    """How a script of this name is usually started; "" if its name does not tell."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    starts = {".py": "python3", ".sh": "sh"}
    start = next((words for ending, words in starts.items() if name.endswith(ending)), "")
    return f"{start} ./'{name}'" if start and "'" not in name else ""


def without_secrets(environment: str) -> str:
    """The lines of an environment with empty values where the name speaks of a secret."""
    made = []
    for line in environment.split("\n"):
        name, equals, value = line.partition("=")
        made.append(f"{name}=" if equals and variable(name.strip(), value).secret else line)
    return "\n".join(made)


def _plain(figure: Decimal) -> str:
    text = f"{figure:.4f}".rstrip("0").rstrip(".")
    return text or "0"


def _above_zero(field: Field, editor: QLineEdit, usual: str) -> Decimal:
    """A number above 0; `usual` where nothing is written. Raises Invalid."""
    try:
        figure = Decimal(editor.text().strip().replace(",", "") or usual)
    except InvalidOperation:
        raise Invalid(field, _NUMBER) from None
    if not figure.is_finite() or not 0 < figure < Decimal("1e12"):
        raise Invalid(field, _NUMBER)
    return figure
