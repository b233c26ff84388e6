"""Kernels that test/endtoend/mutants.py breaks."""
from typing import NamedTuple


class Case(NamedTuple):
    spec: str  # "plain", without a rotation, or a file of examples/specs
    target: str
    kernel: str  # the entry that is broken
    sizes: str
    map_sizes: str  # for tensor maps: several heads and batches, so that each stride matters
    options: tuple = ()
    roles: bool = True
    head_dim: int = 64
    lacks: tuple = ()  # of what kernels must have


FORWARD = ("--forward-only",)
WINDOW = ("beyond/sliding-window", ("--set=window=100",))
# A gang of three members, and one of one tile and two copies of it. Five tiles of keys in two slots, of which the first member passes one by; the
# last ones end within the array, and beyond it.
ROWS = "b=1,h=1,g=1,t=200,u=600"
# Three gangs of two members, of which the last one is 14 keys and the same again; two heads, each of up to four tiles of queries in two slots, of
# which each member passes by one, the last one cut by the window within the array.
COLUMNS = "b=1,h=2,g=1,t=270,u=270"
MAPS, WINDOW_MAPS = "b=2,h=2,g=2,t=100,u=270", "b=2,h=2,g=2,t=150,u=150"
# Two places for each of the interpreter's three blocks: in one of them members pass by uses of the first place.
ROWS_AGAIN, COLUMNS_AGAIN = "b=1,h=2,g=1,t=390,u=400", "b=2,h=2,g=1,t=270,u=270"
# Three tiles of keys for the last block of queries, three of queries for the first one of keys, the last ones ragged; two heads share keys.
SHARED = "b=1,h=2,g=1,t=130,u=130"
PERSISTENT = "sm_90a+roles+persistent+early"
# Two gangs of three members, of which the last one is one panel of features and two copies of it; chunks of four tiles of keys in two slots. Members
# have no barrier of their own: they share nothing.
CHUNKS, CHUNK_MAPS = "b=1,h=1,g=1,t=550,u=570", "b=2,h=2,g=2,t=300,u=300"
ORDER_2 = ("--set=order=2", "--form=chunked", "--chunk=256")

CASES = {
    "forward": Case("plain", "sm_90a+roles", "forward_attend", ROWS, MAPS, FORWARD),
    "forward, overlap": Case("plain", "sm_90a+roles+overlap", "forward_attend", ROWS, MAPS, FORWARD),
    "dq": Case("plain", "sm_90a+roles", "backward_attend", ROWS, MAPS),
    "dk and dv": Case(WINDOW[0], "sm_90a+roles", "backward_pairs", COLUMNS, WINDOW_MAPS, WINDOW[1]),
    "forward, persistent": Case("plain", PERSISTENT, "forward_attend", ROWS_AGAIN, MAPS, FORWARD),
    "dq, persistent": Case("plain", PERSISTENT, "backward_attend", ROWS_AGAIN, MAPS),
    "dk and dv, persistent": Case(WINDOW[0], PERSISTENT, "backward_pairs", COLUMNS_AGAIN, WINDOW_MAPS, WINDOW[1]),
    "states": Case("softmax-taylor", "sm_90a+roles", "forward_states", CHUNKS, CHUNK_MAPS, FORWARD + ORDER_2, head_dim=16,
                   lacks=("another barrier",)),
    "forward, computed": Case("softmax", "sm_90a+computed+early", "forward_attend", SHARED, SHARED, FORWARD, roles=False),
    "dq, computed": Case("softmax", "sm_90a+computed+early", "backward_attend", SHARED, SHARED, roles=False),
    "dk and dv, computed": Case("softmax", "sm_90a+computed+early", "backward_pairs", SHARED, SHARED, roles=False),
    "forward, no roles": Case("plain", "sm_90a", "forward_attend", SHARED, SHARED, FORWARD, roles=False),
    "dq, no roles": Case("plain", "sm_90a", "backward_attend", SHARED, SHARED, roles=False),
    "dk and dv, no roles": Case("plain", "sm_90a", "backward_pairs", SHARED, SHARED, roles=False),
}

# What a kernel must have that can be broken, without roles and with them (nameOf in test/runtime/ptx/Mutation.h).
COMMON = ("no barrier", "no wait", "a looser wait", "no commit", "no fence", "descriptor", "transposition", "no copy")
SYNCHRONISED = {
    False: COMMON,
    True: COMMON + ("another parity", "no arrival", "an early arrival", "another count", "other bytes", "all lanes elected", "a wait that goes on",
                    "another signal", "another box", "no choice", "other registers", "another barrier", "no barrier of the warp",
                    "a counter that stays", "tensor map"),
}
