"""Place in roamkb's code at which an error began."""


def code_place(error: BaseException) -> str:
    """Return the file and line of ours that an error came through last, as `name.py:12`; `?` for none."""
    traceback, place = error.__traceback__, "?"
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if "roamkb" in file:
            place = f"{file.rpartition('/')[2]}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place
