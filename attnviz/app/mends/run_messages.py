"""What goes over the web socket: which of a visitor's messages asks for a run, and which of the server's ends one.

Streamlit 1.67 times no runs; words for a request: "metrics endpoint, duration of script runs".
"""

LONGEST_END = 400  #: bytes; the message that ends a run is shorter, and longer ones are not read
ANSWERED = ("FINISHED_SUCCESSFULLY", "FINISHED_FRAGMENT_RUN_SUCCESSFULLY")
FOR_ANOTHER = "FINISHED_EARLY_FOR_RERUN"
ERRORS = "streamlit.error_util"  #: the logger that is told of a run which ended with an error that no page caught


def asks_for_a_run(data: bytes) -> bool:
    """Whether a visitor's message does; what is no message at all is answered by Streamlit."""
    from google.protobuf.message import DecodeError
    from streamlit.proto.BackMsg_pb2 import BackMsg

    try:
        return BackMsg.FromString(data).WhichOneof("type") == "rerun_script"
    except DecodeError:
        return False


def end_of_run(data: bytes) -> str | None:
    """How a run ended, by Streamlit's own name, if this message of the server's says so."""
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    message = ForwardMsg.FromString(data if len(data) <= LONGEST_END else b"")
    ended = message.WhichOneof("type") == "script_finished"
    return ForwardMsg.ScriptFinishedStatus.Name(message.script_finished) if ended else None


def has_what_it_needs() -> bool:
    """Whether Streamlit's protocol still has both messages."""
    try:
        from streamlit.proto.BackMsg_pb2 import BackMsg
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    except ImportError:
        return False
    fields = {*BackMsg.DESCRIPTOR.fields_by_name, *ForwardMsg.DESCRIPTOR.fields_by_name}
    return {"rerun_script", "script_finished"} <= fields and hasattr(ForwardMsg, "ScriptFinishedStatus")
