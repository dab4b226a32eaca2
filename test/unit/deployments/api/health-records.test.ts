/** The api function shows the other controllers that a resync or dispatcher has found. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { kubernetesCheckpoints } from "../../../../shared/adapters/checkpoints/kubernetes.ts";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import { openStandingReader, openUnheardReader } from "../../../../shared/deployments/api/health-records.ts";
import { signsKey } from "../../../../shared/deployments/common/standby.ts";
import { openSignStore, standbyLines, trustedMs } from "../../../../shared/forward/controller-detection.ts";
import { openCursors } from "../../../../shared/forward/cursors.ts";
import { openUnheard, openUnheardBoard, type Unheard, unheardKey } from "../../../../shared/forward/unheard.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { crds } from "../../../support/crds.ts";

const home = "rekindle";
const checkpoints = { in: "kubernetes" } as const;

test("the signs that were stored are shown while they are renewed; where they cannot be read the latest are, and it is told", async () => {
  const { transport } = openSimulator({ crds });
  const reports: string[] = [];
  const report = (level: string, text: string): void => void reports.push(`${level} ${text}`);
  let fails = false;
  const failing: typeof transport = {
    ...transport,
    send: async (asked) => {
      if (fails) throw new Error("no connection");
      return await transport.send(asked);
    },
  };
  await request(transport, "POST", "/api/v1/namespaces", {
    ...{ apiVersion: "v1", kind: "Namespace", metadata: { name: home } },
  });
  let now = 1_000_000_000;
  const standing = openStandingReader({
    ...{ transport: failing, checkpoints, cluster: "prod", home, report, now: () => now },
  });
  const shown = async () => {
    now += 10_000;
    return standbyLines(await standing());
  };
  assert.deepEqual(await shown(), []);
  const cursors = openCursors({ checkpoints: kubernetesCheckpoints(transport, { home }), clusterUid: "c", report });
  const led = { Volcano: ["the Lease vc-controller-manager in volcano-system is held"] };
  await openSignStore(cursors, signsKey("prod")).save({ at: now, signs: {}, led, places: {} });
  const [line = "", ...others] = await shown();
  assert.match(line, /vc-controller-manager in volcano-system/);
  assert.deepEqual([others, reports], [[], []]);
  fails = true;
  assert.deepEqual(await shown(), [line]);
  assert.deepEqual(reports, ["warn the signs of other controllers cannot be read"]);
  fails = false;
  now += trustedMs;
  assert.deepEqual(await shown(), []);
});

const found = (mark: string): Unheard => ({ mark, isYoung: mark.startsWith("young") });

test("the count of changes that no message had told is the last stored one, and 0 where none or another text is stored", async () => {
  const { transport } = openSimulator({ crds });
  const report = (): void => {};
  await request(transport, "POST", "/api/v1/namespaces", {
    ...{ apiVersion: "v1", kind: "Namespace", metadata: { name: home } },
  });
  let now = 1_000_000_000;
  const unheard = openUnheardReader({ transport, checkpoints, cluster: "prod", home, report, now: () => now });
  const shown = async (): Promise<number> => {
    now += 10_000;
    return await unheard();
  };
  const cursors = openCursors({ checkpoints: kubernetesCheckpoints(transport, { home }), clusterUid: "c", report });
  const take = openUnheard(cursors, unheardKey("prod"), report);
  const seen = [await shown()];
  for (const marks of [["a", "b"], ["b", "c", "d"], ["b", "c", "d"], []]) {
    await take(marks.map(found));
    seen.push(await shown());
  }
  await cursors.save(unheardKey("prod"), "many");
  seen.push(await shown());
  assert.deepEqual(seen, [0, 2, 2, 0, 0, 0]);
});

test("the first resync of a process counts nothing, because nothing could have told what came before it", () => {
  const { tell, latest } = openUnheardBoard();
  const seen = [latest()];
  for (const marks of [["paused"], ["paused", "a"], ["paused"], ["paused", "a", "b", "young c"]]) {
    tell(marks.map(found));
    seen.push(latest());
  }
  assert.deepEqual(seen, [0, 0, 1, 0, 2]);
});
