import pytest

from attnviz.base.message import Problem
from attnviz.models.file_faults import lines_of


def test_lines_that_are_not_blank_are_read_and_other_files_refused_by_name(tmp_path):
    file = tmp_path / "lines.txt"
    file.write_text("A cat.\n\n \n  Two\tparts \n", "utf-8")
    assert lines_of(file) == ["A cat.", "  Two\tparts "]
    for content, said in ((b"\xff\xfe", "is not text in UTF-8"), (b"\n \n", "has no line with text")):
        file.write_bytes(content)
        with pytest.raises(Problem, match=f"lines.txt {said}"):
            lines_of(file)
    with pytest.raises(Problem, match=f"the file {tmp_path} cannot be read: Is a directory"):
        lines_of(tmp_path)
