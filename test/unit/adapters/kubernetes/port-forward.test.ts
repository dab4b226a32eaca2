/** A local port that leads to a pod's page: the requests that pass, and the clients that it admits. */
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { openPortForward } from "../../../../shared/adapters/kubernetes/port-forward.ts";

type Asked = { readonly line: string; readonly headers: IncomingMessage["headers"]; readonly body: string };
type Answering = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

const prefix = "/api/v1/namespaces/jobs/pods/app-driver:4040/proxy";

const portOf = (address: ReturnType<ReturnType<typeof createServer>["address"]>): number =>
  typeof address === "object" && address !== null ? address.port : 0;

/** Runs a test with an API server whose pod proxy gives this answer, and a passage to it. */
const onPassage =
  (answer: Answering, act: (url: string, asked: readonly Asked[]) => Promise<void>, pod = async () => "app-driver") =>
  async (): Promise<void> => {
    const asked: Asked[] = [];
    const server = createServer(async (incoming, outgoing) => {
      const { method, url, headers } = incoming;
      asked.push({ line: `${method} ${url}`, headers, body: await text(incoming) });
      answer(incoming, outgoing);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const endpoint = { server: `http://127.0.0.1:${portOf(server.address())}`, auth: { token: "secret" } };
    const leading = { namespace: "jobs", pod, port: 4040 };
    const passage = await openPortForward(endpoint, leading, { address: "127.0.0.1", port: 0 });
    try {
      await act(passage.url.replace(/\/$/, ""), asked);
    } finally {
      await passage.close();
      server.closeAllConnections();
      server.close();
    }
  };

const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe, 0x00, 0x0a, 0x80]);

const page: Answering = (_, outgoing) => {
  outgoing.writeHead(200, { "content-type": "image/png", "set-cookie": "a=b", "x-kubernetes-pf": "1" });
  outgoing.end(bytes);
};

/** Sends a path and a Host unchanged, which fetch would normalize. */
const raw = (url: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const outgoing = request({ hostname, port, path, headers }, (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode ?? 0);
    });
    outgoing.on("error", reject);
    outgoing.end();
  });

describe("a local port that leads to a pod", () => {
  test(
    "returns the pod's bytes under Rekindle's credentials, and gives no credentials away",
    onPassage(page, async (url, asked) => {
      const answer = await fetch(`${url}/static/logo.png?v=1`, {
        headers: { cookie: "session=1", authorization: "Basic x" },
      });
      assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes);
      assert.equal(answer.headers.get("content-type"), "image/png");
      assert.deepEqual([answer.headers.get("set-cookie"), answer.headers.get("x-kubernetes-pf")], [null, null]);
      assert.equal(asked[0]?.line, `GET ${prefix}/static/logo.png?v=1`);
      assert.deepEqual([asked[0]?.headers.authorization, asked[0]?.headers.cookie], ["Bearer secret", undefined]);
    }),
  );

  test(
    "accepts a path that the API server rewrote in a page",
    onPassage(page, async (url, asked) => {
      await fetch(`${url}${prefix}/jobs/`);
      await fetch(`${url}/jobs/`);
      assert.deepEqual(
        asked.map(({ line }) => line),
        [`GET ${prefix}/jobs/`, `GET ${prefix}/jobs/`],
      );
    }),
  );

  test(
    "keeps redirects on this machine",
    onPassage(
      (_, outgoing) => outgoing.writeHead(302, { location: `${prefix}/jobs/` }).end(),
      async (url) => {
        const answer = await fetch(url, { redirect: "manual" });
        assert.deepEqual([answer.status, answer.headers.get("location")], [302, "/jobs/"]);
      },
    ),
  );

  test(
    "forwards a form once",
    onPassage(page, async (url, asked) => {
      await fetch(`${url}/jobs/job/kill/`, { method: "POST", body: new URLSearchParams({ id: "1" }) });
      assert.deepEqual(
        asked.map(({ line, body }) => `${line} ${body}`),
        [`POST ${prefix}/jobs/job/kill/ id=1`],
      );
    }),
  );

  const climbing = ["/../../../../secrets", "/%2e%2e/%2e%2e/secrets", "//other.example/x", "/a/../../b"];
  for (const path of climbing) {
    test(
      `keeps ${path} within the pod's proxy path`,
      onPassage(page, async (url, asked) => {
        await raw(url, path);
        assert.ok(asked.length <= 1 && asked.every(({ line }) => line.startsWith(`GET ${prefix}/`)), asked[0]?.line);
        assert.doesNotMatch(asked[0]?.line.slice(prefix.length) ?? "", /\.\.|%2e/i);
      }),
    );
  }

  test(
    "refuses a request whose Host is another name",
    onPassage(page, async (url, asked) => {
      assert.equal(await raw(url, "/", { host: "evil.example:4040" }), 403);
      assert.equal(await raw(url, "/", { host: "localhost:4040" }), 200);
      assert.equal(asked.length, 1);
    }),
  );

  test(
    "answers 502 with the reason if there is no pod, and continues",
    onPassage(
      page,
      async (url, asked) => {
        const answer = await fetch(url);
        assert.deepEqual([answer.status, await answer.text()], [502, "there is no driver\n"]);
        assert.equal(asked.length, 0);
      },
      async () => {
        throw new Error("there is no driver");
      },
    ),
  );

  test("that is in use is refused, with the repair", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const port = portOf(server.address());
    const leading = { namespace: "jobs", pod: async () => "p", port: 4040 };
    const opening = openPortForward({ server: "http://127.0.0.1:1" }, leading, { address: "127.0.0.1", port });
    await assert.rejects(opening, /cannot listen on 127\.0\.0\.1:\d+: .*; choose another --port$/);
    server.close();
  });
});
