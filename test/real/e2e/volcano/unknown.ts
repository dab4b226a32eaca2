/**
 * Scenario E: a gang that has lost a pod for which there is no place is Unknown; a policy for that works in every
 * version.
 */
import * as z from "zod";
import { patienceMs } from "../../cluster/api.ts";
import { kubectl, must } from "../scene.ts";
import { until } from "./book.ts";
import type { Fixture, Gang } from "./fixture.ts";
import { countedAs, created, endless, onEvent, type Scenario, type Started, shown, untilUp, workers } from "./jobs.ts";

type Loss = { readonly fixture: Fixture; readonly job: Started };

const group = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string(), uid: z.string() }) })) });

/** Sets the group's phase to Unknown, as the scheduler would. */
const told = async ({ fixture, job }: Loss): Promise<void> => {
  const { api } = fixture.scene.cluster;
  const path = `/apis/scheduling.volcano.sh/v1beta1/namespaces/${job.namespace}/podgroups`;
  const [found] = group.parse((await api.call("GET", path)).body).items;
  must(found !== undefined, "the job has no group");
  const patch = { status: { phase: "Unknown" } };
  await api.call("PATCH", `${path}/${found?.metadata.name}`, patch, "application/merge-patch+json");
};

const place = { "rekindle.test/place": "e" };

const placed = ({ scene }: Fixture, has: boolean): Promise<string> =>
  kubectl(scene.cluster, ["label", "nodes", "--all", has ? "rekindle.test/place=e" : "rekindle.test/place-"]);

/** Deletes a pod while its nodes take no other, until the job has restarted. */
const homeless = async ({ fixture, job }: Loss, version: number): Promise<void> => {
  await placed(fixture, false);
  await kubectl(fixture.scene.cluster, ["delete", "pod", "-n", job.namespace, "e-w-0", "--wait"]);
  const restarted = () => (job.page.last?.status?.version ?? 0) > version;
  await until("restarted because its group is Unknown", restarted, job.page, patienceMs);
  await placed(fixture, true);
};

const lost: Readonly<Record<Gang, (loss: Loss, version: number) => Promise<void>>> = {
  here: homeless,
  scheduler: told,
};

export const unknownTwice: Scenario = {
  letter: "E",
  name: "a group that becomes Unknown restarts its job, in every version of it",
  run: async (fixture, namespace) => {
    await placed(fixture, true);
    const spec = { ...onEvent("Unknown", "RestartJob"), maxRetry: 5 };
    const tasks = [{ ...workers([endless]), on: place }];
    const job = await created(fixture, namespace, { name: "e", tasks, spec });
    for (const version of [0, 1]) {
      await untilUp(job, 2, version);
      await lost[fixture.gang]({ fixture, job }, version);
    }
    await untilUp(job, 2, 2);
    countedAs(job, 2, 2);
    return [shown(job), "upstream: ignored from version 1 on"];
  },
};
