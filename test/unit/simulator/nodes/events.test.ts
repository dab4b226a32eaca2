/** The Events of the simulated cluster about pods. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { textAt } from "../../../../shared/simulator/storage/json.ts";
import { open, podsPath, type Stand, sleeper } from "../stand.ts";

const told = ({ simulator }: Stand): readonly string[] =>
  simulator.store
    .list("events")
    .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .map((event) => `${textAt(event, "source", "component")} ${textAt(event, "type")} ${textAt(event, "reason")}`);

const lives = [
  [
    "a pod that runs and is deleted",
    {},
    ["default-scheduler Normal Scheduled", "kubelet Normal Pulled", "kubelet Normal Started", "kubelet Normal Killing"],
  ],
  [
    "a pod without room",
    { containers: [{ name: "main", image: "x", resources: { requests: { cpu: "999" } } }] },
    ["default-scheduler Warning FailedScheduling"],
  ],
  [
    "a pod without its image",
    { containers: [{ name: "main", image: "does-not-exist:1" }] },
    ["default-scheduler Normal Scheduled", "kubelet Warning Failed", "kubelet Warning BackOff"],
  ],
] as const;

for (const [name, spec, wanted] of lives)
  test(`${name} is recorded as an Event`, () => {
    const stand = open({ events: true });
    stand.call("POST", podsPath, sleeper("p", spec));
    stand.rest();
    stand.call("DELETE", `${podsPath}/p`);
    stand.rest();
    assert.deepEqual(told(stand), wanted);
  });

test("no Event is recorded without the option", () => {
  const stand = open();
  stand.call("POST", podsPath, sleeper("p"));
  stand.rest();
  assert.deepEqual(told(stand), []);
});
