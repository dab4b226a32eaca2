/** The families of end-to-end cases: the topic, the prerequisites and the cases of each. A new family is a row here. */
import { join } from "node:path";
import { goWithGangs } from "../setup/go.ts";
import { isSparkThere, moreSparkVersions, partOf, sparkVersions } from "../setup/spark.ts";
import { admissionCases } from "./admission/cases.ts";
import { realCluster } from "./apache/clusters.ts";
import { byKilledFunctions, killedHosts, taken } from "./apache/killed.ts";
import { ownExecutors } from "./apache/own.ts";
import { endingRows, lastingRows } from "./apache/rows.ts";
import { byLabels, byNamespaces } from "./apache/scope.ts";
import { deletedUnseen, killedHost, killedRetries, upstreamExamples } from "./cases.ts";
import { handsClaimsOn } from "./elastic/claims.ts";
import { followsDemand, followsLargeDemand, staysWithinQuota } from "./elastic/scale.ts";
import { movesByNotice } from "./elastic/spot.ts";
import type { Family } from "./family.ts";
import { fewOfApache, tenApplications } from "./gang/applications.ts";
import { gangCases } from "./gang/cases.ts";
import { evictionCases } from "./gang/evictions.ts";
import { nodeCount, nodeFlags } from "./gang/fixture.ts";
import { gangFunctions } from "./gang/functions.ts";
import { nativeCases, withoutGates } from "./gang/native.ts";
import { gatesOn } from "./gang/native-fixture.ts";
import { apacheQueued } from "./kueue/apache-application.ts";
import { kueueRows } from "./kueue/conformance.ts";
import { growsALittle, growsByFunctions, growsFromAPart, growsUnderKills } from "./kueue/growth.ts";
import { admittedInPart } from "./kueue/partial-admission.ts";
import { recovered } from "./recovery/lane.ts";
import type { Case } from "./scene.ts";
import { connects } from "./spark/connected.ts";
import { upstreamFiles } from "./spark/examples.ts";
import { suspendedAndResumed } from "./spark/interrupted.ts";
import { keepsLogs } from "./spark/kept-log.ts";
import { limitsExecutors } from "./spark/limited.ts";
import { badOnes } from "./spark/refused.ts";
import { routed } from "./spark/routed.ts";
import { scalesUp } from "./spark/scaled.ts";
import { upstreamSchedule } from "./spark/scheduled.ts";
import { tools as toolCases } from "./tools.ts";
import { triggerCases } from "./triggers/cases.ts";
import { volcanoCases } from "./volcano/cases.ts";
import { containers } from "./volcano/containers.ts";
import type { Gang } from "./volcano/fixture.ts";

const main: Family = {
  about: "the main job: applications run and are recovered while the host is killed (the default)",
  needs: [],
  crds: ["ours", "upstream"],
  cases: ({ recorded, kills, which, isShort }) => ({
    cases: [
      ...(recorded === undefined ? [] : [upstreamExamples(join(recorded, "examples"))]),
      ...(isShort && which === "upstream" ? [] : [killedHost(kills), killedRetries, deletedUnseen]),
    ],
    skipped: recorded === undefined ? 1 : 0,
  }),
};

const admission: Family = {
  about: "webhooks of a host, quotas, certificates, and policies without a webhook; no Spark is run",
  needs: [],
  crds: ["ours"],
  cluster: { nodes: 0, extra: { "kube-apiserver": ["--enable-aggregator-routing=true"] } },
  cases: ({ recorded }) => ({
    cases: admissionCases(recorded === undefined ? undefined : join(recorded, "..", "volcano", "admission-policies")),
    skipped: 0,
  }),
};

const tools: Family = {
  about: "the tools around: Kueue's, Airflow's and kubectl's calls under a user's account, and the built command line",
  needs: [],
  crds: ["ours"],
  cases: () => ({ cases: toolCases, skipped: 0 }),
};

