/** Deleted applications in `rekindle status` and `rekindle list`: the finalizers and objects that they wait for. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Obj } from "../../../../shared/core/object.ts";
import { application, driverPod, make, openTerminal } from "../../cli/terminal.ts";

const running = { applicationState: { state: "RUNNING" }, lastSubmissionAttemptTime: "2026-11-02T07:58:00Z" };

const leaving = (finalizers: readonly string[]): Obj => {
  const { metadata, ...object } = application("app", running);
  return { ...object, metadata: { ...metadata, finalizers, deletionTimestamp: "2026-11-02T08:00:00Z" } };
};

const driver = (finalizers?: readonly string[]): Obj =>
  driverPod({
    status: { phase: "Running" },
    ...(finalizers === undefined ? {} : { metadata: { finalizers, deletionTimestamp: "2026-11-02T08:00:00Z" } }),
  });

type Case = { readonly name: string; readonly objects: readonly Obj[]; readonly lines: readonly RegExp[] };

const cases: readonly Case[] = [
  {
    name: "only somebody's finalizer is left: it is named, with who is to remove it",
    objects: [leaving(["example.com/hold"])],
    lines: [
      /^waits for {2}finalizer example\.com\/hold to be removed, because it is being deleted$/,
      /2026-11-02T08:00:00Z \(0s ago\)/,
      /controller that added example\.com\/hold .*kubectl patch sparkapplications\.sparkoperator\.k8s\.io -n default app/,
    ],
  },
  {
    name: "a pod is left beside the finalizer",
    objects: [leaving(["example.com/hold"]), driver()],
    lines: [
      /1 of its pods to go \(app-driver\), and finalizer example\.com\/hold to be removed/,
      /since/,
      /by itself$/,
    ],
  },
  {
    name: "a pod is left that a finalizer of its own holds",
    objects: [leaving(["example.com/hold"]), driver(["example.com/pod"])],
    lines: [/1 of its pods to go \(app-driver \(held by example\.com\/pod\)\)/, /since/, /by itself$/],
  },
  {
    name: "Kubernetes' own finalizer needs nobody",
    objects: [leaving(["foregroundDeletion"])],
    lines: [/finalizer foregroundDeletion to be removed/, /since/, /by itself$/],
  },
];

describe("an application that is being deleted", () => {
  for (const { name, objects, lines } of cases)
    test(name, async () => {
      const terminal = openTerminal();
      await make(terminal.simulator, ...objects);
      const { out, err } = await terminal.run("status", "default/app");
      const [state, ...told] = out.split("\n");
      assert.equal(state, "state      RUNNING");
      assert.equal(told.length, 3, `${out}${err}`);
      for (const [index, line] of lines.entries()) assert.match(told[index] ?? "", line);
    });

  test("has its finalizers in the list", async () => {
    const terminal = openTerminal();
    await make(terminal.simulator, leaving(["example.com/hold"]));
    assert.match(
      (await terminal.run("list")).out,
      /finalizer example\.com\/hold to be removed, because it is being deleted$/,
    );
  });
});
