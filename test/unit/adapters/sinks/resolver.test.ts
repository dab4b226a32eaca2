/** Names of listeners: resolved without the system's threads, within a deadline, and by the system's files. */
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { describe, test } from "node:test";
import { askServers, type Lookup, openResolver, resolverConfigIn } from "../../../../shared/adapters/sinks/https.ts";

const none = resolverConfigIn("", "");

/** Returns a resolver over these names; `asked` lists every query. */
const over = (names: Readonly<Record<string, readonly string[]>>, { hosts = "", resolv = "" } = {}) => {
  const asked: string[] = [];
  const time = { now: 0 };
  const ask: Lookup = async (name) => {
    asked.push(name);
    const addresses = names[name];
    if (addresses === undefined) throw Object.assign(new Error(`no ${name}`), { code: "ENOTFOUND" });
    return addresses;
  };
  const resolve = openResolver({
    now: () => time.now,
    surroundings: async () => resolverConfigIn(hosts, resolv),
    lookUp: ask,
  });
  return { resolve, asked, time };
};

describe("a listener's name", () => {
  test("in /etc/hosts has the addresses of that file, without a query", async () => {
    const { resolve, asked } = over(
      {},
      { hosts: "# ours\n10.0.0.7 Sink.Team-A other # first\n::7 sink.team-a\nx y\n" },
    );
    assert.deepEqual([await resolve("sink.team-a"), asked], [["10.0.0.7", "::7"], []]);
  });

  test("that is localhost or below it is this machine, without a query", async () => {
    const { resolve, asked } = over({ "a.localhost": ["8.8.8.8"] });
    assert.deepEqual(await resolve("a.localhost"), ["127.0.0.1", "::1"]);
    assert.deepEqual([await resolve("LOCALHOST"), asked], [["127.0.0.1", "::1"], []]);
  });

  const resolv =
    "nameserver 10.96.0.10\nsearch team-a.svc.cluster.local svc.cluster.local\noptions ndots:5 timeout:1\n";
  test("with few dots is completed as /etc/resolv.conf configures", async () => {
    const { resolve, asked } = over({ "sink.team-b.svc.cluster.local": ["10.1.1.1"] }, { resolv });
    assert.deepEqual(await resolve("sink.team-b"), ["10.1.1.1"]);
    assert.deepEqual(asked, ["sink.team-b.team-a.svc.cluster.local", "sink.team-b.svc.cluster.local"]);
  });

  test("that is complete is queried unchanged first", async () => {
    const { resolve, asked } = over({ "hooks.example.com": ["93.184.216.34"] });
    assert.deepEqual([await resolve("hooks.example.com"), asked], [["93.184.216.34"], ["hooks.example.com"]]);
  });

  test("is queried once while its answer is cached, and again afterwards", async () => {
    const { resolve, asked, time } = over({ "a.example": ["93.184.216.34"] });
    await Promise.all([resolve("a.example"), resolve("a.example")]);
    time.now = 29_999;
    await resolve("a.example");
    assert.equal(asked.length, 1);
    time.now = 30_001;
    await resolve("a.example");
    assert.equal(asked.length, 2);
  });

  test("without an address is cached as such for ten seconds", async () => {
    const { resolve, asked, time } = over({});
    const fails = (): Promise<void> => assert.rejects(resolve("gone.example"), { code: "ENOTFOUND" });
    await fails();
    await fails();
    assert.equal(asked.length, 1);
    time.now = 10_001;
    await fails();
    assert.equal(asked.length, 2);
  });

  test("is evicted from the cache as the oldest of more than a thousand", async () => {
    const { resolve, asked } = over({});
    for (let index = 0; index <= 1_000; index++) await assert.rejects(resolve(`n${index}.example`));
    await assert.rejects(resolve("n1000.example"));
    assert.equal(asked.length, 1_001);
    await assert.rejects(resolve("n0.example"));
    assert.equal(asked.length, 1_002);
  });

  test("that no server answers fails in time, and delays no lookup of the system", async () => {
    const silent = createSocket("udp4");
    await new Promise<void>((resolve) => silent.bind(0, "127.0.0.1", resolve));
    const servers = [`127.0.0.1:${silent.address().port}`];
    const resolve = openResolver({ surroundings: async () => none, lookUp: (name) => askServers(name, servers) });
    const since = performance.now();
    await assert.rejects(resolve("alone.example"));
    const began = performance.now();
    const all = Array.from({ length: 120 }, (_, index) =>
      resolve(`never${index}.example`).then(String, () => "failed"),
    );
    await lookup("localhost");
    const looked = performance.now() - began;
    assert.deepEqual([...new Set(await Promise.all(all))], ["failed"]);
    const ended = performance.now() - began;
    silent.close();
    assert.ok(looked < ended / 2, `a lookup of the system's took ${looked} ms of ${ended} ms`);
    assert.ok(ended < 5 * (began - since), `the names took ${ended} ms, one alone ${began - since} ms`);
  });
});
