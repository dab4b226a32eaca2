/** `rekindle job run`: a job from flags, as vcctl makes it, or from a file. */
import { request } from "../../adapters/kubernetes/requests.ts";
import { apiVersionOf, type Obj } from "../../core/object.ts";
import { collectionPath } from "../../kube/paths.ts";
import { quantityOf } from "../../kube/quantity.ts";
import { documentsOf } from "../io/documents.ts";
import { Refused } from "../io/failure.ts";
import type { Session } from "../io/tools.ts";
import { jobs } from "../kinds/job-shape.ts";

/** Flags of `rekindle job run`. */
export type Launch = {
  readonly name?: string | undefined;
  readonly image: string;
  readonly min: number;
  readonly replicas: number;
  readonly requests: string;
  readonly limits: string;
  readonly scheduler: string;
};

/** Parses `cpu=1000m,memory=100Mi` into amounts by resource. A refusal names the flag. */
export const amountsOf = (flag: string, text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .split(",")
      .filter((part) => part !== "")
      .map((part) => {
        const [resource = "", amount, ...more] = part.split("=");
        if (resource === "" || amount === undefined || more.length > 0)
          throw new Refused(`${flag} ${JSON.stringify(part)}: write RESOURCE=AMOUNT, e.g. cpu=500m,memory=100Mi`);
        if (quantityOf(amount) === undefined)
          throw new Refused(
            `${flag} ${JSON.stringify(part)}: ${JSON.stringify(amount)} is no amount; write e.g. 500m or 1Gi`,
          );
        return [resource, amount];
      }),
  );

/** A job with one task of `replicas` pods, as vcctl creates it. */
export const jobOf = (launch: Launch, namespace: string): Obj => {
  const { name = "", image, min, replicas, scheduler } = launch;
  const resources = {
    limits: amountsOf("--limits", launch.limits),
    requests: amountsOf("--requests", launch.requests),
  };
  const container = { name, image, imagePullPolicy: "IfNotPresent", resources };
  const template = {
    metadata: { name, labels: { "job.volcano.sh": name } },
    spec: { restartPolicy: "Never", containers: [container] },
  };
  return {
    apiVersion: apiVersionOf(jobs),
    kind: jobs.kind,
    metadata: { name, namespace },
    spec: { minAvailable: min, schedulerName: scheduler, tasks: [{ replicas, template }] },
  };
};

/** Reads the jobs of a file. Refuses objects of another kind. */
export const jobsIn = async (file: string, stdin: () => Promise<string>): Promise<readonly Obj[]> => {
  const documents = await documentsOf([file], stdin);
  for (const { object, place } of documents)
    if (object.kind !== jobs.kind || object.apiVersion !== apiVersionOf(jobs))
      throw new Refused(
        `${place}: is a ${object.kind} of ${object.apiVersion}, and no ${jobs.kind} of ${apiVersionOf(jobs)}; create it with: kubectl apply -f ${file}`,
      );
  return documents.map(({ object }) => object);
};

/** Creates the job. Returns the line to print. */
export const launched = async ({ transport }: Session, job: Obj, namespace: string): Promise<string> => {
  const placed = { ...job, metadata: { ...job.metadata, namespace } };
  await request(transport, "POST", collectionPath(jobs, namespace), placed);
  return `run job ${job.metadata.name} successfully`;
};
