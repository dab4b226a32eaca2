/**
 * Admission that functions register: a dispatcher and the admission function as processes, on a simulated API server.
 * Reviews go to the registered address under the registered authority, as the API server would send them.
 */
import assert from "node:assert/strict";
import { request as call } from "node:https";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { admitUntil, openAdmissionApp } from "../../../../shared/deployments/admission/function.ts";
import { dispatchUntil } from "../../../../shared/deployments/dispatch/process.ts";
import type { Simulator } from "../../../../shared/simulator/open.ts";
import { freePort } from "../../../support/port.ts";
import { application } from "../../host/objects.ts";
import { onCluster } from "../surroundings.ts";

type Variables = Readonly<Record<string, string>>;

const admissionAt = (port: number): Variables => ({
  REKINDLE_ADMISSION: "true",
  REKINDLE_ADMISSION_LISTEN: `127.0.0.1:${port}`,
  REKINDLE_ADMISSION_REACH: `https://127.0.0.1:${port}`,
  REKINDLE_ADMISSION_SECRET: "default/rekindle-admission",
  REKINDLE_SPARK_DEFAULTS: JSON.stringify({ "spark.jars": "/tmp/a.jar" }),
});

const dispatcherAt = (port: number): Variables => ({
  ...{ REKINDLE_LISTEN: `127.0.0.1:${port}`, REKINDLE_HOME: "default", REKINDLE_LOG_LEVEL: "error" },
  REKINDLE_CALL_URLS: "reconcile=http://127.0.0.1:9/,deliver=http://127.0.0.1:9/",
  REKINDLE_CALL_SECRET: "a-secret-that-signs",
});

const configuration = z.object({
  webhooks: z.array(z.object({ clientConfig: z.object({ url: z.string(), caBundle: z.string() }) })),
});

/** The address and the authority of each registered webhook. */
const registered = ({ store }: Simulator) =>
  ["mutating", "validating"].flatMap((phase) =>
    store
      .list(`${phase}webhookconfigurations.admissionregistration.k8s.io`)
      .flatMap((one) => configuration.parse(one).webhooks.map(({ clientConfig }) => clientConfig)),
  );

const until = async (isSo: () => boolean): Promise<void> => {
  for (let left = 400; !isSo(); left--) {
    if (left === 0) throw new Error("the webhooks were not registered");
    await sleep(25);
  }
};

const review = (spec: Readonly<Record<string, unknown>>) =>
  JSON.stringify({
    ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
    request: {
      ...{ uid: "u", operation: "CREATE", namespace: "default" },
      kind: { group: "sparkoperator.k8s.io", version: "v1beta2", kind: "SparkApplication" },
      object: application("pi", { spec }),
    },
  });

const asked = (url: string, ca: Buffer, body: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const sent = call(url, { ca, method: "POST", agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      answer.once("end", () => resolve(text));
    });
    sent.once("error", reject).end(body);
  });

/** Sends a review to the webhook with this path under its registered authority. */
const answered = async (simulator: Simulator, path: string, spec: Parameters<typeof review>[0]): Promise<string> => {
  const found = registered(simulator).find(({ url }) => url.endsWith(path));
  assert.ok(found !== undefined);
  const answer = () => asked(found.url, Buffer.from(found.caBundle, "base64"), review(spec));
  let text = await answer();
  // A busy machine judges nothing.
  for (let left = 50; text.includes("the machine was busy") && left > 0; left--) text = await answer();
  return text;
};

const stopping = () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { stopped: promise, stop: resolve };
};

const judges = async (simulator: Simulator): Promise<void> => {
  await until(() => registered(simulator).some(({ url }) => url.endsWith("/validate")));
  assert.match(
    await answered(simulator, "/validate", { sparkConf: { "spark.master": "local" } }),
    /"allowed":false.*sparkConf key/,
  );
  assert.match(await answered(simulator, "/mutate", {}), /"allowed":true.*"patchType":"JSONPatch"/);
  // By the confs of the deployment, as the submission.
  assert.match(await answered(simulator, "/validate", {}), /"warnings":\["its submission will fail: \/tmp\/a\.jar/);
};

describe("admission in functions mode", () => {
  test("is served and registered by a dispatcher", async () => {
    await onCluster([], async (env, _, simulator) => {
      const { stopped, stop } = stopping();
      const admission = admissionAt(await freePort());
      const running = dispatchUntil({ ...env, ...dispatcherAt(await freePort()), ...admission }, stopped);
      try {
        await judges(simulator);
      } finally {
        stop();
        await running;
      }
    });
  });

  test("is served by a standby, too", async () => {
    await onCluster([], async (env, _, simulator) => {
      const { stopped, stop } = stopping();
      const active = dispatchUntil({ ...env, ...dispatcherAt(await freePort()) }, stopped);
      await until(() => simulator.store.list("leases.coordination.k8s.io").length > 0);
      assert.deepEqual(registered(simulator), []);
      const admission = admissionAt(await freePort());
      const standby = dispatchUntil({ ...env, ...dispatcherAt(await freePort()), ...admission }, stopped);
      try {
        await judges(simulator);
      } finally {
        stop();
        await Promise.all([active, standby]);
      }
    });
  });

  test("is served and registered by the admission function as a process", async () => {
    await onCluster([], async (env, _, simulator) => {
      const { stopped, stop } = stopping();
      const running = admitUntil({ ...env, ...admissionAt(await freePort()), REKINDLE_LOG_LEVEL: "error" }, stopped);
      try {
        await judges(simulator);
      } finally {
        stop();
        await running;
      }
    });
  });

  test("is not registered by a function behind a URL, which says how to register it", async () => {
    await assert.rejects(openAdmissionApp({ REKINDLE_ADMISSION: "true" }), /manifests --admission-url/);
  });

  test("needs the cluster where it registers itself", async () => {
    const alone = admitUntil({ REKINDLE_ADMISSION: "true" }, Promise.resolve());
    await assert.rejects(alone, /REKINDLE_CLUSTER_RECORD \(is missing: admission registers itself\)/);
  });
});
