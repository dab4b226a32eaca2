/** How the command line shows an object whose `spec.managedBy` names another controller. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isRecord } from "../../../shared/core/json.ts";
import { openSimulator } from "../../../shared/simulator/open.ts";
import { withManagedBy } from "../../support/managed-by.ts";
import { application, installed, make, onTerminal } from "../cli/terminal.ts";

test("an application of another controller is shown as waiting for it, with the advice to create it without the field", async () => {
  const terminal = onTerminal(openSimulator({ crds: installed([""]).map(withManagedBy) }));
  const made = application("app");
  const spec = isRecord(made["spec"]) ? made["spec"] : {};
  await make(terminal.simulator, { ...made, spec: { ...spec, managedBy: "kueue.x-k8s.io/multikueue" } });
  const status = await terminal.run("status", "default/app");
  assert.match(status.out, /waits for {2}kueue\.x-k8s\.io\/multikueue, which spec\.managedBy names/);
  assert.match(status.out, /create the object without it/);
  const list = await terminal.run("list");
  assert.match(list.out, /kueue\.x-k8s\.io\/multikueue/);
});
