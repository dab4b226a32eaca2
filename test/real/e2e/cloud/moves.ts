/**
 * Moves the records from one store to another while applications run: the move is killed in the middle and repeated,
 * with a short stop of the functions.
 */
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { region } from "../../cloud/account.ts";
import { credentials } from "../../lambda/queues.ts";
import { must } from "../scene.ts";
import { alias, type Fixture } from "./fixture.ts";
import { killedAt, typed } from "./operator.ts";

export type Store = "dynamodb" | "kubernetes";

const counted = z.object({ items: z.array(z.unknown()) });

/** Returns the number of records in a store. */
export const recordsIn = async ({ dynamodb, home }: Fixture, store: Store): Promise<number> => {
  if (store === "kubernetes") {
    const answer = await home().cluster.api.call("GET", "/apis/rekindle.dev/v1alpha1/checkpoints");
    return counted.parse(answer.body).items.length;
  }
  const client = new DynamoDBClient({ endpoint: dynamodb, region, credentials });
  const { Count = 0 } = await client.send(new ScanCommand({ TableName: `rekindle-${alias}` }));
  client.destroy();
  return Count;
};

const placeOf = (store: Store): string => (store === "kubernetes" ? store : `dynamodb://rekindle-${alias}`);

/** The number of the reading of the table at which the command is killed. */
const killedReading = 4;

/** Runs the four steps of infra/docs/operating/records.md; the first one is killed and repeated. */
export const moved = async (fixture: Fixture, from: Store, to: Store): Promise<readonly string[]> => {
  const operator = { guard: fixture.guard, env: {} };
  const { adminKubeconfig } = fixture.home().cluster;
  const places = ["--from", placeOf(from), "--to", placeOf(to), "--cluster", alias, "--kubeconfig", adminKubeconfig];
  const migrate = (...more: readonly string[]): Promise<string> =>
    typed(operator, ["checkpoints", "migrate", ...places, ...more]);
  const here = await recordsIn(fixture, from);
  await killedAt(operator, ["checkpoints", "migrate", ...places], killedReading);
  const half = await recordsIn(fixture, to);
  must(half > 0 && half < here, `${half} of ${here} records were copied when it was killed`);
  const again = await migrate();
  must(/ [1-9]\d* there already/.test(again), `it did not go on where it was killed: ${again}`);
  await fixture.update({ Working: "DISABLED" });
  const last = await migrate("--remove");
  must((await recordsIn(fixture, from)) === 0, `records were left behind: ${last}`);
  await fixture.update({ Working: "ENABLED", Checkpoints: to });
  const [first = "", second = ""] = [again, last].map((text) => text.split("\n")[0]);
  return [`killed after ${half} of ${here}; then ${first}`, `while nothing worked: ${second}`];
};
