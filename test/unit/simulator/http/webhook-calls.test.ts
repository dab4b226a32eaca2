/** Admission webhooks of a simulator behind HTTP are called over HTTP. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { openCaller, serveSimulator } from "../../../../shared/simulator/http/serve.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { itemsAt, textAt } from "../../../../shared/simulator/storage/json.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const configurations = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

const patches = [{ op: "add", path: "/metadata/labels", value: { seen: "yes" } }];

const response = {
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(patches)).toString("base64"),
};

/** Opens a webhook on a free port, which counts its requests. */
const openWebhook = async () => {
  const asked: string[] = [];
  const server = createServer(async (request, answer) => {
    const review: unknown = JSON.parse((await request.setEncoding("utf8").toArray()).join(""));
    asked.push(textAt(review, "request", "name") ?? "");
    answer.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { asked, url: `http://127.0.0.1:${port}/`, close: () => server.close() };
};

const hook = (name: string, url: string) => ({
  name,
  clientConfig: { url },
  rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
});

test("a webhook is called once per request, its patch is kept, and an unreachable one refuses", async () => {
  const webhook = await openWebhook();
  const caller = openCaller();
  const served = await serveSimulator(openSimulator({ admit: caller.admit }), { caller });
  const post = async (path: string, body: unknown): Promise<unknown> => {
    const headers = { "content-type": "application/json" };
    return (await fetch(served.url + path, { method: "POST", headers, body: JSON.stringify(body) })).json();
  };
  try {
    await post(configurations, { metadata: { name: "one" }, webhooks: [hook("one.example.com", webhook.url)] });
    const made = await post(maps, { metadata: { name: "made" } });
    assert.equal(textAt(made, "metadata", "labels", "seen"), "yes");
    assert.deepEqual(webhook.asked, ["made"]);
    const away = hook("two.example.com", "http://127.0.0.1:1/");
    await post(configurations, { metadata: { name: "two" }, webhooks: [away] });
    const refused = await post(maps, { metadata: { name: "refused" } });
    assert.match(textAt(refused, "message") ?? "", /failed calling webhook "two.example.com": .* connection refused$/);
    const list = await (await fetch(`${served.url}${maps}?labelSelector=seen`)).json();
    assert.equal(itemsAt(list, "items").length, 1);
  } finally {
    webhook.close();
    await served.close();
  }
});
