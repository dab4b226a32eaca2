/** Watches over WebSockets: events, the end, and refusals. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { serveSimulator } from "../../../../shared/simulator/http/serve.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { textAt } from "../../../../shared/simulator/storage/json.ts";
import { sleeper } from "../stand.ts";

const pods = "/api/v1/namespaces/default/pods";

type Heard = { readonly types: readonly string[]; next(): Promise<void>; readonly closed: Promise<number> };

const hear = (socket: WebSocket): Heard => {
  const types: string[] = [];
  let wake = (): void => {};
  socket.addEventListener("message", ({ data }) => {
    const event: unknown = JSON.parse(String(data));
    types.push(`${textAt(event, "type")} ${textAt(event, "object", "metadata", "name")}`);
    wake();
  });
  const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  return { types, next, closed };
};

test("a watch is sent in frames, small and large, until it ends", async () => {
  const simulator = openSimulator({ nodes: [] });
  const served = await serveSimulator(simulator);
  const make = (name: string, annotations: object) =>
    simulator.handle({
      method: "POST",
      path: pods,
      headers: {},
      body: JSON.stringify(sleeper(name, {}, { annotations })),
    });
  try {
    make("one", {});
    const socket = new WebSocket(`${served.url.replace("http", "ws")}${pods}?watch=true`);
    const heard = hear(socket);
    await heard.next();
    for (const [name, size] of [
      ["two", 10],
      ["three", 1_000],
      ["four", 70_000],
    ] as const) {
      const came = heard.next();
      make(name, { note: "x".repeat(size) });
      await came;
    }
    assert.deepEqual(heard.types, ["ADDED one", "ADDED two", "ADDED three", "ADDED four"]);
    simulator.clock.advanceTo(simulator.clock.now() + 3_600_000);
    assert.equal(await heard.closed, 1000);
  } finally {
    await served.close();
  }
});

test("an invalid watch is refused, and a watch ends when its client leaves", async () => {
  const simulator = openSimulator({ nodes: [] });
  const served = await serveSimulator(simulator);
  const base = served.url.replace("http", "ws");
  try {
    const refused = new WebSocket(`${base}/api/v1/nothings?watch=true`);
    assert.notEqual(await hear(refused).closed, 1000);
    const socket = new WebSocket(`${base}${pods}?watch=true`);
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    const { closed } = hear(socket);
    socket.close(1000);
    assert.equal(await closed, 1000);
  } finally {
    await served.close();
  }
});
