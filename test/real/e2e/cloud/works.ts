/**
 * The workloads of this lane: a Spark application and a Volcano Job that end before the cluster is lost, and two that
 * do not.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { sparkPi } from "../../../support/pi.ts";
import type { Api } from "../../cluster/api.ts";
import { must } from "../scene.ts";

export const early = { application: "rounds-early", job: "job-early" } as const;
export const late = { application: "rounds-late", job: "job-late" } as const;
export const both = [early, late] as const;

export const applicationsPath = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";
export const jobsPath = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";

/** Two cores run all of this; a JVM that compiles less starts sooner. */
const javaOptions = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

/** Returns an application that runs until its gate is open; `gates` is a folder of this machine. */
export const applicationOf = (name: string, gates: string): object =>
  sparkPi(name, {
    mainClass: "dev.rekindle.Rounds",
    arguments: [`/gates/${name}`, "1", "12", "50"],
    restartPolicy: { type: "Never" },
    volumes: [{ name: "gates", hostPath: { path: gates, type: "Directory" } }],
    driver: {
      ...{ cores: 1, memory: "512m", serviceAccount: "spark", javaOptions },
      volumeMounts: [{ name: "gates", mountPath: "/gates", readOnly: true }],
    },
    executor: { instances: 1, cores: 1, memory: "512m", javaOptions },
  });

/** Returns a job of two pods that must run together, each until the gate is open. */
export const jobOf = (name: string, gates: string): object => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, namespace: "default" },
  spec: {
    ...{ schedulerName: "volcano", minAvailable: 2 },
    tasks: [
      {
        ...{ name: "w", replicas: 2 },
        template: {
          spec: {
            ...{ restartPolicy: "Never", terminationGracePeriodSeconds: 1 },
            volumes: [{ name: "gates", hostPath: { path: gates, type: "Directory" } }],
            containers: [
              {
                ...{ name: "c", image: "busybox:1.36" },
                command: ["sh", "-c", `until [ -f /gates/${name} ]; do sleep 0.3; done`],
                volumeMounts: [{ name: "gates", mountPath: "/gates" }],
              },
            ],
          },
        },
      },
    ],
  },
});

export const openGate = (gates: string, name: string): Promise<void> => writeFile(join(gates, name), "");

export const created = async (api: Api, path: string, body: object): Promise<void> => {
  const answer = await api.call("POST", path, body);
  must(answer.status === 201, `POST ${path}: ${JSON.stringify(answer.body)}`);
};

const jobShape = z.object({
  status: z
    .looseObject({
      state: z.object({ phase: z.string().default("") }).default({ phase: "" }),
      version: z.number().default(0),
      retryCount: z.number().default(0),
    })
    .default({ state: { phase: "" }, version: 0, retryCount: 0 }),
});

export type Job = z.infer<typeof jobShape>["status"];

export const jobStatus = async (api: Api, name: string): Promise<Job> =>
  jobShape.parse((await api.call("GET", `${jobsPath}/${name}`)).body).status;

const podShape = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });

/** Returns the names of the pods with these labels. */
export const podsWith = async (api: Api, labels: string): Promise<readonly string[]> => {
  const path = `/api/v1/namespaces/default/pods?labelSelector=${encodeURIComponent(labels)}`;
  return podShape.parse((await api.call("GET", path)).body).items.map(({ metadata }) => metadata.name);
};
