"""What a container may write to by an option's value."""

import pytest

from roamkb.guard.container_shares import writable_folders


@pytest.mark.parametrize(
    ("value", "folder"),
    [
        ("/a:/b", "/a"),
        ("/a:/b:z,rw", "/a"),
        ("/a:/b:ro", ""),
        ("/a:/b:z,ro", ""),
        ("/a/ro:/ro", "/a/ro"),
        ("/home", ""),
        ("name:/home", "name"),
        ("type=bind,src=/a,dst=/home", "/a"),
        ("type=bind,source=/a,target=/b,readonly=false", "/a"),
        ("type=bind,source=/a,target=/b,readonly", ""),
        ("src=/a,dst=/b,ro=true", ""),
        ("type=tmpfs,destination=/home", ""),
        ("consistency=cached,source=/a,target=/n,type=bind", "/a"),
        ("bind-propagation=rshared,type=bind,source=/a,target=/n", "/a"),
        ("TYPE=bind,SRC=/a,DST=/n", "/a"),
        ("readonly=0,type=bind,source=/a,target=/n", "/a"),
        ('type=bind,"src=/a",dst=/n', "/a"),
        ("type=volume,dst=/n,volume-opt=type=none,volume-opt=o=bind,volume-opt=device=/a", "/a"),
        ("/a:/n:ro,rw", "/a"),
        ("", ""),
    ],
)
def test_only_the_source_of_a_writable_share_counts(value: str, folder: str) -> None:
    """The target is the container's own folder, and a target alone a volume of the engine."""
    assert ([folder] if folder else []) == [*writable_folders(value)]
