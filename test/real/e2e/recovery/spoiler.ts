/** A webhook of this process that makes every third executor of each application unable to start. */
import { createServer } from "node:https";
import * as z from "zod";
import { makePair } from "../../../../shared/adapters/certificates/pair.ts";
import { listening } from "../../../support/port.ts";
import type { Cluster } from "../../cluster/cluster.ts";

const review = z.object({
  request: z.object({
    uid: z.string(),
    dryRun: z.boolean().default(false),
    object: z.looseObject({
      metadata: z.looseObject({ name: z.string(), labels: z.record(z.string(), z.string()).default({}) }),
      spec: z.looseObject({ volumes: z.array(z.unknown()).default([]), nodeSelector: z.unknown().optional() }),
    }),
  }),
});

type Pod = z.infer<typeof review>["request"]["object"];

/** The flaws of an executor that never starts. */
export const flaws = ["unschedulable", "volume", "image"] as const;
export type Flaw = (typeof flaws)[number];

type Operation = { readonly op: "add"; readonly path: string; readonly value: unknown };

/** Patches of the pod that keep it from starting; the nodes themselves refuse the image. */
const patches: Readonly<Record<Flaw, (pod: Pod) => readonly Operation[]>> = {
  unschedulable: () => [{ op: "add", path: "/spec/nodeSelector", value: { "rekindle.dev/nowhere": "true" } }],
  volume: ({ spec }) => [
    { op: "add", path: "/spec/volumes", value: [...spec.volumes, { name: "none", secret: { secretName: "is-not" } }] },
  ],
  image: () => [],
};

export type Spoiler = {
  /** Flaws by pod name, in the order of creation. */
  readonly spoiled: ReadonlyMap<string, Flaw>;
  stop(): Promise<void>;
};

const register = async ({ api }: Cluster, port: number, ca: string): Promise<void> => {
  const { status, body } = await api.call(
    "POST",
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingWebhookConfiguration",
      metadata: { name: "spoiler" },
      webhooks: [
        {
          name: "spoiler.test.rekindle.dev",
          admissionReviewVersions: ["v1"],
          sideEffects: "NoneOnDryRun",
          failurePolicy: "Fail",
          timeoutSeconds: 10,
          objectSelector: { matchLabels: { "spark-role": "executor" } },
          rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"] }],
          clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(ca).toString("base64") },
        },
      ],
    },
  );
  if (status !== 201) throw new Error(`the spoiler is not registered: ${JSON.stringify(body)}`);
};

/** Gives a flaw to the third, sixth, ninth … executor of every application, in turn. */
export const openSpoiler = async (cluster: Cluster): Promise<Spoiler> => {
  const spoiled = new Map<string, Flaw>();
  const counts = new Map<string, number>();
  /** A pod that is reviewed again after a failed create keeps its place. */
  const places = new Map<string, number>();
  const placeOf = ({ metadata }: Pod): number => {
    const app = metadata.labels["sparkoperator.k8s.io/app-name"] ?? "";
    const place = places.get(metadata.name) ?? (counts.get(app) ?? 0) + 1;
    counts.set(app, Math.max(place, counts.get(app) ?? 0));
    places.set(metadata.name, place);
    return place;
  };
  const judge = async (pod: Pod): Promise<readonly Operation[]> => {
    const place = placeOf(pod);
    const flaw = place % 3 === 0 ? flaws[(place / 3 - 1) % flaws.length] : undefined;
    if (flaw === undefined) return [];
    spoiled.set(pod.metadata.name, flaw);
    const refused = [...spoiled].filter(([, what]) => what === "image").map(([name]) => `^default/${name}$`);
    await Promise.all(cluster.nodes.map((node) => node.refusePulls(refused)));
    return patches[flaw](pod);
  };
  const pair = await makePair(["127.0.0.1"], Date.now());
  const server = createServer({ cert: pair.cert, key: pair.key }, async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const asked = review.parse(JSON.parse(text)).request;
    const patch = asked.dryRun ? [] : await judge(asked.object);
    const body = patch.length === 0 ? {} : { patchType: "JSONPatch", patch: btoa(JSON.stringify(patch)) };
    const answer = { uid: asked.uid, allowed: true, ...body };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: answer }));
  });
  const port = await listening(server);
  await register(cluster, port, pair.ca);
  return {
    spoiled,
    stop: async () => {
      await cluster.api.call("DELETE", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/spoiler");
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
