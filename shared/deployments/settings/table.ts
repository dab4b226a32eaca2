/**
 * The table of all settings: form, default and readers of each. The names on command lines, in environments and in
 * files follow from the key; `reference.ts` has the sentence and the place in each kind of deployment.
 */
import type * as z from "zod";
import { isLabelValue } from "../../core/object.ts";
import { defaultFamilies } from "../../kube/resources.ts";
import { usualNamespaces } from "../../kube/upstream-controllers.ts";
import { gangEvictions, gangModes, vcctlNamespace } from "../../volcano/gang/settings.ts";
import {
  address,
  annotations,
  buckets,
  choice,
  chosenFamilies,
  clusterRecord,
  commandNamespaces,
  count,
  duration,
  durationUpTo,
  fifoQueue,
  functionUrls,
  groupsOfPods,
  httpsAddress,
  ingressTls,
  labelSelector,
  list,
  listener,
  namespace,
  namespaces,
  natsServers,
  pageAddress,
  place,
  prices,
  reach,
  reference,
  required,
  secretPath,
  signingSecret,
  sparkConfs,
  standardQueue,
  streamPrefix,
  text,
  userGroups,
  version,
  weights,
  windowLength,
  yesOrNo,
} from "./formats.ts";

/** Functions that answer no request of a client. */
const background = ["reconcile", "forward", "wake", "resync", "deliver"] as const;

export const functionReaders = [...background, "dispatch", "api", "admission", "bell", "submitter"] as const;

export type FunctionReader = (typeof functionReaders)[number];
export type Reader = "host" | "cli" | FunctionReader;

type Row = {
  /** Called when the setting is read, so that a cold start builds only the schemas of its function. */
  readonly schema: () => z.ZodType;
  readonly readers: readonly Reader[];
  /** The default as a user would write it; absent: the setting may be undefined. */
  readonly default?: string;
  /** The default in functions, where it differs. */
  readonly functions?: string;
  /** Readers without the default. */
  readonly silent?: readonly Reader[];
  /** Readers that do not start without it. */
  readonly neededBy?: readonly Reader[];
  /** Names of settings that replace it for these readers. */
  readonly unless?: readonly string[];
  /** A setting that replaces it for every reader of both. */
  readonly replacedBy?: string;
  /** True: the value may be given as a file or an ARN, too, and is never shown. */
  readonly secret?: true;
  /** An older name of its variable, which is read as well. */
  readonly alias?: string;
  /** The corresponding setting of the other mode. */
  readonly instead?: string;
};

const yes = () => yesOrNo;
const words = () => text;
const label = text.refine((value) => value !== "" && isLabelValue(value), { error: "write the value of a label" });
const gateway = text.refine((value) => value === "" || /^[^/]+(\/[^/]+){1,2}$/.test(value), {
  error: "write NAMESPACE/NAME of a Gateway, or NAMESPACE/NAME/LISTENER",
});
const hostFormat = text.refine((value) => value === "" || (/\$appName\b/.test(value) && !/[/:]/.test(value)), {
  error: "write a host with {{$appName}} in it, without scheme, port and path",
});
const span = () => duration;
const names = () => list;

const stepping = ["host", "reconcile", "deliver"] as const;
const deciding = ["host", "reconcile"] as const;
const guarding = ["host", "reconcile", "forward", "resync", "dispatch"] as const;
const looking = [...guarding, "deliver", "admission"] as const;
const storing = [...guarding, "deliver", "api"] as const;
/** Functions that a dispatcher may call. */
const called = ["reconcile", "deliver"] as const;
/** Settings by which a dispatcher proves itself: a function with one of them needs no queue of its own. */
const proofs = ["callSecret", "tlsClientCaFile"] as const;
/** Readers with another way to their messages need no queue of SQS. */
const otherwise = { unless: proofs, replacedBy: "natsUrl" } as const;
const serving = ["api", "admission", "bell", "submitter", "dispatch", ...called] as const;
/** Readers that send to a queue of NATS, or take messages from it. */
const onNats = ["host", "reconcile", "forward", "resync", "deliver", "api", "bell"] as const;
/** Processes with a queue inside, and figures of it. */
const queueing = ["host", "dispatch"] as const;
/** Readers that serve metrics and the page. */
const showing = [...queueing, "api"] as const;
/** Readers that create Commands for queues, on the page, beside those that obey them. */
const commanding = [...deciding, "dispatch", "api"] as const;
const hosts = ["host"] as const;
const telling = [...hosts, "deliver"] as const;
/** Readers that may serve admission and register it. */
const admitting = [...queueing, "admission"] as const;
const everyStore = [...storing, "cli"] as const;
const steppingOrCalling = [...stepping, "dispatch"] as const;
const every = [...hosts, ...functionReaders] as const;
/** Functions that send keys to the FIFO queue. */
const onFifo = [...background, "api", "bell"] as const;
const connecting = ["reconcile", "forward", "resync", "deliver", "dispatch", "submitter"] as const;

