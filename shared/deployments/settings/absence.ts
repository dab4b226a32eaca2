/**
 * The reasons why a setting is missing in a mode or in a kind of deployment, where several settings share one; and the
 * settings of functions that depend on their caller: SQS or NATS, or a dispatcher. Functions do not bundle it.
 */
import type { SettingName } from "./table.ts";

/** A mode, or one kind of deployment of it, in which a setting may be missing. */
export type Target = "host" | "functions" | "helm" | "hostOverlay" | "sam" | "functionsOverlay";

export type Reference = {
  readonly text: string;
  readonly form: "text" | "duration" | "count" | "switch" | "choice" | "list" | "JSON" | "secret";
  /** The unit that a number counts. */
  readonly unit?: string;
  /** The template's parameter; absent: the document in its parameter `Settings`. */
  readonly parameter?: string;
  /** True: the template creates the resource that the setting names. */
  readonly made?: true;
  /** The path in the chart's values with the same meaning. */
  readonly value?: string;
  /** True: the chart uses that value for more than a variable, so `settings` has no such name. */
  readonly valueOnly?: true;
  readonly absent?: Readonly<Partial<Record<Target, string>>>;
};

export const byPod = "a pod has its own account, which this would only replace";
export const atPort = "its manifests contain the port: change it there";
const asCertificate = "its manifests contain the names and ports of admission: change them there";
export const noPort = "Lambda calls a function without a port";
export const inProcess = "its queue is inside the process";
export const consumed =
  "a function acknowledges every message that it receives, so a message that it only read would be lost";
export const byUrl = "its URL has a certificate that stays valid: rekindle manifests --admission-url registers it once";
export const byFlag = "rekindle manifests --admission makes the objects that it needs";
const ownPlace = "the proxy or function URL in front of the api function terminates TLS";
export const keptWhole = "functions report each duration by itself, so percentiles need no buckets";
const withoutLogin = "a function starts without a file or a login program: it takes the flat clusterRecord";
export const mountsFolder = "its manifests mount the folder: change it there";
const plainHttp = "a host serves plain HTTP on a private address: put a proxy in front";
export const ownCaller = "its steps run in its own process";
export const byLambda = "SQS calls the functions of the template";

/** A switch that no parameter of the template and no value of the chart names. */
export const switchFor = (text: string): Reference => ({ form: "switch", text });

/** One of several words, likewise. */
export const choiceFor = (text: string): Reference => ({ form: "choice", text });

export const absentInFunctions = (reason: string) => ({ absent: { functions: reason } });
export const absentInHost = (reason: string) => ({ absent: { host: reason } });
export const hostOutsidePods = { absent: { functions: withoutLogin, helm: byPod } };
export const processFunctionsOnly = { absent: { host: plainHttp, sam: noPort, functionsOverlay: ownPlace } };
export const onlyInWindows = {
  absent: {
    host: "it watches all the time",
    functionsOverlay: "forward is a process there, and watches all the time",
  },
};
export const admissionByObjects = { absent: { sam: byUrl, helm: asCertificate, hostOverlay: byFlag } };

/** The caller of functions: a queue (SQS, or a process that polls SQS or NATS), or the dispatcher in its place. */
export type FunctionCaller = "queue" | "dispatcher";

const queueInside = "a dispatcher holds the queue itself, and functions return messages in their answers";

/** Settings of functions that only one caller's deployments set, each with the reason why the other's do not. */
export const settingsOfOneCaller: Readonly<
  Partial<Record<SettingName, { readonly caller: FunctionCaller; readonly reason: string }>>
> = {
  fifoUrl: { caller: "queue", reason: queueInside },
  delayUrl: { caller: "queue", reason: queueInside },
  updatesUrl: { caller: "queue", reason: queueInside },
  natsUrl: { caller: "queue", reason: queueInside },
  natsCredentials: { caller: "queue", reason: queueInside },
  natsCaFile: { caller: "queue", reason: queueInside },
  natsPrefix: { caller: "queue", reason: queueInside },
  windowMs: { caller: "queue", reason: "a dispatcher watches all the time" },
  callUrls: { caller: "dispatcher", reason: "SQS calls the functions that its event sources name" },
  callSecret: { caller: "dispatcher", reason: "the permissions of the queue decide who sends" },
};
