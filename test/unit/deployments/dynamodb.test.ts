/**
 * Functions whose records are in a DynamoDB table: one environment continues where another ended, and the cluster holds
 * no Checkpoint.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { tableCheckpoints } from "../../../shared/adapters/dynamodb/checkpoints.ts";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { openReconcile } from "../../../shared/deployments/reconcile/function.ts";
import { openResync } from "../../../shared/deployments/resync/function.ts";
import { crds } from "../../support/crds.ts";
import { openTable } from "../adapters/dynamodb/table.ts";
import { taken } from "../adapters/sqs/fake.ts";
import { applications, onCluster, record, withQueue } from "./surroundings.ts";

/** The cluster has no CRD of Checkpoints. */
const withoutCheckpoints = crds.filter(({ metadata }) => metadata.name !== "checkpoints.rekindle.dev");

const done = { batchItemFailures: [] };

describe("functions with records in a table", () => {
  test("create one driver whichever process takes the next step, and resync what is left", async () => {
    const { table, wire } = await openTable();
    const act: Parameters<typeof onCluster>[1] = async (env, podsNow, { transport }) => {
      await withQueue(taken, async (queues, bodies) => {
        const settings = { ...queues, ...env, REKINDLE_CHECKPOINTS: `dynamodb://${table}` };
        assert.deepEqual(await (await openReconcile(settings))({ Records: [record("pi")] }), done);
        assert.deepEqual(await podsNow(), ["pi-driver"]);
        wire.lose("PutItem", 1);
        assert.deepEqual(await (await openReconcile(settings))({ Records: [record("pi")] }), done);
        assert.deepEqual(await podsNow(), ["pi-driver"]);
        // Beside the application's record: the sightings of other controllers, which all environments read.
        const store = tableCheckpoints({ table, cluster: "default" });
        assert.deepEqual(
          (await store.hints([])).map(({ kind, name }) => `${kind}/${name}`),
          ["Cursor/controllers", "SparkApplication/pi"],
        );
        await request(transport, "DELETE", `${applications}/pi`);
        const before = bodies().length;
        await (await openResync(settings))({});
        assert.deepEqual(
          bodies()
            .slice(before)
            .map(({ name, reason }) => [name, reason]),
          [
            ["default", "resync: missing"],
            ["root", "resync: missing"],
            ["pi", "resync: orphaned"],
          ],
        );
      });
    };
    await onCluster(["pi"], act, withoutCheckpoints);
  });

  test("whose table is missing block no message group, and retry the key", async () => {
    await openTable();
    await onCluster(["pi"], async (env, podsNow) => {
      await withQueue(taken, async (queues, bodies) => {
        const settings = { ...queues, ...env, REKINDLE_CHECKPOINTS: "dynamodb://nowhere" };
        assert.deepEqual(await (await openReconcile(settings))({ Records: [record("pi")] }), done);
        assert.deepEqual([await podsNow(), bodies().length], [[], 1]);
      });
    });
  });
});