/** A name that ends in `Ms` is written without it, with a unit: `resync: 5m`. */
const rows = {
  cluster: {
    schema: () => required,
    readers: [...everyStore, "bell"],
    default: "default",
    alias: "REKINDLE_CLUSTER_ALIAS",
  },
  kubeconfig: { schema: words, readers: hosts, instead: "clusterRecord" },
  context: { schema: words, readers: hosts, instead: "clusterRecord" },
  clusterRecord: {
    schema: clusterRecord,
    readers: [...connecting, "api", "admission"],
    neededBy: connecting,
    secret: true,
    instead: "kubeconfig",
  },
  namespaces: { schema: namespaces, readers: [...looking, "bell"], default: "" },
  namespaceSelector: { schema: labelSelector, readers: looking, default: "" },
  families: {
    schema: chosenFamilies,
    readers: [...guarding, "admission", "api", "bell"],
    default: defaultFamilies.join(","),
  },
  selector: { schema: labelSelector, readers: [...looking, "bell"], default: "" },
  checkpoints: { schema: () => place, readers: everyStore, default: "kubernetes" },
  home: { schema: namespace, readers: [...guarding, "api"], default: "rekindle" },
  queue: { schema: () => choice("embedded", "nats"), readers: hosts, default: "embedded", instead: "natsUrl" },
  fifoUrl: {
    schema: fifoQueue,
    readers: onFifo,
    neededBy: onFifo,
    ...otherwise,
  },
  delayUrl: {
    schema: standardQueue,
    readers: ["reconcile", "wake", "resync", "deliver", "bell"],
    neededBy: [...called, "bell"],
    ...otherwise,
  },
  updatesUrl: {
    schema: fifoQueue,
    readers: ["reconcile", "wake", "resync", "deliver", "api"],
    neededBy: ["deliver"],
    ...otherwise,
  },
  natsUrl: { schema: natsServers, readers: onNats },
  natsCredentials: { schema: signingSecret, readers: onNats, secret: true },
  natsCaFile: { schema: words, readers: onNats },
  natsPrefix: { schema: streamPrefix, readers: onNats, default: "rekindle" },
  callUrls: { schema: functionUrls, readers: ["dispatch"], neededBy: ["dispatch"] },
  callSecret: { schema: signingSecret, readers: ["dispatch", ...called], secret: true },
  newsWaitMs: {
    schema: () => durationUpTo("1m"),
    readers: ["host", "forward", "dispatch"],
    default: "0s",
  },
  windowMs: { schema: windowLength, readers: ["forward"], default: "50s" },
  concurrency: { schema: () => count(256), readers: steppingOrCalling, default: "16", functions: "40" },
  maxSubmissions: { schema: () => count(999), readers: deciding, default: "16" },
  namespaceWeights: { schema: weights, readers: steppingOrCalling, default: "" },
  parallel: { schema: () => count(64), readers: deciding, default: "24", functions: "8" },
  resyncMs: { schema: span, readers: ["host", "resync", "dispatch"], default: "5m" },
  stepMs: { schema: span, readers: steppingOrCalling, default: "20s" },
  fenceMs: { schema: span, readers: stepping, default: "10s" },
  timeoutMs: { schema: span, readers: stepping, default: "5s" },
  strict: { schema: yes, readers: deciding, default: "true" },
  reconfigurationPolicy: {
    schema: () => choice("additive", "equal", "any"),
    readers: deciding,
    default: "additive",
  },
  reregistrationMs: { schema: () => durationUpTo("10m"), readers: deciding, default: "30s" },
  keepRuns: { schema: () => count(100, 0), readers: deciding, default: "10" },
  keepRunsForMs: { schema: span, readers: deciding, default: "168h" },
  listen: {
    schema: address,
    readers: every,
    default: "127.0.0.1:8080",
    silent: background,
  },
  tlsCertFile: { schema: words, readers: serving, instead: "admissionCertificates" },
  tlsKeyFile: { schema: words, readers: serving, instead: "admissionCertificates" },
  tlsClientCaFile: { schema: words, readers: serving },
  triggerSecret: { schema: signingSecret, readers: showing, secret: true },
  logLevel: {
    schema: () => choice("debug", "info", "warn", "error"),
    readers: every,
    default: "info",
  },
  recordDecisions: {
    schema: () => choice("annotated", "all", "none"),
    readers: deciding,
    default: "annotated",
  },
  stateDirectory: { schema: words, readers: hosts },
  dryRun: { schema: yes, readers: hosts, default: "false" },
  output: { schema: () => choice("text", "json"), readers: hosts, default: "text" },
  takeOver: { schema: yes, readers: guarding, default: "false" },
  coexist: { schema: yes, readers: guarding, default: "false" },
  admission: { schema: yes, readers: admitting, default: "false" },
  admissionListen: { schema: address, readers: admitting, default: "0.0.0.0:9443" },
  admissionReach: { schema: reach, readers: admitting, default: "rekindle/rekindle-admission" },
  admissionSecret: { schema: reference, readers: admitting, default: "rekindle/rekindle-admission" },
  admissionCertificates: { schema: words, readers: admitting },
  admissionPath: { schema: secretPath, readers: ["admission", "bell", "dispatch"], neededBy: ["bell"], secret: true },
  admissionQuota: { schema: yes, readers: admitting, default: "false" },
  admissionQuotaEstimate: { schema: yes, readers: admitting, default: "false" },
  admissionQueueGate: { schema: yes, readers: admitting, default: "false" },
  admissionResourceGroups: { schema: groupsOfPods, readers: admitting, default: "" },
  leases: { schema: names, readers: guarding, default: "spark-operator-lock,spark-operator-controller-lock" },
  controllerNamespaces: { schema: names, readers: [...guarding, "cli"], default: usualNamespaces.join(",") },
  gang: { schema: () => choice(...gangModes), readers: deciding, default: "auto" },
  gangEvict: { schema: () => choice(...gangEvictions), readers: deciding, default: "none" },
  queueCommandNamespaces: { schema: commandNamespaces, readers: commanding, default: vcctlNamespace },
  updatesTo: { schema: listener, readers: stepping, default: "" },
  updatesQueues: { schema: names, readers: telling, default: "" },
  updatesHosts: { schema: names, readers: telling, default: "" },
  updatesAllowPrivate: { schema: yes, readers: telling, default: "false" },
  pageUrl: { schema: pageAddress, readers: showing },
  pageKubeTokens: { schema: yes, readers: showing, default: "false" },
  oidcIssuer: { schema: httpsAddress, readers: showing },
  oidcClientId: { schema: () => required, readers: showing },
  oidcClientSecret: { schema: signingSecret, readers: showing, secret: true },
  oidcScopes: { schema: names, readers: showing, default: "openid,email" },
  oidcGroupsClaim: { schema: () => required, readers: showing, default: "groups" },
  oidcGroups: { schema: userGroups, readers: showing },
  updatesSecret: { schema: signingSecret, readers: [...showing, "reconcile", "deliver"], secret: true },
  sparkVersion: { schema: version, readers: ["submitter"], default: "4.1.1" },
  enableUiService: { schema: yes, readers: deciding, default: "true" },
  ingressUrlFormat: { schema: words, readers: deciding, default: "" },
  ingressClassName: { schema: words, readers: deciding, default: "" },
  uiGateway: { schema: () => gateway, readers: deciding, default: "" },
  connectHostFormat: { schema: () => hostFormat, readers: deciding, default: "" },
  ingressAnnotations: { schema: annotations, readers: deciding, default: "" },
  ingressTls: { schema: ingressTls, readers: deciding, default: "" },
  enableBatchScheduler: { schema: yes, readers: deciding, default: "false" },
  defaultBatchScheduler: { schema: words, readers: deciding, default: "" },
  kubeSchedulerNames: { schema: names, readers: deciding, default: "" },
  enableDriverPdb: { schema: yes, readers: deciding, default: "false" },
  defaultTimeToLiveSeconds: { schema: () => count(2_147_483_647, 0), readers: deciding, default: "0" },
  keepDriverLogsMs: { schema: () => durationUpTo("8760h"), readers: deciding, default: "0s" },
  partialRestart: { schema: yes, readers: deciding, default: "false" },
  sparkDefaults: { schema: sparkConfs, readers: [...deciding, "admission", "dispatch", "cli"], default: "" },
  maxTrackedExecutorPerApp: { schema: () => count(100_000), readers: deciding, default: "1000" },
  apacheOperatorName: { schema: () => label, readers: deciding, default: "spark-kubernetes-operator" },
  apacheTrimsHistory: { schema: yes, readers: deciding, default: "true" },
  metricsPrefix: { schema: words, readers: showing, default: "" },
  metricsLabels: { schema: names, readers: showing, default: "" },
  metricsJobSubmitLatencyBuckets: {
    schema: buckets,
    readers: hosts,
    default: "0.5,1,2,4,8,16,32,64,128,256",
  },
  metricsJobStartLatencyBuckets: {
    schema: buckets,
    readers: hosts,
    default: "30,60,90,120,150,180,210,240,270,300",
  },
  watchNodes: { schema: yes, readers: [...queueing, "forward"], default: "false" },
  gauges: { schema: yes, readers: [...queueing, "resync"], default: "true" },
  metricsFor: { schema: () => choice("usual", "callers", "anybody"), readers: showing, default: "usual" },
  prices: { schema: prices, readers: [...showing, "cli"] },
} as const satisfies Readonly<Record<string, Row>>;

