/**
 * The metrics of a host over whole lives of applications: each event counts once, also with two hosts, and gauges show
 * the current state.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import type { Host } from "../../../shared/deployments/host/start.ts";
import { application, home, statusOf, volcanoJob } from "./objects.ts";
import { itOnStand } from "./stand.ts";

const figuresOf = async (host: Host): Promise<ReadonlyMap<string, number>> => {
  const { text } = await host.scrape();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
  );
};

const names = [
  "spark_application_count",
  "spark_application_submit_count",
  "spark_application_failed_submission_count",
  "spark_application_success_count",
  "spark_application_failure_count",
  "spark_executor_success_count",
] as const;

const counted = async (hosts: readonly Host[]): Promise<readonly number[]> => {
  const all = await Promise.all(hosts.map(figuresOf));
  return names.map((name) => all.reduce((sum, figures) => sum + (figures.get(name) ?? Number.NaN), 0));
};

const phaseOf = (job: Stored | undefined): unknown => Object(statusOf(job, "state") ?? {}).phase;

const policy = { restartPolicy: { type: "OnFailure", onFailureRetries: 1, onFailureRetryInterval: 3 } };

const it = itOnStand();

describe("metrics", () => {
  it("are all present from the start", async (stand) => {
    const host = await stand.host();
    assert.deepEqual(await counted([host]), [0, 0, 0, 0, 0, 0]);
    assert.deepEqual((await figuresOf(host)).get("rekindle_recovery_errors_total"), 0);
  });

  it("of Volcano are present from the start, and have current values afterwards", async (stand) => {
    const host = await stand.host();
    const before = await figuresOf(host);
    assert.equal(before.get('volcano_job_failed_phase_count{job_name="Unknown",queue_name="Unknown"}'), 0);
    await stand.create(home);
    await stand.create(volcanoJob("j", { runMs: 2_000 }));
    await stand.until("it is complete", () => phaseOf(stand.all("Job")[0]) === "Completed", 60_000);
    const after = await figuresOf(host);
    assert.equal(after.get('volcano_job_completed_phase_count{job_name="default/j",queue_name="default"}'), 1);
    assert.equal(after.get("volcano_controller_job_to_pod_creation_latency_milliseconds_count"), 2);
    assert.equal(after.get('rekindle_job_phases_total{phase="Completed"}'), 1);
    assert.equal(after.get('rekindle_queues{state="Open"}'), 2);
  });

  it("count no objects where the setting gauges is false, and are present nevertheless", async (stand) => {
    const [counting, silent] = [await stand.host(), await stand.host({ gauges: false })];
    await stand.create(home);
    await stand.create(volcanoJob("j", { hangs: true }));
    await stand.until("it runs", () => phaseOf(stand.all("Job")[0]) === "Running", 60_000);
    const name = 'rekindle_jobs{phase="Running",queue_name="default"}';
    const of = async (host: Host) => (await figuresOf(host)).get(name);
    assert.deepEqual([await of(counting), await of(silent)], [1, undefined]);
    assert.deepEqual((await figuresOf(silent)).get("rekindle_recovery_errors_total"), 0);
  });

  it("of a Volcano job's creation are exported by the first host, and end with the job", async (stand) => {
    const host = await stand.host();
    await stand.create(home);
    await stand.create(volcanoJob("j", { hangs: true }));
    await stand.until("it runs", () => phaseOf(stand.all("Job")[0]) === "Running", 60_000);
    const name = "volcano_controller_job_e2e_creation_duration_milliseconds";
    const told = async (of: Host): Promise<readonly number[]> =>
      [...(await figuresOf(of))].flatMap(([key, value]) =>
        key === `${name}{job_name="j",queue="default",job_namespace="default"}` ? [value] : [],
      );
    const [made = Number.NaN, ...more] = await told(host);
    assert.ok(made >= 0 && made < 60_000, `${made} ms`);
    assert.deepEqual([more, await told(await stand.host())], [[], []]);
    await stand.remove("Job", "j");
    await stand.until("it is gone", () => stand.all("Job").length === 0, 60_000);
    assert.deepEqual(await told(host), []);
  });

  itOnStand({ scripts: { retried: [{ jobMs: 1_000, exitCode: 1 }, { jobMs: 1_000 }] } })(
    "of two hosts together count each event once",
    async (stand) => {
      const hosts = [await stand.host(), await stand.host()];
      await stand.create(application("retried", { spec: policy }));
      await stand.create(application("refused", { spec: { driver: { cores: 1, memory: "1q" } } }));
      await stand.turn(120_000);
      assert.deepEqual((await counted(hosts)).slice(0, 5), [2, 2, 1, 1, 1]);
      const [first] = await Promise.all(hosts.map(figuresOf));
      assert.ok((first?.get('rekindle_api_requests_total{method="GET",code="200"}') ?? 0) > 0);
      assert.ok((first?.get("rekindle_queue_age_seconds_count") ?? 0) > 0);
      assert.ok((first?.get('rekindle_steps_total{ending="step"}') ?? 0) > 0);
    },
  );

  itOnStand({ scripts: { app: [{ hangs: true }] } })(
    "of running objects have current values, even on a host that started later",
    async (stand) => {
      await stand.host();
      await stand.create(application("app"));
      await stand.turn(30_000);
      const late = await figuresOf(await stand.host());
      assert.equal(late.get("spark_application_running_count"), 1);
      assert.equal(late.get("spark_application_submit_count"), 0);
      assert.ok((late.get("spark_executor_running_count") ?? 0) >= 1);
    },
  );
});
