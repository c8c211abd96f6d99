"""A Kafka broker on loopback and Spark's connector, from jars that Maven fetches."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pyspark
from spark.ports import free_port, wait_for_port

KAFKA = "4.1.1"
# The connector's version and that of the token provider that it needs. Maven Central does not have
# every version of both; another minor version of Spark will do for a test.
CONNECTORS = ((pyspark.__version__, pyspark.__version__), ("4.2.0", "4.0.0"))
NEEDED = ("spark-sql-kafka", "spark-token-provider", "kafka-clients", "commons-pool2")
PROJECT = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>nearcast</groupId><artifactId>jars</artifactId><version>1</version>
<dependencies>{}</dependencies></project>"""
DEPENDENCY = """<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>
<exclusions><exclusion><groupId>org.apache.spark</groupId><artifactId>*</artifactId></exclusion>
</exclusions></dependency>"""
SETTINGS = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={logs}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
num.partitions=1
"""


def fetch(folder, *artifacts):
    """Copy artifacts and what they need to a folder; return its jars, or None."""
    folder.mkdir(parents=True)
    project = folder / "pom.xml"
    project.write_text(PROJECT.format("".join(DEPENDENCY.format(*one) for one in artifacts)))
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime"]
    command = ["mvn", "-q", "-B", "-f", str(project), *goal, f"-DoutputDirectory={folder / 'jars'}"]
    done = subprocess.run(command, capture_output=True, timeout=600, check=False)
    return sorted((folder / "jars").glob("*.jar")) if done.returncode == 0 else None


def connector_jars(folder):
    for number, (connector, provider) in enumerate(CONNECTORS):
        group = "org.apache.spark"
        artifacts = [
            (group, "spark-sql-kafka-0-10_2.13", connector),
            (group, "spark-token-provider-kafka-0-10_2.13", provider),
        ]
        jars = fetch(folder / str(number), *artifacts)
        if jars:
            return [jar for jar in jars if jar.name.startswith(NEEDED)]
    return None


def broker_jars(folder):
    group = "org.apache.kafka"
    return fetch(folder, (group, "kafka_2.13", KAFKA), (group, "kafka-tools", KAFKA))


def run_spark(jars, *options) -> None:
    """Run `nearcast spark` in a process of its own: its Java has the connector."""
    listed = ",".join(map(str, jars))
    settings = "--conf spark.ui.enabled=false --conf spark.driver.memory=1g"
    arguments = f"--jars {listed} {settings} pyspark-shell"
    done = subprocess.run(
        [sys.executable, "-m", "nearcast.cli.__main__", "spark", "--master", "local[1]", *options],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_SUBMIT_ARGS": arguments},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def can_fetch():
    return shutil.which("mvn") is not None


class Broker:
    """What a test asks of a running broker."""

    def __init__(self, jars, folder, port) -> None:
        self.folder = folder
        self.servers = f"127.0.0.1:{port}"
        self._java = ["java", "-Xmx256m", "-cp", f"{Path(jars[0]).parent}/*"]

    def command(self, name, *options):
        return [*self._java, name, *options]

    def send(self, topic, lines) -> None:
        where = ["--bootstrap-server", self.servers, "--topic", topic]
        self._run("org.apache.kafka.tools.ConsoleProducer", where, "\n".join(lines) + "\n")

    def received(self, topic, wait_s=20):
        """Return the lines of a topic; none may come for so long before it counts as all."""
        where = ["--bootstrap-server", self.servers, "--topic", topic, "--from-beginning"]
        name = "org.apache.kafka.tools.consumer.ConsoleConsumer"
        done = self._run(name, [*where, "--timeout-ms", str(wait_s * 1000)], "")
        return done.stdout.splitlines()

    def _run(self, name, options, given):
        command = self.command(name, *options)
        return subprocess.run(
            command, input=given, capture_output=True, text=True, timeout=300, check=False
        )


@contextmanager
def running_broker(jars, folder):
    """Start a broker and stop it by its process id."""
    ports = {"broker": free_port(), "controller": free_port()}
    settings = folder / "server.properties"
    settings.write_text(SETTINGS.format(logs=folder / "logs", **ports))
    broker = Broker(jars, folder, ports["broker"])
    cluster = ["format", "-t", "4L6g3nShT-eMCtK--X86sw", "-c", str(settings)]
    subprocess.run(
        broker.command("kafka.tools.StorageTool", *cluster), capture_output=True, check=True
    )
    with (folder / "broker.log").open("w") as log:
        process = subprocess.Popen(
            broker.command("kafka.Kafka", str(settings)), stdout=log, stderr=log
        )
        try:
            wait_for_port(ports["broker"], process)
            yield broker
        finally:
            process.kill()
            process.wait()
