/** The two functions with HTTP endpoints, each behind its own URL: signed triggers, and admission. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { proofWith } from "../../../support/proof.ts";
import { triggerSecret } from "../../lambda/cloud.ts";
import { openUrl } from "../../lambda/url.ts";
import { must } from "../scene.ts";
import { completing, manifestOf } from "./applications.ts";
import type { Case } from "./cases.ts";
import type { Fixture } from "./fixture.ts";

const triggers = async ({ cloud, sent }: Fixture): Promise<string> => {
  const url = await openUrl(cloud.functions.api);
  try {
    const path = `/reconcile/SparkApplication/default/${completing[0]?.name}`;
    const post = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${url.url}${path}`, { method: "POST", headers, body: "" });
    must((await post({})).status === 401, "an unsigned trigger was not refused");
    const answer = await post(proofWith(triggerSecret, { path }));
    must(answer.status === 202, `a signed trigger: ${answer.status} ${await answer.text()}`);
    await sleep(500);
    must(
      sent.some(({ reason }) => reason === "trigger"),
      "the trigger did not come to the queue",
    );
    return "api: unsigned 401, signed 202 and on the queue";
  } finally {
    url.close();
  }
};

const reviewed = z.object({ response: z.object({ allowed: z.boolean(), patch: z.string().optional() }) });

const admits = async ({ cloud }: Fixture): Promise<string> => {
  const url = await openUrl(cloud.functions.admission);
  const review = async (path: string, object: object): Promise<z.infer<typeof reviewed>["response"]> => {
    const request = {
      uid: "of-this-lane",
      kind: { group: "sparkoperator.k8s.io", version: "v1beta2", kind: "SparkApplication" },
      resource: { group: "sparkoperator.k8s.io", version: "v1beta2", resource: "sparkapplications" },
      name: "asked",
      namespace: "default",
      operation: "CREATE",
      userInfo: {},
      object,
    };
    const body = JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });
    const answer = await fetch(`${url.url}${path}`, { method: "POST", body });
    const text = await answer.text();
    must(answer.status === 200, `${path}: ${answer.status} ${text}`);
    return reviewed.parse(JSON.parse(text)).response;
  };
  try {
    const [good] = completing.map(manifestOf);
    must((await review("/validate", good ?? {})).allowed, "a good application was refused");
    const bad = { ...good, spec: { type: "Scala", mode: "cluster", sparkVersion: "4.1.1" } };
    const { allowed } = await review("/validate", bad);
    must(!allowed, "an application without driver and executor was admitted");
    must((await review("/mutate", good ?? {})).allowed, "/mutate refused");
    return "admission: a good one admitted, a bad one refused";
  } finally {
    url.close();
  }
};

export const doors: Case = {
  name: "api and admission answer behind their URLs",
  run: async (fixture) => [await triggers(fixture), await admits(fixture)],
};
