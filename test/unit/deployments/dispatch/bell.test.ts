/** A dispatcher with a path of the bell takes keys from reviews of the API server, and opens no watch. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { dispatchUntil } from "../../../../shared/deployments/dispatch/process.ts";
import { freePort, listening } from "../../../support/port.ts";
import { application } from "../../host/objects.ts";
import { create, onCluster } from "../surroundings.ts";
import { openCalledFunction } from "./called-function.ts";

const path = "a-path-that-nobody-guesses";

const review = (name: string): string =>
  JSON.stringify({
    ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
    request: {
      ...{ uid: "ring", operation: "CREATE", namespace: "default", name },
      kind: { group: "sparkoperator.k8s.io", version: "v1beta2", kind: "SparkApplication" },
      resource: { group: "sparkoperator.k8s.io", version: "v1beta2", resource: "sparkapplications" },
      object: { ...application(name), metadata: { name, namespace: "default", uid: "u-1" } },
    },
  });

type Dispatched = {
  /** Bodies of the calls that the function got. */
  readonly calls: readonly string[];
  readonly url: string;
  /** Paths of the requests for watches. */
  readonly watches: readonly string[];
  readonly appear: (name: string) => Promise<void>;
  /** The URL of a second dispatcher, which is a standby. */
  readonly second: string;
};

const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  for (let left = 400; !(await isSo()); left--) {
    assert.ok(left > 0, "it did not come about in ten seconds");
    await sleep(25);
  }
};

const isReady = async (url: string): Promise<boolean> =>
  await fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

const answers = async (url: string): Promise<boolean> =>
  await fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  );

const record = z.object({ server: z.string() });

/**
 * Opens a way to the API server of a cluster record that notes the paths of watches, and shows objects as old: the messages of
 * new ones may be under way. Returns the record with its address.
 */
const openWay = async (text: string, watches: string[]) => {
  const { server } = record.parse(JSON.parse(text));
  const way = createServer(async (request, response) => {
    const path = request.url ?? "";
    if (/[?&]watch=/.test(path)) watches.push(path);
    const body = await textOf(request);
    const headers = { "content-type": request.headers["content-type"] ?? "application/json" };
    const { method = "GET" } = request;
    const answer = await fetch(`${server}${path}`, { method, headers, ...(body === "" ? {} : { body }) });
    const aged = (await answer.text()).replaceAll(/("creationTimestamp":)"[^"]+"/g, '$1"2020-01-01T00:00:00Z"');
    response.writeHead(answer.status, { "content-type": "application/json" }).end(aged);
  });
  const url = `http://127.0.0.1:${await listening(way)}`;
  const close = (): void => {
    way.closeAllConnections();
    way.close();
  };
  return { REKINDLE_CLUSTER_RECORD: JSON.stringify({ server: url }), close };
};

const withDispatchers = async (
  act: (dispatched: Dispatched) => Promise<void>,
  more: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const called = await openCalledFunction();
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  await onCluster([], async ({ REKINDLE_CLUSTER_RECORD: text }, _, simulator) => {
    const watches: string[] = [];
    const { close, ...env } = await openWay(text, watches);
    const start = async (): Promise<{ readonly url: string; readonly ended: Promise<void> }> => {
      const port = await freePort();
      const ended = dispatchUntil(
        {
          ...{ ...env, REKINDLE_HOME: "default", REKINDLE_LOG_LEVEL: "error", REKINDLE_LISTEN: `127.0.0.1:${port}` },
          ...{
            REKINDLE_CALL_URLS: `reconcile=${called.url},deliver=${called.url}`,
            REKINDLE_CALL_SECRET: "a-secret-that-signs",
          },
          REKINDLE_ADMISSION_PATH: path,
          ...more,
        },
        stopped,
      );
      return { url: `http://127.0.0.1:${port}`, ended };
    };
    const first = await start();
    await until(() => isReady(first.url));
    const second = await start();
    await until(() => answers(second.url));
    try {
      const { calls } = called;
      await act({ calls, watches, url: first.url, appear: (name) => create(simulator, name), second: second.url });
    } finally {
      stop();
      await Promise.all([first.ended, second.ended]);
      close();
      called.close();
    }
  });
};

const ring = (url: string, name: string, first = path): Promise<Response> =>
  fetch(`${url}/${first}/bell`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: review(name),
  });

describe("a dispatcher with the bell", () => {
  test("calls the function for a change that rang, and for none that did not, and opens no watch", async () => {
    await withDispatchers(async ({ calls, watches, url, appear }) => {
      await appear("silent");
      await appear("heard");
      const answer: unknown = await (await ring(url, "heard")).json();
      assert.deepEqual(answer, {
        ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
        response: { uid: "ring", allowed: true },
      });
      await until(() => calls.some((body) => body.includes("heard")));
      assert.deepEqual(
        calls.filter((body) => body.includes("silent")),
        [],
      );
      assert.deepEqual(watches, []);
    });
  });

  test("shows a change that did not ring as long as the last resync has found it", async () => {
    await withDispatchers(
      async ({ url, appear }) => {
        const figures = async (): Promise<string> => await (await fetch(`${url}/metrics`)).text();
        await until(async () => /^rekindle_unheard_changes 0$/m.test(await figures()));
        await appear("silent");
        await until(async () => /^rekindle_unheard_changes 1$/m.test(await figures()));
      },
      { REKINDLE_RESYNC: "1s" },
    );
  });

  test("answers 404 at another path, and 503 in a standby, so that the API server counts a lost ring", async () => {
    await withDispatchers(async ({ calls, url, second }) => {
      const statuses = [await ring(url, "pi", "another-path-altogether"), await ring(second, "pi")];
      assert.deepEqual(
        statuses.map(({ status }) => status),
        [404, 503],
      );
      await sleep(100);
      assert.deepEqual(
        calls.filter((body) => body.includes("SparkApplication")),
        [],
      );
    });
  });
});
