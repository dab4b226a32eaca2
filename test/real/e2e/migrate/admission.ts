/**
 * A stand-in for Volcano's webhook server as a migration meets it: it runs while its Deployment has pods, answers only
 * once its configurations exist, and admits everything. Beside it, a prober that checks continuously whether pods can
 * be created.
 */
import { createServer, type Server } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { makePair } from "../../../../shared/adapters/certificates/pair.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { polling } from "../repeated-look.ts";

/** The bridge of the cluster's network, which the API server can reach. */
export const address = { ip: "10.244.0.1", port: 19_555 } as const;

export type Place = {
  readonly home: string;
  readonly deployment: string;
  readonly service: string;
  /** API paths of the configurations that it waits for. */
  readonly waitsFor: readonly string[];
};

export type Admission = {
  /** The CA that the API server must trust, base64. */
  readonly caBundle: string;
  /** Returns the number of requests so far. */
  asked(): number;
  stop(): Promise<void>;
};

const review = z.object({ request: z.object({ uid: z.string() }) });
const counted = z.looseObject({ status: z.looseObject({ replicas: z.number().default(0) }).default({ replicas: 0 }) });

const answerTo = (text: string): string => {
  const { uid } = review.parse(JSON.parse(text)).request;
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid, allowed: true },
  });
};

const pollMs = 250;

/** Starts and stops with its Deployment until `stop`. */
export const startAdmission = async (cluster: Cluster, place: Place): Promise<Admission> => {
  const { home, deployment, service, waitsFor } = place;
  const { cert, key, ca } = await makePair([`${service}.${home}.svc`], Date.now());
  let asked = 0;
  let server: Server | undefined;
  let stopped = false;
  const listen = (): Server =>
    createServer({ cert, key }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        asked += 1;
        response.setHeader("content-type", "application/json");
        response.end(answerTo(Buffer.concat(chunks).toString()));
      });
    })
      .on("error", () => {
        server = undefined;
      })
      .listen(address.port, address.ip);
  const close = (): void => {
    server?.close();
    server?.closeAllConnections();
    server = undefined;
  };
  const isMeant = async (): Promise<boolean> => {
    const { body } = await cluster.api.call("GET", `/apis/apps/v1/namespaces/${home}/deployments/${deployment}`);
    return counted.parse(body).status.replicas > 0;
  };
  const areThere = async (): Promise<boolean> => {
    const replies = await Promise.all(waitsFor.map((path) => cluster.api.call("GET", path)));
    return replies.every(({ status }) => status === 200);
  };
  const turn = async (): Promise<void> => {
    if (!(await isMeant())) return close();
    if (server === undefined && (await areThere())) server = listen();
  };
  const loop = (async () => {
    while (!stopped) {
      await turn().catch(() => {});
      await sleep(pollMs);
    }
  })();
  return {
    caBundle: Buffer.from(ca).toString("base64"),
    asked: () => asked,
    stop: async () => {
      stopped = true;
      await loop;
      close();
    },
  };
};

export type Prober = {
  /** Returns the number of requests so far, and the refusals, each with its time of day. */
  readonly told: () => { readonly asked: number; readonly refused: readonly string[] };
  stop(): Promise<void>;
};

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { generateName: "probe-" },
  spec: { containers: [{ name: "c", image: "busybox" }] },
};

/** Tries five times a second, by dry run, whether a pod can be created. */
export const startProber = (cluster: Cluster): Prober => {
  let asked = 0;
  const refused: string[] = [];
  const ask = async (): Promise<void> => {
    const { status, body } = await cluster.api.call("POST", "/api/v1/namespaces/default/pods?dryRun=All", pod);
    asked += 1;
    if (status !== 201) refused.push(`${new Date().toISOString().slice(11, 23)} ${JSON.stringify(body).slice(0, 300)}`);
  };
  return { told: () => ({ asked, refused }), stop: polling(ask, 200).stop };
};
