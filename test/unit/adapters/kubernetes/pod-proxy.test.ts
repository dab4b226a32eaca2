/** Proxied requests to a pod: the path, and a probe result for every answer or failure. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ask, openQuestions } from "../../../../shared/adapters/kubernetes/pod-proxy.ts";
import { ApiError, type Transport } from "../../../../shared/core/http.ts";
import { pods, type Reply, refusal, scripted } from "./fake.ts";

const question = {
  do: "proxyGet",
  pod: { resource: pods, namespace: "ns", name: "pi-driver" },
  port: 4040,
  path: ["api", "v1", "applications", "a/../b", "executors"],
} as const;

const silent = (reason: string): Transport => ({
  ...scripted(),
  send: () => Promise.reject(new ApiError({ status: 0, reason, message: "no answer" })),
});

const why = async (transport: Transport): Promise<string> => {
  const answer = await ask(transport, question);
  return answer.heard ? `heard ${JSON.stringify(answer.value)}` : answer.why;
};

describe("a proxied request to a pod", () => {
  it("goes through the API server's proxy, with limits of time and bytes, and stays in its path", async () => {
    const transport = scripted({ body: [] });
    await ask(transport, question);
    const [asked] = transport.asked;
    assert.deepEqual(
      [asked?.method, asked?.path, asked?.timeoutMs, asked?.limitBytes],
      [
        "GET",
        "/api/v1/namespaces/ns/pods/pi-driver%3A4040/proxy/api/v1/applications/a%2F..%2Fb/executors",
        2_000,
        1_048_576,
      ],
    );
  });

  const replies: readonly (readonly [what: string, reply: Reply, meaning: string])[] = [
    ["JSON", { body: [{ id: "1" }] }, 'heard [{"id":"1"}]'],
    ["a page, as from a driver whose context is not up", { body: "<html>" }, "notJson"],
    [
      "300,000 empty lists, which fit the bytes and would take long to parse",
      { body: Array(300_000).fill([]) },
      "tooLong",
    ],
    ["a redirect to a login", { status: 302, body: "" }, "notJson"],
    ["the pod's own 404", { status: 404, body: "no such app" }, "notFound"],
    ["the server's 404 for a missing pod", refusal(404, "NotFound", "pi-driver"), "notFound"],
    ["a refusal of the proxy right", refusal(403, "Forbidden"), "forbidden"],
    ["503, because the pod's port is closed", refusal(503, "ServiceUnavailable"), "unreachable"],
    ["429 of a busy server", refusal(429, "TooManyRequests"), "unreachable"],
  ];
  for (const [what, reply, meaning] of replies)
    it(`is answered with ${what}: ${meaning}`, async () => assert.equal(await why(scripted(reply)), meaning));

  for (const [reason, meaning] of [
    ["Timeout", "timeout"],
    ["Unreachable", "unreachable"],
    ["TooLong", "tooLong"],
  ] as const)
    it(`has no answer, ${reason}: ${meaning}`, async () => assert.equal(await why(silent(reason)), meaning));

  it("ends with a slash only if the last part of its path is empty", async () => {
    const transport = scripted({ body: {} });
    await ask(transport, { ...question, path: ["metrics", "json", ""] });
    assert.match(transport.asked[0]?.path ?? "", /\/proxy\/metrics\/json\/$/);
    for (const path of [[""], ["metrics", "", "json"]]) {
      const answer = await ask(scripted({ body: {} }), { ...question, path });
      assert.equal(answer.heard, false);
    }
  });

  it("is not sent if its path has a part that climbs", async () => {
    const answer = await ask(scripted(), { ...question, path: ["..", "secrets"] });
    assert.equal(answer.heard, false);
  });

  const headers: readonly (readonly [name: string, value: string, sent: boolean])[] = [
    ["X-Probe", "me", true],
    ["accept", "text/plain", true],
    ["Authorization", "Bearer x", false],
    ["Impersonate-User", "admin", false],
    ["X-Remote-User", "admin", false],
    ["X-Forwarded-For", "10.0.0.1", false],
    ["Host", "elsewhere", false],
    ["X-Probe", "one\r\nX-Two: two", false],
  ];
  for (const [name, value, sent] of headers)
    it(`header ${name}: ${JSON.stringify(value)} ${sent ? "is" : "is not"} sent through the API server`, async () => {
      const transport = scripted({ body: [] });
      await ask(transport, { ...question, header: { name, value } });
      const wanted = sent ? { [name.toLowerCase()]: value } : {};
      assert.deepEqual(transport.asked[0]?.headers, wanted);
    });

  it("carries its query string, and escapes line breaks", async () => {
    const transport = scripted({ body: [] });
    await ask(transport, { ...question, path: ["ready"], query: "full=1&a=b c\r\n" });
    assert.match(transport.asked[0]?.path ?? "", /\/proxy\/ready\?full=1&a=b\+c%0D%0A$/);
  });

  it("throws a fault of Rekindle itself unchanged", async () => {
    const broken: Transport = { ...scripted(), send: () => Promise.reject(new TypeError("ours")) };
    await assert.rejects(ask(broken, question), TypeError);
  });

  it("may allow a longer answer, up to 16 MiB", async () => {
    for (const [mostBytes, limit] of [
      [4_000_000, 4_000_000],
      [1e12, 16_777_216],
    ] as const) {
      const transport = scripted({ body: [] });
      await ask(transport, { ...question, mostBytes });
      assert.equal(transport.asked[0]?.limitBytes, limit);
    }
  });
});

describe("proxied requests to pods", () => {
  it("are not sent for growing times to a pod whose answers exceed the limit, and then are sent again", async () => {
    const time = { now: 0 };
    let asked = 0;
    const transport: Transport = {
      ...scripted(),
      send: () => {
        asked += 1;
        return Promise.reject(new ApiError({ status: 0, reason: "TooLong", message: "no answer" }));
      },
    };
    const put = openQuestions(transport, () => time.now);
    const counts: number[] = [];
    for (let second = 0; second < 100; second += 1) {
      time.now = second * 1_000;
      await put(question);
      counts.push(asked);
    }
    assert.deepEqual([counts[1], counts[2], counts[6], counts[99]], [1, 2, 3, 6]);
    const answer = await put({ ...question, pod: { ...question.pod, name: "other" } });
    assert.deepEqual([answer.heard, asked], [false, 7]);
  });

  it("of one namespace wait in line, and those of another namespace do not", async () => {
    const held: (() => void)[] = [];
    const asked: string[] = [];
    const transport: Transport = {
      ...scripted(),
      send: ({ path }) =>
        new Promise((resolve) => {
          asked.push(path.split("/")[4] ?? "");
          held.push(() => resolve({ status: 200, headers: {}, body: "[]" }));
        }),
    };
    const put = openQuestions(transport);
    const all = Array.from({ length: 10 }, () => put(question));
    const other = put({ ...question, pod: { ...question.pod, namespace: "other" } });
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(asked, ["ns", "ns", "ns", "ns", "other"]);
    for (; held.length > 0; await new Promise((resolve) => setImmediate(resolve))) held.shift()?.();
    await Promise.all([...all, other]);
    assert.equal(asked.length, 11);
  });
});