type Rows = typeof rows;

/** A setting, by its key. */
export type SettingName = keyof Rows;

type Parsed<N extends SettingName> = z.output<ReturnType<Rows[N]["schema"]>>;

/** A setting may be undefined for readers without its default, and for those that start without it. */
type ValueFor<N extends SettingName, R extends Reader> = Rows[N] extends { readonly silent: readonly (infer Q)[] }
  ? Parsed<N> | (R extends Q ? undefined : never)
  : Rows[N] extends { readonly default: string }
    ? Parsed<N>
    : Rows[N] extends { readonly replacedBy: string; readonly neededBy: readonly (infer Q)[] }
      ? Parsed<N> | (R extends Exclude<Q, (typeof onNats)[number]> ? never : undefined)
      : Rows[N] extends { readonly neededBy: readonly (infer Q)[] }
        ? Parsed<N> | (R extends Q ? never : undefined)
        : Parsed<N> | undefined;

type NamesFor<R extends Reader> = {
  readonly [N in SettingName]: R extends Rows[N]["readers"][number] ? N : never;
}[SettingName];

/** The settings of a reader. */
export type Settings<R extends Reader> = { readonly [N in NamesFor<R>]: ValueFor<N, R> };

/** The settings of a host. */
export type Configuration = Settings<"host">;