const spark: Family = {
  about:
    "the Spark family: upstream's examples, a schedule, Connect, suspension, bad applications, routes at a Gateway",
  needs: ["connect", "gateway"],
  crds: ["ours"],
  cases: ({ recorded, isShort }) => ({
    cases: [
      badOnes,
      suspendedAndResumed,
      scalesUp,
      limitsExecutors,
      keepsLogs,
      routed,
      ...(recorded === undefined
        ? []
        : [
            connects(join(recorded, "examples", "sparkconnect", "spark-connect.yaml")),
            upstreamFiles(join(recorded, "examples"), isShort),
            upstreamSchedule(join(recorded, "examples", "spark-pi-scheduled.yaml")),
          ]),
    ],
    skipped: recorded === undefined ? 3 : 0,
  }),
};

const recovery: Family = {
  about: "executors lost in every way while the host is killed, in both modes; two nodes, one of which is frozen",
  needs: [],
  crds: ["ours"],
  cluster: {
    nodes: 2,
    nodeFlags: ["--heartbeat", "2", "--backoff", "2"],
    extra: { "kube-controller-manager": ["--node-monitor-grace-period=8s", "--node-monitor-period=1s"] },
  },
  cases: () => ({ cases: [recovered], skipped: 0 }),
};

/** Two nodes: drivers are on the first, and executors on both. */
const elasticCluster: NonNullable<Family["cluster"]> = { nodes: 2, nodeFlags: ["--backoff", "2"] };

/** The cases that every version of Spark shows. */
const elasticOf = (version: string): readonly Case[] => [
  followsLargeDemand(version),
  handsClaimsOn(version),
  movesByNotice(version),
];

const elastic: Family = {
  about:
    "executors follow the queued work of real drivers, with their shuffle data and claims, and within a quota, in own mode",
  needs: [],
  crds: ["ours"],
  cluster: elasticCluster,
  cases: () => ({ cases: [followsDemand("4.1.1"), staysWithinQuota("4.0.4"), ...elasticOf("4.1.1")], skipped: 0 }),
};

const elasticVersions: Family = {
  about: `the cases of claims, of Spot, of a quota, and of ten executors with Spark ${moreSparkVersions.join(" and ")}`,
  needs: ["spark-more"],
  crds: ["ours"],
  cluster: elasticCluster,
  cases: () => ({
    cases: [
      staysWithinQuota("4.1.1"),
      ...moreSparkVersions.flatMap((version) => [...elasticOf(version), staysWithinQuota(version)]),
    ],
    skipped: 0,
  }),
};

/** A case of each Spark 4.2, which only long proofs run: skipped where it is not installed. */
const withSpark42 = (caseOf: (version: string) => Case): readonly Case[] =>
  moreSparkVersions
    .filter((version) => version.startsWith("4.2."))
    .map((version): Case => {
      const one = caseOf(version);
      const missing = `Spark ${version}: npm run setup -- ${partOf(version)}`;
      return { ...one, run: async (scene) => (isSparkThere(version) ? await one.run(scene) : { missing }) };
    });

const kueue: Family = {
  about:
    "applications grow within the quota of a real Kueue, and lose their growths to a higher priority; by functions, too; a Volcano Job runs with a part of its pods; an application of spark.apache.org waits, and is evicted",
  needs: ["kueue"],
  crds: ["ours"],
  kinds: ["spark", "volcano", "apache"],
  cluster: elasticCluster,
  cases: ({ kills }) => ({
    cases: [
      kueueRows,
      admittedInPart,
      apacheQueued,
      growsFromAPart("4.1.1"),
      growsALittle("4.0.4"),
      growsUnderKills("4.1.1", kills),
      ...withSpark42((version) => growsUnderKills(version, kills)),
      growsByFunctions("4.1.1"),
    ],
    skipped: 0,
  }),
};

/** Upstream's rows are for Spark 4. */
const apacheRows = (dir: string): readonly Case[] => [
  endingRows(dir),
  realCluster(dir),
  ...sparkVersions.map((version) => lastingRows(dir, version)),
  ...withSpark42((version) => lastingRows(dir, version)),
];

