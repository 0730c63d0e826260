import pytest

from attnviz.base.message import Problem
from attnviz.models.file_faults import read_lines


def test_lines_that_are_not_blank_are_read_and_other_files_refused_by_name(tmp_path):
    file = tmp_path / "lines.txt"
    file.write_text("A cat.\n\n \n  Two\tparts \n", "utf-8")
    assert read_lines(file) == ["A cat.", "  Two\tparts "]
    for content, said in ((b"\xff\xfe", "is not text in UTF-8"), (b"\n \n", "has no line with text")):
        file.write_bytes(content)
        with pytest.raises(Problem, match=f"lines.txt {said}"):
            read_lines(file)
    with pytest.raises(Problem, match=f"the file {tmp_path} cannot be read: Is a directory"):
        read_lines(tmp_path)
