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

const listed = z.object({ items: z.array(z.looseObject({ metadata: z.object({ uid: z.string() }) })) });

/** The contents of the records in a store, by the identity that each has in this store. */
type Contents = ReadonlyMap<string, string>;

/** Returns the records in a store, without what a second copy of the same record changes: the version of an item. */
export const recordsIn = async ({ dynamodb, home }: Fixture, store: Store): Promise<Contents> => {
  if (store === "kubernetes") {
    const answer = await home().cluster.api.call("GET", "/apis/rekindle.dev/v1alpha1/checkpoints");
    return new Map(listed.parse(answer.body).items.map((item) => [item.metadata.uid, JSON.stringify(item)]));
  }
  const client = new DynamoDBClient({ endpoint: dynamodb, region, credentials });
  const { Items = [] } = await client.send(new ScanCommand({ TableName: `rekindle-${alias}` }));
  client.destroy();
  return new Map(Items.map(({ key, record, packed }) => [key?.S ?? "", JSON.stringify([record, packed])]));
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
  const here = (await recordsIn(fixture, from)).size;
  await killedAt(operator, ["checkpoints", "migrate", ...places], killedReading);
  const half = await recordsIn(fixture, to);
  must(half.size > 0 && half.size < here, `${half.size} of ${here} records were copied when it was killed`);
  const again = await migrate();
  const whole = await recordsIn(fixture, to);
  const same = [...half].filter(([identity, content]) => whole.get(identity) === content).length;
  const skipped = Number(/ (\d+) there already/.exec(again)?.[1]);
  must(skipped >= same, `${same} records that the killed command had copied were the same: ${again}`);
  await fixture.update({ Working: "DISABLED" });
  const last = await migrate("--remove");
  must((await recordsIn(fixture, from)).size === 0, `records were left behind: ${last}`);
  await fixture.update({ Working: "ENABLED", Checkpoints: to });
  const [first = "", second = ""] = [again, last].map((text) => text.split("\n")[0]);
  return [`killed after ${half.size} of ${here}; then ${first}`, `while nothing worked: ${second}`];
};
