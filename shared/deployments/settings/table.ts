/** Every setting there is, once: its meaning, its form, its default. Flags, environment, file and reference page follow from it. */
import * as z from "zod";
import type { Reach } from "../../cli/installation/webhooks.ts";
import { type Family, families } from "../../kube/families.ts";
import { selectorOf } from "../../kube/selector.ts";
import { gangModes } from "../../volcano/gang/scheduler.ts";
import { choice, count, duration, list, required, text, yesOrNo } from "./formats.ts";
import { placeText } from "./record-store.ts";
import { recoveryKeys } from "./recovery.ts";
import { sparkKeys } from "./spark.ts";
import { updatesKeys } from "./updates.ts";

const address = text.refine((value) => /^(\[[0-9a-f:]+\]|[\w.-]+):\d{1,5}$/i.test(value), {
  error: "write an address and a port, such as 127.0.0.1:8080",
});

/** Names of namespaces as the API server takes them. */
const namespaces = list.refine((names) => names.every((name) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)), {
  error: "write names of namespaces separated by commas",
});

const isFamily = (name: string): name is Family => families.some((one) => one === name);

const chosenFamilies = list.transform((names, context): readonly Family[] => {
  if (names.length > 0 && names.every(isFamily)) return names.filter(isFamily);
  context.addIssue(`write ${families.join(", ")} or both separated by a comma`);
  return z.NEVER;
});

const secureUrl = z.url({ protocol: /^https$/ });
const service = /^([a-z0-9][-a-z0-9]{0,62})\/([a-z0-9][-a-z0-9.]{0,252})(?::(\d{1,5}))?$/;

/** A URL, or a Service as `NAMESPACE/NAME` or `NAMESPACE/NAME:PORT`. */
const reach = text.transform((value, context): Reach => {
  if (secureUrl.safeParse(value).success) return { url: value };
  const [, namespace, name, port = "443"] = service.exec(value) ?? [];
  if (namespace !== undefined && name !== undefined) return { service: { namespace, name, port: Number(port) } };
  context.addIssue("write an https:// URL, or a Service such as rekindle/rekindle-admission");
  return z.NEVER;
});

const reference = text.transform((value, context) => {
  const [, namespace, name, port] = service.exec(value) ?? [];
  if (namespace !== undefined && name !== undefined && port === undefined) return { namespace, name };
  context.addIssue("write a namespace and a name, such as rekindle/rekindle-admission");
  return z.NEVER;
});

const selector = text.refine((value) => selectorOf(value) !== undefined, {
  error: "write a label selector, such as team=data",
});

/** The settings by name. A name ending in `Ms` is written without it, with a unit: `resync: 5m`. */
export const keys = {
  cluster: required.prefault("default").describe("alias of the cluster in keys and logs; never an endpoint"),
  kubeconfig: text
    .optional()
    .describe("file that says how to reach the cluster; else $KUBECONFIG, ~/.kube/config, or the pod's own"),
  context: text.optional().describe("context of the kubeconfig; else its current one"),
  namespaces: namespaces.prefault("").describe("namespaces to look after, separated by commas; none means all"),
  namespaceSelector: selector
    .prefault("")
    .describe("look after namespaces with these labels, besides those that are named, e.g. spark=enabled"),
  families: chosenFamilies
    .prefault(families.join(","))
    .describe("families of kinds to run: those whose CRDs and rights rekindle manifests --family installs"),
  selector: selector.prefault("").describe("look after applications with these labels only, e.g. team=data"),
  checkpoints: placeText
    .prefault("kubernetes")
    .describe(
      "where records are kept: as objects beside each application, or dynamodb://TABLE with region and keepDays after a ?",
    ),
  queue: choice("embedded").prefault("embedded").describe("what carries the keys: a queue inside the process"),
  concurrency: count(256).prefault("16").describe("keys in work at once"),
  maxSubmissions: count(256).prefault("16").describe("submissions under way at once; more wait, in their order"),
  parallel: count(64).prefault("24").describe("writes in flight at once within one step"),
  resyncMs: duration.prefault("5m").describe("how often everything is looked at again, event or not"),
  stepMs: duration.prefault("20s").describe("a step leaves before this"),
  fenceMs: duration.prefault("10s").describe("no write starts later than this after the save that planned it"),
  timeoutMs: duration.prefault("5s").describe("longest time for one request"),
  ...recoveryKeys,
  listen: address.prefault("127.0.0.1:8080").describe("where /healthz, /readyz and the triggers are served"),
  triggerSecretFile: text
    .optional()
    .describe("file with the secret that signs POST /reconcile/…; without it triggers are off"),
  logLevel: choice("debug", "info", "warn", "error").prefault("info").describe("least level that is logged"),
  dryRun: yesOrNo.prefault("false").describe("decide and print plans, write nothing"),
  output: choice("text", "json")
    .prefault("text")
    .describe("how a dry run tells its plans: as a diff, or in lines of JSON"),
  takeOver: yesOrNo.prefault("false").describe("write although another controller of these kinds seems alive"),
  coexist: yesOrNo.prefault("false").describe("run beside another controller whose namespaces are different ones"),
  admission: yesOrNo
    .prefault("false")
    .describe("serve admission webhooks over HTTPS, and register them with the API server"),
  admissionListen: address.prefault("0.0.0.0:9443").describe("where admission is served"),
  admissionReach: reach
    .prefault("rekindle/rekindle-admission")
    .describe("how the API server calls admission: a Service as NAMESPACE/NAME[:PORT], or an https:// URL"),
  admissionSecret: reference
    .prefault("rekindle/rekindle-admission")
    .describe("Secret in which replicas share the certificate that they make and renew"),
  admissionCertificates: text
    .optional()
    .describe("folder with tls.crt, tls.key and ca.crt that somebody else keeps current; then no Secret is used"),
  admissionQuota: yesOrNo
    .prefault("false")
    .describe("admission refuses SparkApplications that exceed a ResourceQuota, as upstream counts them"),
  leases: list
    .prefault("spark-operator-lock,spark-operator-controller-lock")
    .describe("leader leases that tell of another controller"),
  gang: choice(...gangModes)
    .prefault("auto")
    .describe(
      "who lets Volcano's groups of pods in: its scheduler, none (then the host does), or auto: whoever is found to",
    ),
  ...updatesKeys,
  ...sparkKeys,
} as const;

const shape = z.strictObject(keys);

export type Configuration = z.infer<typeof shape>;
export type KeyName = keyof typeof keys;

export const keyNames: readonly KeyName[] = shape.keyof().options;

export const isKeyName = (name: string): name is KeyName => Object.hasOwn(keys, name);

/** As people write it in a file: units belong to the value. */
export const fileName = (name: string): string => name.replace(/Ms$/, "");

const split = (name: string): string => fileName(name).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** As a flag, without its dashes. */
export const flagName = split;

/** As an environment variable. */
export const variableName = (name: string): string => `REKINDLE_${split(name).replaceAll("-", "_").toUpperCase()}`;

/** A switch needs no value on the command line. */
export const isSwitch = (name: KeyName): boolean =>
  Object.is(keys[name].def.type === "prefault" && keys[name].def.innerType, yesOrNo);

/** Parses all settings at once; the caller knows where each value came from. */
export const parseKeys = (values: Readonly<Record<string, unknown>>) => shape.safeParse(values);

/** The default as it would be written, or undefined where there is none. */
export const defaultOf = (name: KeyName): string | undefined => {
  const { def } = keys[name];
  return def.type === "prefault" ? String(def.defaultValue) : undefined;
};
