/**
 * Measures the reaction to a change in the cluster: from an application's creation to the POST of its driver's pod in
 * the audit log.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "../../real/lambda/ledger.ts";
import type { Bench } from "../costs.ts";
import { application, applications } from "../submit.ts";
import type { Reaction } from "./bill.ts";

const count = 20;
const apartMs = 700;

type Watched = Pick<Bench, "cluster" | "audit">;

const driverAt = async ({ audit }: Watched, app: string): Promise<number> => {
  for (let turn = 0; turn < 300; turn += 1) {
    const made = (await audit.read()).find(
      ({ verb, resource, name, code }) =>
        verb === "create" && resource === "pods" && name === `${app}-driver` && code === 201,
    );
    if (made !== undefined) return made.at;
    await sleep(200);
  }
  throw new Error(`${app} has no driver after a minute`);
};

/** Creates applications one after the other, without waiting for them. */
export const reactionOf = async (bench: Watched, name: string): Promise<Reaction> => {
  const began = new Map<string, number>();
  for (let index = 0; index < count; index += 1) {
    const app = `${name}-${index}`;
    began.set(app, Date.now());
    const { status, body } = await bench.cluster.api.call("POST", applications, application(app));
    if (status !== 201) throw new Error(`create ${app}: ${JSON.stringify(body)}`);
    await sleep(apartMs);
  }
  const seconds: number[] = [];
  for (const [app, at] of began) seconds.push(((await driverAt(bench, app)) - at) / 1_000);
  return { p50: median(seconds), worst: Math.max(...seconds) };
};
