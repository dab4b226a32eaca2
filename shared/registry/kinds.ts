/**
 * The kinds that Rekindle runs: one row for each. `npm run crds` makes the other files of this folder that name kinds, from
 * the files beside each declaration: `watches.ts`, `operator.ts`.
 */
import type { DeclaredKind } from "../kube/declared-kind.ts";
import { apacheSparkApplication } from "../spark/apache/kind.ts";
import { sparkApplication } from "../spark/application/kind.ts";
import { sparkCluster } from "../spark/cluster/kind.ts";
import { sparkConnect } from "../spark/connect/kind.ts";
import { scheduledSparkApplication } from "../spark/scheduled/kind.ts";
import { cronJob } from "../volcano/cron/kind.ts";
import { jobFlow } from "../volcano/flow/kind.ts";
import { job } from "../volcano/job/kind.ts";
import { queue } from "../volcano/queue/kind.ts";
import { jobTemplate } from "../volcano/template/kind.ts";
import { pod } from "../volcano/ungrouped-pods/kind.ts";

export const kinds: readonly DeclaredKind[] = [
  sparkApplication,
  scheduledSparkApplication,
  sparkConnect,
  apacheSparkApplication,
  sparkCluster,
  job,
  cronJob,
  jobFlow,
  jobTemplate,
  queue,
  pod,
];
