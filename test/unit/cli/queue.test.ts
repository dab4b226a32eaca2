/** `rekindle queue`: its writes and output, in the manner of vcctl. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Transport } from "../../../shared/core/http.ts";
import { isRecord } from "../../../shared/core/json.ts";
import type { Obj } from "../../../shared/core/object.ts";

import { onTerminal, openTerminal, type Terminal } from "./terminal.ts";

const queuesPath = "/apis/scheduling.volcano.sh/v1beta1/queues";
const commandsIn = (namespace: string): string => `/apis/bus.volcano.sh/v1alpha1/namespaces/${namespace}/commands`;

const group = (name: string, queue: string, phase: string): Obj => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "PodGroup",
  metadata: { name, namespace: "default" },
  spec: { queue },
  status: { phase },
});

const read = async ({ simulator }: Terminal, path: string): Promise<Readonly<Record<string, unknown>>> => {
  const found = await request(simulator.transport, "GET", path);
  return isRecord(found) ? found : {};
};

const ordered = async (terminal: Terminal, namespace = "default"): Promise<readonly (readonly [string, string])[]> => {
  const { items } = await read(terminal, commandsIn(namespace));
  return Array.isArray(items) ? items.map(({ action, target }) => [action, `${target.kind}/${target.name}`]) : [];
};

const withQueue = async (): Promise<Terminal> => {
  const terminal = openTerminal();
  assert.equal((await terminal.run("queue", "create", "-n", "gpu", "-w", "5")).out, "create queue gpu successfully");
  return terminal;
};

describe("rekindle queue", () => {
  test("create creates a queue with a weight, and a Command that closes it for a closed state", async () => {
    const terminal = await withQueue();
    assert.equal(Object((await read(terminal, `${queuesPath}/gpu`))["spec"])["weight"], 5);
    await terminal.run("queue", "create", "shut", "-S", "Closed");
    assert.deepEqual(await ordered(terminal), [["CloseQueue", "Queue/shut"]]);
  });

  test("list and get print vcctl's columns, with the number of groups by phase", async () => {
    const terminal = await withQueue();
    const groups = [group("a", "gpu", "Running"), group("b", "gpu", "Inqueue"), group("c", "cpu", "Running")];
    for (const one of groups)
      await request(
        terminal.simulator.transport,
        "POST",
        "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups",
        one,
      );
    const table = "Name Weight State Parent Inqueue Pending Running Unknown Completed\ngpu 5 1 0 1 0 0";
    for (const command of [["list"], ["get", "gpu"]]) {
      const { out } = await terminal.run("queue", ...command);
      assert.equal(out.replaceAll(/ +/g, " "), table);
    }
    assert.equal((await terminal.run("queue", "list", "-o", "name")).out, "queue.scheduling.volcano.sh/gpu");
    assert.equal(JSON.parse((await terminal.run("queue", "get", "gpu", "-o", "json")).out).metadata.name, "gpu");
  });

  test("get prints the waiting groups in the order of admission, with the resources that each lacks", async () => {
    const terminal = await withQueue();
    const { transport } = terminal.simulator;
    const urgent = {
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name: "urgent" },
      value: 10,
    };
    await request(transport, "POST", "/apis/scheduling.k8s.io/v1/priorityclasses", urgent);
    const message = "needs 4 × 2 cpu; 3 places on 3 of 5 nodes; 2 nodes have taint gpu";
    const condition = { type: "Unschedulable", status: "True", reason: "NotEnoughResources", message };
    const groups: readonly Obj[] = [
      group("runs", "gpu", "Running"),
      { ...group("early", "gpu", "Pending"), status: { phase: "Pending", conditions: [condition] } },
      { ...group("late", "gpu", ""), spec: { queue: "gpu", priorityClassName: "urgent" } },
      group("elsewhere", "cpu", "Pending"),
    ];
    for (const one of groups)
      await request(transport, "POST", "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups", one);
    const { out } = await terminal.run("queue", "get", "gpu");
    assert.deepEqual(
      out
        .split("\n")
        .slice(2)
        .map((line) => line.replaceAll(/ +/g, " ").trim()),
      ["", "Position Namespace PodGroup Age Reason", "1 default late 0s", `2 default early 0s ${message}`],
    );
  });

  test("get prints positions by age without the right to list priority classes", async () => {
    const { simulator } = await withQueue();
    const path = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
    await request(simulator.transport, "POST", path, group("early", "gpu", "Pending"));
    const forbidden = JSON.stringify({ kind: "Status", code: 403, reason: "Forbidden", message: "no" });
    const transport: Transport = {
      ...simulator.transport,
      send: async (call) =>
        call.path.includes("priorityclasses")
          ? { status: 403, headers: {}, body: forbidden }
          : await simulator.transport.send(call),
    };
    const { out, err } = await onTerminal(simulator, { transport }).run("queue", "get", "gpu");
    assert.match(out, /^1 +default +early/m);
    assert.match(err, /priority classes cannot be listed: waiting groups are in the order of their age/);
  });

  for (const [action, order] of [
    ["open", "OpenQueue"],
    ["close", "CloseQueue"],
  ] as const)
    test(`operate -a ${action} creates the same Command as vcctl: ${order}`, async () => {
      const terminal = await withQueue();
      assert.equal((await terminal.run("queue", "operate", "-n", "gpu", "-a", action)).code, 0);
      assert.deepEqual(await ordered(terminal), [[order, "Queue/gpu"]]);
    });

  test("operate and create put the Command into the namespace that the controller watches", async () => {
    const terminal = await withQueue();
    const ops = { apiVersion: "v1", kind: "Namespace", metadata: { name: "ops" } };
    await request(terminal.simulator.transport, "POST", "/api/v1/namespaces", ops);
    await terminal.run("queue", "operate", "gpu", "-a", "close", "--command-namespace", "ops");
    await terminal.run("queue", "create", "shut", "-S", "Closed", "--command-namespace", "ops");
    const made = await ordered(terminal, "ops");
    assert.deepEqual(
      [made.toSorted(), await ordered(terminal)],
      [
        [
          ["CloseQueue", "Queue/gpu"],
          ["CloseQueue", "Queue/shut"],
        ],
        [],
      ],
    );
  });

  test("operate -a update changes the weight", async () => {
    const terminal = await withQueue();
    assert.equal(
      (await terminal.run("queue", "operate", "gpu", "-a", "update", "-w", "9")).out,
      "queue gpu has weight 9",
    );
    assert.equal(Object((await read(terminal, `${queuesPath}/gpu`))["spec"])["weight"], 9);
  });

  test("delete removes the queue", async () => {
    const terminal = await withQueue();
    assert.equal((await terminal.run("queue", "delete", "-n", "gpu")).out, "delete queue gpu successfully");
    assert.equal((await terminal.run("queue", "list")).out, "No resources found");
  });

  for (const flag of ["-s", "--master", "-k", "--kubeconfig"])
    test(`uses the server that ${flag} names, as vcctl does`, async () => {
      const { simulator } = openTerminal();
      const transport = { ...simulator.transport, send: async () => ({ status: 401, headers: {}, body: "{}" }) };
      const { err } = await onTerminal(simulator, { transport }).run("queue", "list", flag, "https://other.example");
      assert.match(err, /https:\/\/other\.example/);
    });

  const refusals: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["get"], 1, /name one queue: rekindle queue get NAME, or -n NAME$/],
    [["get", "none"], 1, /there is no queue none; see them all with: rekindle queue list$/],
    [["operate", "gpu", "-a", "update"], 1, /no weight for queue gpu: write -w WEIGHT, at least 1/],
    [["operate", "gpu", "-a", "burn"], 2, /Allowed choices are open, close, update/],
    [["operate", "gpu"], 2, /required option '-a, --action <action>'/],
    [["create", "x", "-w", "0"], 1, /"0": write a whole number from 1 up/],
  ];
  for (const [args, exit, line] of refusals)
    test(`refuses queue ${args.join(" ")}`, async () => {
      const { code, err } = await (await withQueue()).run("queue", ...args);
      assert.equal(code, exit);
      assert.match(err, line);
    });
});
