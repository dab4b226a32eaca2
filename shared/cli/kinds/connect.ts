/** SparkConnect on the command line: a server that is ready, or not. */
import * as z from "zod";
import { instantOf } from "../../core/time.ts";
import { type Kind, type Outlook, quiet, unseen } from "./kind.ts";

const shape = z.object({
  state: z.string().optional(),
  startTime: z.string().nullish(),
  lastUpdateTime: z.string().nullish(),
  server: z.object({ podName: z.string().optional(), serviceName: z.string().optional() }).optional(),
  conditions: z.array(z.object({ status: z.string(), message: z.string().optional() })).optional(),
});

const outlooks: Readonly<Record<string, Outlook>> = {
  "": unseen,
  Provisioning: { waitsFor: "its server to start", todo: quiet },
  Ready: { waitsFor: "clients", todo: "nothing: connect to the service on port 15002" },
  NotReady: { waitsFor: "its server to answer", todo: "see what the server's log says: rekindle log" },
  Failed: { waitsFor: "its spec to be corrected", todo: "correct what the message names" },
};

const statusOf = (object: { readonly [field: string]: unknown }): z.infer<typeof shape> => {
  const parsed = shape.safeParse(object["status"] ?? {});
  return parsed.success ? parsed.data : {};
};

export const sparkConnect: Kind = {
  resource: { group: "sparkoperator.k8s.io", version: "v1alpha1", plural: "sparkconnects", kind: "SparkConnect" },
  shortNames: ["sparkconn"],
  podLabels: (name) => ({ "sparkoperator.k8s.io/connect-name": name }),
  stateOf: (object) => {
    const { state = "", startTime, lastUpdateTime, conditions = [] } = statusOf(object);
    return {
      state: state === "" ? "NEW" : state,
      attempts: undefined,
      message: conditions.find(({ status }) => status !== "True")?.message,
      since: instantOf(lastUpdateTime) ?? instantOf(startTime) ?? instantOf(object.metadata.creationTimestamp),
      ended: undefined,
      what: outlooks[state] ?? { waitsFor: `what comes after state ${state}`, todo: quiet },
    };
  },
  mainPod: (object, pods) => {
    const names = pods.map(({ metadata }) => metadata.name);
    return names.find((name) => name === (statusOf(object).server?.podName ?? `${object.metadata.name}-server`));
  },
  wide: (object) => {
    const { server } = statusOf(object);
    return { SERVER: server?.podName ?? "", SERVICE: server?.serviceName ?? "" };
  },
  suspends: false,
};
