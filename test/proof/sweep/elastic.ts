/** Executors follow their driver's demand: `rekindle.dev/executors: own` with dynamic allocation. */
import type { Gauge, PodScript } from "../../../shared/simulator/nodes/script.ts";
import { appName, base, executorRuns, type Scenario } from "./scenario.ts";

const own = { "rekindle.dev/executors": "own", "rekindle.dev/executor-leave-grace": "20s" } as const;

/** Faults that would last longer than the job, or than one of its demands. */
const outlasting = [
  ...["read-only-5m", "quota-5m", "outage-20m", "outage-60s", "message-very-late", "pause-600s", "frozen"],
  ...["409", "404-named", "message-twice"],
];

type Course = {
  readonly gauge: readonly (readonly [fromMs: number, gauge: Gauge])[];
  readonly jobMs?: number;
  readonly executors?: Readonly<Record<string, PodScript>>;
};

const idle = { "*": { busyMs: 0 } } as const;

const course = ({ gauge, jobMs = 120_000, executors = idle }: Course): Scenario["scripts"] => ({
  [appName]: [{ jobMs, gauge, executors }],
});

type Way = Pick<Scenario, "name" | "what" | "scripts"> & Partial<Pick<Scenario, "userActions" | "stands">>;

const quotas = "/api/v1/namespaces/default/resourcequotas";
const quota = { apiVersion: "v1", kind: "ResourceQuota" } as const;

const spec = {
  ...base,
  executor: { cores: 1, memory: "512m" },
  sparkConf: { ...base.sparkConf, "spark.dynamicAllocation.executorIdleTimeout": "20s" },
  dynamicAllocation: { enabled: true, maxExecutors: 3 },
};

const ways: readonly Way[] = [
  {
    name: "elastic-to-and-fro",
    what: "the driver needs two executors, then far too many, then one",
    scripts: course({
      gauge: [
        [0, 2],
        [30_000, 400],
        [60_000, 1],
      ],
    }),
  },
  {
    name: "elastic-silent",
    what: "the gauge gives no answer, and then one without sense: the last answer stands, and then one executor is enough",
    scripts: course({
      gauge: [
        [0, 2],
        [15_000, "silent"],
        [40_000, "nonsense"],
        [60_000, 1],
      ],
    }),
  },
  {
    name: "elastic-flaps",
    what: "the gauge alternates between three executors and none: no executor is ended for it",
    scripts: course({
      gauge: [
        [0, { flaps: 3 }],
        [80_000, 3],
      ],
    }),
  },
  {
    name: "elastic-loss",
    what: "an executor dies, and is replaced within the demand",
    scripts: course({ gauge: [[0, 2]], jobMs: 60_000 }),
    userActions: [
      {
        says: "an executor dies",
        when: executorRuns,
        afterMs: 9_000,
        do: { type: "kill", pod: /-exec-\d+$/, code: 137 },
      },
    ],
  },
  {
    name: "elastic-quota",
    what: "a quota admits two executors of the three that are needed: no third is created, and the job completes",
    scripts: course({ gauge: [[0, 3]], jobMs: 60_000 }),
    stands: [[quotas, { ...quota, metadata: { name: "team" }, spec: { hard: { pods: "4" } } }]],
  },
  {
    name: "elastic-leavers",
    what: "executors that are sent away do not end until their grace is over, while others are needed",
    scripts: course({
      gauge: [
        [0, 3],
        [20_000, 1],
        [60_000, 2],
      ],
      executors: { "*": { busyMs: 0, stopMs: 600_000 } },
    }),
  },
  {
    name: "elastic-last-holder",
    what: "fewer executors are needed, and the idle one alone holds shuffle data: it stays while the job runs",
    scripts: course({
      gauge: [
        [0, 2],
        [20_000, 1],
      ],
      executors: { "1001": { busyMs: 0, shuffleBytes: 9_000 }, "*": { busyMs: 600_000 } },
    }),
  },
];

export const elastic: readonly Scenario[] = ways.map(
  (way): Scenario => ({
    spec,
    annotations: own,
    userActions: [],
    ...way,
    ends: "COMPLETED",
    breadth: "sparse",
    also: ["stale", "deaf"],
    without: outlasting,
  }),
);