export const isSettingName = (name: string): name is SettingName => Object.hasOwn(rows, name);

export const settingNames: readonly SettingName[] = Object.keys(rows).filter(isSettingName);

export const rowOf = (name: SettingName): Row => rows[name];

export const isReadBy = (reader: Reader, name: SettingName): boolean => rowOf(name).readers.includes(reader);

const isCalled = (reader: Reader): boolean => called.some((one) => one === reader);

/** Returns whether a reader does not start without a setting, where `isSet` tells which others are set. */
export const needs = (reader: Reader, name: SettingName, isSet: (other: SettingName) => boolean): boolean => {
  const { neededBy = [], unless = [], replacedBy = "" } = rowOf(name);
  if (!neededBy.includes(reader)) return false;
  if (isSettingName(replacedBy) && isReadBy(reader, replacedBy) && isSet(replacedBy)) return false;
  return !isCalled(reader) || !unless.some((other) => isSettingName(other) && isSet(other));
};

/** Returns the settings that a reader reads. */
export const namesFor = (reader: Reader): readonly SettingName[] =>
  settingNames.filter((name) => isReadBy(reader, name));

/** The two ways to run steps: in a host, or in functions. */
export type Mode = "host" | "functions";

export const modeOf = (reader: Reader): Mode => (reader === "host" || reader === "cli" ? "host" : "functions");

export const isReadIn = (mode: Mode, name: SettingName): boolean =>
  rowOf(name).readers.some((reader) => reader !== "cli" && modeOf(reader) === mode);

/** Returns the name in a file, without the unit, which belongs to the value. */
export const fileName = (name: string): string => name.replace(/Ms$/, "");

const split = (name: string): string => fileName(name).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Returns the flag without its dashes; for a secret, the flag that names its file. */
export const flagName = (name: SettingName): string =>
  rowOf(name).secret === true ? `${split(name)}-file` : split(name);

/** Returns the environment variable of a setting. */
export const variableName = (name: string): string => `REKINDLE_${split(name).replaceAll("-", "_").toUpperCase()}`;

/** Returns whether a setting is a switch, which needs no value on the command line. */
export const isSwitch = (name: SettingName): boolean => rowOf(name).schema === yes;

/** Returns the default as a user would write it; undefined where there is none. */
export const defaultOf = (name: SettingName, reader: Reader): string | undefined => {
  const row = rowOf(name);
  if (row.silent?.includes(reader) === true) return undefined;
  return modeOf(reader) === "functions" ? (row.functions ?? row.default) : row.default;
};