const apache: Family = {
  about:
    "SparkApplications of Apache's own operator: upstream's e2e rows, kills of the host, own executors, a lost record, a namesake of the other group; by functions, too",
  needs: [],
  crds: ["ours", "upstream"],
  upstream: { folder: "spark-kubernetes-operator", group: "spark.apache.org" },
  kinds: ["spark", "volcano", "apache"],
  cases: ({ apache: dir, kills, which }) => ({
    cases: [
      ...(dir === undefined ? [] : which === "ours" ? apacheRows(dir) : [endingRows(dir)]),
      ...(which === "ours"
        ? [killedHosts(kills), ownExecutors(2), taken, byLabels, byNamespaces, byKilledFunctions]
        : []),
    ],
    skipped: dir === undefined ? 1 : 0,
  }),
};

const triggers: Family = {
  about:
    "requests from outside, good and bad, at the built functions; a Spot notice moves executors before the node goes",
  needs: ["queue"],
  crds: ["ours"],
  cluster: { nodes: 2, nodeFlags: ["--backoff", "2"] },
  cases: triggerCases,
};

const volcanoBy = (gang: Gang, about: string): Family => ({
  about,
  needs: [],
  crds: ["ours"],
  cluster: {
    nodes: 2,
    nodeFlags: ["pods=200", "cpu=96", "nvidia.com/gpu=4"].flatMap((amount) => ["--capacity", amount]),
    standIns: containers,
    // A creation whose client dies before the answer may count in a ResourceQuota and make no pod. The next full count, by
    // default every five minutes, takes it out again, so a host that is killed waits for one.
    extra: { "kube-controller-manager": ["--resource-quota-sync-period=5s"] },
  },
  cases: ({ volcano: dir }) => ({
    ...volcanoCases(dir === undefined ? undefined : join(dir, "examples"), gang),
    skipped: dir === undefined ? 1 : 0,
  }),
});

const volcano = volcanoBy(
  "here",
  "Volcano's kinds without its scheduler: upstream's examples and scenarios A to L at once, while the host is killed",
);

const withScheduler = volcanoBy(
  "scheduler",
  "the same beside a stand-in for Volcano's scheduler, which keeps its lease",
);

const gang: Family = {
  about:
    "gangs by plans (--gang builtin) on the real scheduler: two for one place, a place taken, kills; evictions; Spark applications; by functions, too",
  needs: [],
  crds: ["ours"],
  kinds: ["spark", "volcano", "apache"],
  cluster: { nodes: nodeCount, nodeFlags },
  cases: ({ kills }) => ({
    cases: [
      ...gangCases(kills),
      ...evictionCases,
      withoutGates("where the API server has no such kind", /does not serve scheduling\.k8s\.io\/v1beta1/),
      tenApplications,
      fewOfApache,
      ...gangFunctions,
    ],
    skipped: 0,
  }),
};

const gangsOfKubernetes = { nodes: nodeCount, nodeFlags, release: "gangs" } as const;

const native: Family = {
  about:
    "gangs of Kubernetes (--gang native) on a control plane of 1.37 with its gates on: two for one place, kills, traps of its scheduler; by functions, too",
  needs: [],
  costly: goWithGangs,
  crds: ["ours"],
  cluster: { ...gangsOfKubernetes, extra: gatesOn },
  cases: ({ kills }) => ({ cases: nativeCases(kills), skipped: 0 }),
};

/** A control plane of which one part has its gate off. */
const halfNative = (part: "kube-scheduler" | "kube-controller-manager", why: RegExp): Family => {
  const { [part]: _, ...extra } = gatesOn;
  return {
    about: `--gang native where the gate of ${part} is off: groups have plans`,
    needs: [],
    costly: goWithGangs,
    crds: ["ours"],
    cluster: { ...gangsOfKubernetes, extra },
    cases: () => ({ cases: [withoutGates(`where the gate of ${part} is off`, why)], skipped: 0 }),
  };
};

export const families: Readonly<Record<string, Family>> = {
  main,
  spark,
  recovery,
  elastic,
  "elastic-versions": elasticVersions,
  kueue,
  apache,
  admission,
  tools,
  triggers,
  volcano,
  "volcano-scheduler": withScheduler,
  gang,
  "gang-native": native,
  "gang-without-scheduler": halfNative("kube-scheduler", /the scheduler has tried one pod of a group of two/),
  "gang-without-controllers": halfNative(
    "kube-controller-manager",
    /the controller manager does not end a deleted group/,
  ),
};

export const familyNames: readonly string[] = Object.keys(families);
