/** The built command line as a process against an API server: its exact output, its exit codes. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Obj } from "../../../shared/core/object.ts";
import type { Simulator } from "../../../shared/simulator/open.ts";
import { onMachine, until } from "../host/machine.ts";
import { application, stateOf } from "../host/objects.ts";
import { type Built, openPackage, type Package } from "./built.ts";

const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";

const state = ({ store }: Simulator, name: string): string => {
  const item = store.get("sparkapplications.sparkoperator.k8s.io", `default/${name}`);
  return stateOf(item === undefined ? undefined : JSON.parse(JSON.stringify(item)));
};

/** Scripts of the pods, on a machine whose time runs twenty times as fast. */
const scripts = {
  page: [{ hangs: true }],
  retried: [{ hangs: true }, { jobMs: 2_000 }],
};

const retried = application("retried", {
  spec: { restartPolicy: { type: "OnFailure", onFailureRetries: 1, onFailureRetryInterval: 1 } },
});

/** Replaces the parts that differ from run to run: instants, spans, ports. */
const steady = (text: string): string =>
  text
    .replace(/^went +SUBMITTED \S+ → .*COMPLETED \S+$/m, "went  STATES")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "TIME")
    .replaceAll(/\b(\d+[dhms])+\b/g, "SPAN")
    .replaceAll(/:\d{4,5}\b/g, ":PORT")
    .replaceAll(/ {2,}/g, "  ");

/** Waits for the answer of a driver. */
const answer = async (url: string): Promise<string> => {
  for (let left = 2_000; left > 0; left--) {
    const { status, text } = await fetch(url).then(async (got) => ({ status: got.status, text: await got.text() }));
    if (status === 200) return text;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`${url} does not answer`);
};

describe("rekindle, built", () => {
  let pack: Package;
  before(async () => {
    pack = await openPackage();
  });
  after(() => pack.remove());

  const onCluster = (app: Obj, act: (built: Built, simulator: Simulator) => Promise<void>) =>
    onMachine(
      async ({ simulator, kubeconfig, host }) => {
        await host("--fence=500ms", "--timeout=2s").door();
        await request(simulator.transport, "POST", applications, app);
        await act(pack.at(kubeconfig), simulator);
      },
      { scripts },
    );

  it(
    "prints an application's life: list, status, event, log, forward, delete",
    onCluster(application("app"), async (built, simulator) => {
      const followed = built.start(["log", "-f", "app"]);
      const watched = built.start(["event", "-f", "app"]);
      await until("it has completed", () => state(simulator, "app") === "COMPLETED");
      const { code, out } = await followed.ended;
      assert.equal(code, 0);
      assert.match(
        out,
        /^INFO SparkContext: Running Spark\n[\s\S]*\nINFO SparkContext: Successfully stopped SparkContext$/,
      );
      assert.equal(out.match(/Pi is roughly/g)?.length, 1);
      const events = await watched.ended;
      assert.equal(events.code, 0);
      assert.match(events.out, /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n/);
      assert.equal(events.out.match(/SparkApplicationCompleted/g)?.length, 1);
      const goldens: readonly (readonly [readonly string[], string])[] = [
        [
          ["list"],
          "NAMESPACE  NAME  STATE  ATTEMPTS  AGE  WAITS FOR, OR WHY IT ENDED\ndefault  app  COMPLETED  1  SPAN  -",
        ],
        [["list", "-o", "name"], "sparkapplication.sparkoperator.k8s.io/app"],
        [
          ["status", "app"],
          "went  STATES\nstate  COMPLETED\nwaits for  nothing: it has completed\nsince  TIME (SPAN ago)\ndo  nothing; apply it with a changed spec to run it again; its log: kubectl logs -n default app-driver",
        ],
        [["log", "app", "--tail", "1"], "INFO SparkContext: Successfully stopped SparkContext"],
        [
          ["pause", "app"],
          "default/app is paused: its pods continue, nothing is created, deleted or counted until rekindle resume",
        ],
        [["resume", "app"], "default/app continues"],
        [["delete", "app", "--wait"], "sparkapplication.sparkoperator.k8s.io/app deleted"],
        [["list"], "no applications"],
      ];
      for (const [args, wanted] of goldens) {
        const ran = await built.run(args);
        assert.deepEqual([ran.code, steady(ran.out), ran.err], [0, wanted, ""], args.join(" "));
      }
    }),
  );

  it(
    "opens a port that leads to the driver, and closes it at Ctrl-C",
    onCluster(application("page"), async (built, simulator) => {
      await until("it runs", () => state(simulator, "page") === "RUNNING");
      const page = built.start(["forward", "page", "--port", "0"]);
      await until("the port is open", () => page.out().includes("until Ctrl-C"));
      const [url = ""] = /http:\S+/.exec(page.out()) ?? [];
      assert.match(await answer(`${url}api/v1/applications`), /"name":"page"/);
      assert.equal((await fetch(`${url}api/v1/applications`, { method: "PATCH" })).status, 403);
      page.interrupt();
      const closed = await page.ended;
      assert.equal(closed.code, 0, closed.err);
      assert.equal(steady(closed.out), "http://127.0.0.1:PORT/ leads to port 4040 of page-driver, until Ctrl-C");
    }),
  );

  it(
    "follows a log into the next attempt, and ends after the last",
    onCluster(retried, async (built, simulator) => {
      const followed = built.start(["log", "-f", "retried"]);
      await until("the first attempt is followed", () => followed.out().includes("Running Spark"));
      await request(simulator.transport, "DELETE", "/api/v1/namespaces/default/pods/retried-driver");
      const { code, out, err } = await followed.ended;
      assert.deepEqual([code, err], [0, "--- runs again: retried-driver"]);
      assert.equal(out.match(/Running Spark/g)?.length, 2);
      assert.match(out, /INFO SparkContext: Successfully stopped SparkContext$/);
    }),
  );

  it(
    "prints one line for each failure",
    onCluster(application("app"), async (built) => {
      const goldens: readonly (readonly [readonly string[], number, RegExp])[] = [
        [
          ["log", "none"],
          1,
          /^rekindle: there is no application of any kind default\/none; see them all with: rekindle list$/,
        ],
        [
          ["log", "-f", "none"],
          1,
          /^rekindle: there is no application of any kind default\/none; see them all with: rekindle list$/,
        ],
        [
          ["log", "app", "-e", "77"],
          1,
          /^rekindle: default\/app has no executor 77: (none is there|there are [\d, ]+)$/,
        ],
        [
          ["forward", "none"],
          1,
          /^rekindle: there is no application of any kind default\/none; see them all with: rekindle list$/,
        ],
        [["list", "--context", "other"], 1, /^rekindle: .*other/],
        [["nothing"], 2, /unknown command 'nothing'[\s\S]*\(rekindle --help lists the commands\)$/],
      ];
      for (const [args, code, line] of goldens) {
        const ran = await built.run(args);
        assert.deepEqual([ran.code, ran.out], [code, ""], `${args.join(" ")}: ${ran.err}`);
        assert.match(ran.err, line);
      }
    }),
  );
});
