/** The schemas of a JobFlow's spec and status. Patches are passed on unchanged, to be merged into templates. */
import * as z from "zod";

const count = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);

const port = z.int().min(0).max(65_535);

const httpGet = z.looseObject({
  taskName: z.string().optional(),
  path: z.string().optional(),
  port: port.optional(),
  httpHeader: z.looseObject({ name: z.string(), value: z.string() }).optional(),
});

const tcpSocket = z.looseObject({ taskName: z.string().optional(), port });

const taskStatus = z.looseObject({ taskName: z.string().optional(), phase: z.string().optional() });

const probe = z.looseObject({
  httpGetList: z.array(httpGet).optional(),
  tcpSocketList: z.array(tcpSocket).optional(),
  taskStatusList: z.array(taskStatus).optional(),
});

export const flowSchema = z.looseObject({
  name: z.string(),
  dependsOn: z.looseObject({ targets: z.array(z.string()).optional(), probe: probe.optional() }).optional(),
  patch: z.looseObject({ jobSpec: z.record(z.string(), z.unknown()).optional() }).optional(),
});

export const flowSpecSchema = z.looseObject({
  flows: z.array(flowSchema).optional(),
  jobRetainPolicy: z.string().optional(),
});

export type Flow = z.infer<typeof flowSchema>;
export type Probe = z.infer<typeof probe>;

const time = z.string().meta({ format: "date-time" }).optional();

const names = z.array(z.string()).optional();

const int32 = z
  .int()
  .min(-(2 ** 31))
  .max(2 ** 31 - 1);

const history = z.looseObject({ startTimestamp: time, endTimestamp: time, state: z.string().optional() });

const jobStatus = z.looseObject({
  name: z.string().optional(),
  state: z.string().optional(),
  startTimestamp: time,
  endTimestamp: time,
  restartCount: count.optional(),
  runningHistories: z.array(history).optional(),
});

const condition = z.looseObject({
  phase: z.string().optional(),
  createTime: time,
  runningDuration: z.string().optional(),
  taskStatusCount: z.record(z.string(), z.looseObject({ phase: z.record(z.string(), int32).optional() })).optional(),
});

export const flowPhases = ["Pending", "Running", "Succeed", "Failed"] as const;

export type FlowPhase = (typeof flowPhases)[number];

export const flowStatusSchema = z.looseObject({
  pendingJobs: names,
  runningJobs: names,
  failedJobs: names,
  completedJobs: names,
  terminatedJobs: names,
  unKnowJobs: names,
  jobStatusList: z.array(jobStatus).optional(),
  conditions: z.record(z.string(), condition).optional(),
  state: z.looseObject({ phase: z.enum([...flowPhases, "Terminating"]).optional() }).optional(),
});

export const templateStatusSchema = z.looseObject({ jobDependsOnList: names });
