#!/usr/bin/env python3
"""The second TraCI client of a simulation. Usage: second_client.py TOOLS PORT DOES [STEPS [FILE]]

SUMO waits in every step until each client has taken its turn. This client takes the second turn for
STEPS steps (0: until the simulation ends). DOES says what it does then:
leave    closes the connection, as TraCI prescribes
vanish   ends its process without closing the connection
sleep    stays connected, but never takes its turn again
remove   as leave; before that it removes a vehicle in every fifth step
watch    as leave; before that it writes to FILE after every step which programs the lights run
version  is no client: it listens at PORT and answers as a SUMO of another version
"""
import os
import socket
import struct
import sys
import time

tools, port, does = sys.argv[1], int(sys.argv[2]), sys.argv[3]
steps = int(sys.argv[4]) if len(sys.argv) > 4 else 0


def be_another_version():
    server = socket.create_server(("127.0.0.1", port))
    client, _ = server.accept()
    client.recv(4 + 2)  # the request for the version
    text = b"SUMO 0.32.0"
    status = struct.pack("!BBBi", 7, 0, 0, 0)
    version = struct.pack("!BBii", 10 + len(text), 0, 16, len(text)) + text
    client.sendall(struct.pack("!i", 4 + len(status + version)) + status + version)
    client.recv(1)


if does == "version":
    be_another_version()
    sys.exit()
sys.path.insert(0, tools)
import traci  # noqa: E402

connection = traci.connect(port, numRetries=100, waitBetweenRetries=0.1)
connection.setOrder(2)
step = 0
while steps == 0 or step < steps:
    try:
        connection.simulationStep()
        step += 1
        if does == "remove" and step % 5 == 0 and connection.vehicle.getIDCount() > 0:
            connection.vehicle.remove(connection.vehicle.getIDList()[0])
        if does == "watch":
            lights = connection.trafficlight
            with open(sys.argv[5] + ".new", "w") as file:
                file.write(" ".join(sorted({lights.getProgram(one) for one in lights.getIDList()})))
            os.replace(sys.argv[5] + ".new", sys.argv[5])
    except traci.exceptions.FatalTraCIError:  # the simulation has ended
        sys.exit()
if does == "vanish":
    os._exit(1)
if does == "sleep":
    time.sleep(1000)
connection.close()
