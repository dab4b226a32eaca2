/** Pods that run as their command line says, in a simulator with `commands` on. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openSimulator } from "../../../../shared/simulator/open.ts";

const pods = "/api/v1/namespaces/default/pods";

/** Creates a pod with this command and returns its status after `ms` of simulated time. */
const after = (ms: number, commands: boolean, command: readonly string[] | undefined) => {
  const simulator = openSimulator({ commands });
  const spec = { restartPolicy: "Never", containers: [{ name: "main", image: "busybox", command }] };
  const body = JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "one" }, spec });
  const made = simulator.handle({ method: "POST", path: pods, headers: {}, body });
  assert.equal(made.status, 201, JSON.stringify(made));
  simulator.clock.advanceTo(simulator.clock.now() + ms);
  const pod = simulator.store.get("pods", "default/one");
  const status: unknown = pod?.["status"];
  return JSON.stringify(status);
};

describe("a pod of a simulator that reads commands", () => {
  test("sleeps for the given time, and succeeds", () => {
    const command = ["sh", "-c", "cat /etc/volcano/worker.host; sleep 2; sleep 1"];
    assert.match(after(2_500, true, command), /"phase":"Running"/);
    assert.match(after(4_500, true, command), /"phase":"Succeeded"/);
  });

  test("exits with the given code, and accepts units", () => {
    assert.match(after(62_000, true, ["/bin/sh", "-c", "sleep 1m && exit 3"]), /"phase":"Failed".*"exitCode":3/);
    assert.match(after(4_000, true, ["sleep", "2s"]), /"phase":"Succeeded"/);
  });

  test("ends at once without a sleep, and never with an endless sleep or an image's own command", () => {
    assert.match(after(2_000, true, ["sh", "-c", "date"]), /"phase":"Succeeded"/);
    assert.match(after(1e8, true, ["sleep", "infinity"]), /"phase":"Running"/);
    assert.match(after(1e8, true, undefined), /"phase":"Running"/);
  });

  test("serves until it is deleted, where it starts a Spark Connect server", () => {
    const line =
      '$SPARK_HOME/sbin/start-connect-server.sh --conf "spark.driver.host=$(case $POD_IP in (*) echo "$POD_IP" ;; esac)"';
    assert.match(after(1e8, true, ["bash", "-c", line]), /"phase":"Running"/);
  });

  test("is an option: without it a pod runs until it is deleted", () => {
    assert.match(after(1e8, false, ["sleep", "2"]), /"phase":"Running"/);
  });
});
