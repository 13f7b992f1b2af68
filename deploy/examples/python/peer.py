"""A socket to the broker: over tcp with the file of `fusionctl peer add`, or over ipc by Unix uid."""

import os

import zmq


def connect(context, kind, peer=None, ipc=None):
    socket = context.socket(kind)
    socket.linger = 0
    if peer:
        # name = "value" lines; the keys are Z85, which pyzmq takes as they are.
        values = {}
        for line in open(peer, encoding="utf-8"):
            if not line.startswith("#") and " = " in line:
                name, value = line.rstrip("\n").split(" = ", 1)
                values[name] = value.strip('"')
        socket.curve_serverkey = values["broker_key"].encode()
        socket.curve_publickey = values["public_key"].encode()
        socket.curve_secretkey = values["secret_key"].encode()
        socket.connect(values["endpoint"])
    else:
        home = os.environ.get("FUSION_HOME", ".fusion")
        socket.connect("ipc://" + (ipc or f"{home}/run/broker.ipc").removeprefix("ipc://"))
    return socket
