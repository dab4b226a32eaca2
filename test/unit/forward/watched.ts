/** A small cluster, a queue and stored cursors, with instances of the forwarder that know only the stored cursors. */
import assert from "node:assert/strict";
import { memoryCheckpoints } from "../../../shared/adapters/checkpoints/memory.ts";
import type { Message } from "../../../shared/core/key.ts";
import type { Watcher } from "../../../shared/core/operator.ts";
import { openCursors } from "../../../shared/forward/cursors.ts";
import type { Sending } from "../../../shared/forward/keys.ts";
import { openWindows, type WindowResult } from "../../../shared/forward/windows.ts";
import { openSimulator } from "../../../shared/simulator/open.ts";

const configMaps = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" } as const;
const secrets = { group: "", version: "v1", plural: "secrets", kind: "Secret" } as const;

/** Watches an application, of which only label changes matter, and its child. */
const operator: Watcher = {
  kind: "ConfigMap",
  resource: configMaps,
  watches: [
    {
      resource: configMaps,
      ownerName: ({ metadata }) => metadata.name,
      matters: (before, after) => before?.metadata.labels?.["v"] !== after.metadata.labels?.["v"],
    },
    { resource: secrets, selector: "app", ownerName: ({ metadata }) => metadata.labels?.["app"], matters: () => true },
  ],
};

export const turns = async (count = 30): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A signal that is never aborted. */
export const never = new AbortController().signal;

/** Returns the message for an application that has presumably vanished. */
export const strayOf = (name: string): Sending => ({
  message: { cluster: "c1", kind: "ConfigMap", namespace: "default", name, reason: "orphaned" },
  dedupeId: name,
});

export const open = () => {
  const simulator = openSimulator();
  const checkpoints = memoryCheckpoints();
  const sent: Message[] = [];
  const lines: string[] = [];
  const asked: string[] = [];
  const world = { takes: true, time: 0, clusterUid: "cluster-1" };
  const ask = (method: "POST" | "DELETE" | "PATCH", path: string, object?: unknown): void => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const body = object === undefined ? {} : { body: JSON.stringify(object) };
    const answer = simulator.handle({ method, path, headers: { "content-type": type }, ...body });
    assert.ok(answer.status < 300, answer.body);
  };
  const place = (plural: string, name = ""): string => `/api/v1/namespaces/default/${plural}${name && `/${name}`}`;
  const hands = {
    create: (name: string, labels: Record<string, string> = { v: "1" }) =>
      ask("POST", place("configmaps"), { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels } }),
    child: (name: string, app: string) =>
      ask("POST", place("secrets"), { apiVersion: "v1", kind: "Secret", metadata: { name, labels: { app } } }),
    change: (name: string, v: string) => ask("PATCH", place("configmaps", name), { metadata: { labels: { v } } }),
    touch: (name: string, text: string) => ask("PATCH", place("configmaps", name), { data: { text } }),
    remove: (plural: string, name: string) => ask("DELETE", place(plural, name)),
  };
  const report = (_: string, message: string): void => void lines.push(message);
  /** Opens a new instance, which knows only the stored cursors. */
  const instance = (more: Partial<Parameters<typeof openWindows>[0]> = {}) =>
    openWindows({
      transport: {
        send: (request) => {
          asked.push(request.path);
          return simulator.transport.send(request);
        },
        stream: simulator.transport.stream,
      },
      operators: [operator],
      ...{ cluster: "c1", namespaces: ["default"], selector: undefined, report },
      cursors: openCursors({ checkpoints, clusterUid: world.clusterUid, report }),
      send: async (message) => {
        if (!world.takes) throw new Error("the queue is away");
        sent.push(message);
      },
      now: () => world.time,
      random: () => 0,
      wait: async (ms) => {
        world.time += ms;
        await turns();
      },
      ...more,
    });
  const run = (windows = instance()): Promise<WindowResult> => windows.run(20_000, never);
  /** Returns the names that were sent since the last call, sorted. */
  const news = (): readonly string[] => [...new Set(sent.splice(0).map(({ name }) => name))].sort();
  return { ...hands, operators: [operator], simulator, checkpoints, lines, asked, world, instance, run, news };
};
