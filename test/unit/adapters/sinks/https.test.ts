/** A listener on this machine with every kind of answer, and names that resolve to forbidden addresses. */
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { after, before, describe, test } from "node:test";
import { type HttpsRules, httpsSink, isPublic } from "../../../../shared/adapters/sinks/https.ts";
import { listenerKey, verified } from "../../../../shared/core/signature.ts";
import type { SentUpdate } from "../../../../shared/core/updates.ts";
import { cert, key } from "../kubernetes/certificate.ts";

const parcel: SentUpdate = {
  key: { cluster: "here", kind: "SparkApplication", namespace: "ns", name: "pi" },
  uid: "u",
  id: `${"a".repeat(16)}/1`,
  stream: "a".repeat(16),
  update: { sequence: 1, uid: "u", state: "RUNNING", attempt: 1, terminal: false, at: 0 },
  body: '{"specversion":"1.0"}',
};
/** 2026-11-02T08:00:00Z. */
const now = Date.UTC(2026, 10, 2, 8);
const secret = "a secret of sixteen letters";
const lenient: HttpsRules = { hosts: [], allowPrivate: true, secret: async () => secret };
const strict: HttpsRules = { hosts: [], allowPrivate: false, secret: async () => secret };

type Asked = { readonly path: string; readonly headers: IncomingMessage["headers"]; readonly body: string };

const asked: Asked[] = [];
let written = 0;

/** Writes without end until the other side closes. */
const flood = (answer: ServerResponse): void => {
  const chunk = Buffer.alloc(65_536);
  const more = (): void => {
    if (answer.destroyed || written > 1e9) return;
    written += chunk.length;
    answer.write(chunk, more);
  };
  more();
};

const ways: Readonly<Record<string, (answer: ServerResponse) => void>> = {
  "/ok": (answer) => answer.writeHead(200).end("thanks"),
  "/accepted": (answer) => answer.writeHead(204).end(),
  "/broken": (answer) => answer.writeHead(500).end("no"),
  "/gone": (answer) => answer.writeHead(410).end(),
  "/moved": (answer) => answer.writeHead(302, { location: "/ok" }).end(),
  "/loop": (answer) => answer.writeHead(301, { location: "/loop" }).end(),
  "/hangs": () => {},
  "/begins": (answer) => answer.writeHead(200).write("and then"),
  "/megabytes": (answer) => flood(answer.writeHead(200)),
  "/endless-no": (answer) => flood(answer.writeHead(503)),
  "/reset": (answer) => answer.destroy(),
  "/headers": (answer) => answer.writeHead(200, { "x-long": "x".repeat(100_000) }).end(),
};

const listening = (server: Server): Promise<number> =>
  new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    }),
  );

