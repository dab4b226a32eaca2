/** The transport: requests and streams as the engine and the forwarder use them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpRequest, HttpStream } from "../../../../shared/core/http.ts";
import { textAt } from "../../../../shared/simulator/storage/json.ts";
import { mapsPath, open } from "../stand.ts";

const get = (path: string): HttpRequest => ({ method: "GET", path, headers: {}, timeoutMs: 5000 });

const take = async (stream: HttpStream, count: number): Promise<readonly string[]> => {
  const lines: string[] = [];
  for await (const line of stream.lines) {
    const event: unknown = JSON.parse(line);
    lines.push(
      `${textAt(event, "type")} ${textAt(event, "object", "metadata", "name") ?? textAt(event, "object", "reason") ?? ""}`,
    );
    if (lines.length === count) break;
  }
  return lines;
};

test("a stream sends existing objects, then changes", async () => {
  const stand = open();
  const stream = await stand.simulator.transport.stream(get(`${mapsPath}?watch=true`));
  stand.call("POST", mapsPath, { metadata: { name: "a" } });
  stand.call("DELETE", `${mapsPath}/a`);
  assert.deepEqual(await take(stream, 3), ["ADDED kube-root-ca.crt", "ADDED a", "DELETED a"]);
});

test("a closed stream ends, and gets no further event", async () => {
  const stand = open();
  const stream = await stand.simulator.transport.stream(get(`${mapsPath}?watch=true`));
  stream.close();
  stand.call("POST", mapsPath, { metadata: { name: "a" } });
  assert.deepEqual(await take(stream, 9), ["ADDED kube-root-ca.crt"]);
});

test("a compacted revision yields an error event, and ends the stream", async () => {
  const stand = open();
  for (const name of ["a", "b", "c"]) stand.call("POST", mapsPath, { metadata: { name } });
  const { store } = stand.simulator;
  const old = store.revision() - 2;
  store.compact(store.revision());
  const stream = await stand.simulator.transport.stream(get(`${mapsPath}?watch=true&resourceVersion=${old}`));
  assert.deepEqual(await take(stream, 9), ["ERROR Expired"]);
});

test("bookmarks are sent from time to time, and the stream ends after timeoutSeconds", async () => {
  const stand = open();
  const revision = stand.simulator.store.revision();
  const path = `${mapsPath}?watch=true&resourceVersion=${revision}&allowWatchBookmarks=true&timeoutSeconds=150`;
  const stream = await stand.simulator.transport.stream(get(path));
  for (const ms of [61_000, 61_000, 61_000]) stand.pass(ms);
  assert.deepEqual(await take(stream, 9), ["BOOKMARK ", "BOOKMARK "]);
});

test("a refused stream carries its whole answer as one line", async () => {
  const stand = open();
  const stream = await stand.simulator.transport.stream(get(`${mapsPath}?watch=true&labelSelector=a%20in%20x`));
  assert.equal(stream.status, 400);
  assert.deepEqual(await take(stream, 9), ["undefined "]);
});

test("answers carry the date of the virtual clock", async () => {
  const stand = open({ start: Date.UTC(2026, 0, 2, 3, 4, 5) });
  const { headers } = await stand.simulator.transport.send(get(mapsPath));
  assert.equal(headers["date"], "Fri, 02 Jan 2026 03:04:05 GMT");
  stand.pass(60_000);
  assert.equal((await stand.simulator.transport.send(get(mapsPath))).headers["date"], "Fri, 02 Jan 2026 03:05:05 GMT");
});