describe("the HTTPS sink", () => {
  let port = 0;
  let securePort = 0;
  const server = createServer((request, answer) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      asked.push({ path: request.url ?? "", headers: request.headers, body });
      ways[request.url?.split("?")[0] ?? ""]?.(answer);
    });
  });
  const secure = createSecureServer({ cert, key }, (_, answer) => answer.writeHead(200).end());
  before(async () => {
    port = await listening(server);
    securePort = await listening(secure);
  });
  after(() => {
    for (const one of [server, secure]) {
      one.closeAllConnections();
      one.close();
    }
  });

  const rows: readonly (readonly [path: string, did: string, error?: RegExp])[] = [
    ["/ok", "acknowledged"],
    ["/accepted", "acknowledged"],
    ["/broken", "failed", /answered 500/],
    ["/gone", "failed", /answered 410/],
    ["/moved", "failed", /answered 302; redirects are not followed/],
    ["/loop", "failed", /answered 301/],
    ["/hangs", "failed", /did not answer within 2000 ms/],
    ["/begins", "acknowledged"],
    ["/megabytes", "acknowledged"],
    ["/endless-no", "failed", /answered 503/],
    ["/reset", "failed", /cannot be reached \(ECONNRESET\)/],
    ["/headers", "failed", /cannot be reached \(HPE_HEADER_OVERFLOW\)/],
  ];
  for (const [path, did, error] of rows)
    test(`classifies the answer of ${path} as ${did} within its two seconds`, async () => {
      written = 0;
      asked.length = 0;
      const sent = await httpsSink(lenient)(`http://127.0.0.1:${port}${path}`, parcel, now);
      assert.equal(sent.did, did);
      assert.match("error" in sent ? sent.error : "", error ?? /^$/);
      assert.ok(written < 20e6, `${written} bytes were taken`);
      assert.equal(asked.length, 1, "one request, and none to where it was sent on to");
    });

  test("signs the body, the listener's URL and the time", async () => {
    asked.length = 0;
    const url = `http://127.0.0.1:${port}/ok?team=a`;
    await httpsSink(lenient)(url, parcel, now);
    const [request] = asked;
    assert.ok(request);
    const { headers, body } = request;
    const timestamp = String(headers["x-rekindle-timestamp"]);
    const given = String(headers["x-rekindle-signature"]);
    const key = listenerKey(secret, url);
    const check = (path: string, text: string, at: number, under = key): boolean =>
      verified(under, { timestamp, method: "POST", path, body: text }, given, at);
    assert.equal(headers["content-type"], "application/cloudevents+json; charset=utf-8");
    assert.equal(body, parcel.body);
    assert.ok(check(url, body, now));
    assert.ok(!check(`http://other.example/ok?team=a`, body, now));
    assert.ok(!check(url, `${body} `, now));
    assert.ok(!check(url, body, now, secret), "no listener needs the secret that all keys are made of");
    assert.ok(!check(url, body, now, listenerKey(secret, `http://127.0.0.1:${port}/ok?team=b`)));
    assert.ok(!check(url, body, now + 301_000));
  });

  test("signs nothing without a secret", async () => {
    asked.length = 0;
    await httpsSink({ hosts: [], allowPrivate: true })(`http://127.0.0.1:${port}/ok`, parcel, now);
    assert.equal(asked[0]?.headers["x-rekindle-signature"], undefined);
  });

  test("trusts no self-signed certificate", async () => {
    const sent = await httpsSink(lenient)(`https://127.0.0.1:${securePort}/`, parcel, now);
    assert.equal(sent.did, "failed");
    assert.match("error" in sent ? sent.error : "", /CERT|SELF_SIGNED|VERIFY/);
  });

  const forbidden = [
    "http://listener.example/",
    "ftp://listener.example/",
    "file:///etc/passwd",
    "https://user:password@listener.example/",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://0x7f000001/",
    "https://2130706433/",
    "https://017700000001/",
    "https://0/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[fd00:ec2::254]/latest/meta-data",
    "https://[fe80::1]/",
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/",
    "https://172.31.255.255/",
    "https://192.168.1.1/",
    "https://100.100.100.200/",
    "https://localhost/",
    "no URL at all",
  ];
  for (const url of forbidden)
    test(`refuses ${url} before it connects`, async () => {
      const sent = await httpsSink(strict)(url, parcel, now);
      assert.equal(sent.did, "refused");
      assert.doesNotMatch("error" in sent ? sent.error : "", /password@|meta-data/);
    });

  const resolving = (...addresses: string[]): HttpsRules => ({ ...strict, resolve: async () => addresses });
  for (const [name, addresses] of [
    ["a name with a private address", ["10.1.2.3"]],
    ["a name with a private address among others", ["93.184.216.34", "127.0.0.1"]],
    ["a name with the address of the metadata service", ["169.254.169.254"]],
    ["a name with the address of Azure's platform", ["168.63.129.16"]],
    ["a name with a mapped private address", ["::ffff:10.0.0.1"]],
  ] as const)
    test(`refuses ${name}`, async () => {
      const sent = await httpsSink(resolving(...addresses))("https://rebound.example/", parcel, now);
      assert.deepEqual([sent.did, "error" in sent && /not a public address/.test(sent.error)], ["refused", true]);
    });

  test("resolves a name once, and connects to that address", async () => {
    let times = 0;
    const rules = { ...lenient, resolve: async () => [times++ === 0 ? "127.0.0.1" : "203.0.113.1"] };
    const sent = await httpsSink(rules)(`http://rebound.example:${port}/ok`, parcel, now);
    assert.deepEqual([sent.did, times], ["acknowledged", 1]);
    assert.equal(asked.at(-1)?.headers.host, `rebound.example:${port}`);
  });

  for (const scheme of ["http", "https"])
    test(`fails if no route leads to the address: ${scheme}`, async () => {
      // The kernel refuses a connection to the broadcast address at once, and sends nothing.
      const rules = { ...lenient, resolve: async () => ["255.255.255.255"] };
      const sent = await httpsSink(rules)(`${scheme}://unreachable.example:9/`, parcel, now);
      assert.deepEqual(sent, { did: "failed", error: "the listener cannot be reached (ENETUNREACH)" });
    });

  test("fails within its two seconds if a name is never resolved", async () => {
    const rules = { ...strict, resolve: () => new Promise<never>(() => {}) };
    const sent = await httpsSink(rules)("https://slow.example/", parcel, now);
    assert.deepEqual(sent, { did: "failed", error: "the listener did not answer within 2000 ms" });
  });

  for (const [url, did] of [
    ["https://hooks.example.com/", "failed"],
    ["https://example.com/", "refused"],
    ["https://evilexample.com/", "refused"],
    ["https://one.test/", "failed"],
    ["https://one.test.evil.net/", "refused"],
  ] as const)
    test(`accepts only hosts on its list: ${url} is ${did}`, async () => {
      const rules = { ...strict, hosts: [".example.com", "one.test"], resolve: async () => [] };
      assert.equal((await httpsSink(rules)(url, parcel, now)).did, did);
    });

  for (const address of ["1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700::1111"])
    test(`counts ${address} as public`, () => assert.ok(isPublic(address)));
});
