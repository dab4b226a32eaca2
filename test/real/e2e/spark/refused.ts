/** Bad applications end as under upstream: the state, the attempts, a message that names the field to change. */
import { sparkPi } from "../../../support/pi.ts";
import { patienceMs } from "../../cluster/api.ts";
import { type Case, kubectl, must, running, type Scene } from "../scene.ts";
import { awaitEnd, openLedger, type Page } from "./ledger.ts";

type Bad = {
  readonly name: string;
  /** Merged over the good application's spec. */
  readonly spec: Readonly<Record<string, unknown>>;
  readonly submissions: number;
  readonly executions: number;
  readonly drivers: number;
  readonly says: RegExp;
};

const driver = { cores: 1, memory: "512m", serviceAccount: "spark" };
const retried = {
  type: "OnFailure",
  onFailureRetries: 1,
  onFailureRetryInterval: 1,
  onSubmissionFailureRetries: 1,
  onSubmissionFailureRetryInterval: 1,
};

/**
 * The first two cases have a policy of retries, for a failed submission and a failed driver; the third is not retried.
 */
const bad: readonly Bad[] = [
  {
    name: "bad-account",
    spec: { driver: { ...driver, serviceAccount: "nobody" }, restartPolicy: retried },
    ...{ submissions: 2, executions: 0, drivers: 0 },
    says: /^failed to run spark-submit: .*service ?account.*nobody/is,
  },
  {
    name: "bad-jar",
    spec: { mainApplicationFile: "local:///opt/spark/examples/jars/missing.jar", restartPolicy: retried },
    ...{ submissions: 2, executions: 2, drivers: 2 },
    says: /driver container failed with ExitCode: \d+, Reason: Error/,
  },
  {
    name: "bad-conf",
    spec: { sparkConf: { "spark.kubernetes.driver.master": "https://elsewhere" } },
    ...{ submissions: 1, executions: 0, drivers: 0 },
    says: /^failed to run spark-submit: .*spark\.kubernetes\.driver\.master.*not allowed/s,
  },
];

const judged = async (page: Page, one: Bad): Promise<string> => {
  await awaitEnd(page, patienceMs);
  const status = page.last?.status;
  const error = status?.applicationState?.errorMessage ?? "";
  must(page.states.at(-1) === "FAILED", `${one.name} is ${JSON.stringify(status)}`);
  must(one.says.test(error), `${one.name}: errorMessage "${error}" does not match ${one.says}`);
  const counts = [status?.submissionAttempts ?? 0, status?.executionAttempts ?? 0, page.drivers.size];
  const expected = [one.submissions, one.executions, one.drivers];
  must(
    counts.join() === expected.join(),
    `${one.name}: submissions, executions, drivers are ${counts.join(", ")}, expected ${expected.join(", ")}`,
  );
  return `${one.name}: ${page.states.join(" → ")}; ${error.slice(0, 160)}`;
};

const create = async ({ cluster }: Scene, one: Bad): Promise<void> => {
  const { code, stderr } = await cluster.kubectl(["create", "-f", "-"], {
    input: JSON.stringify(sparkPi(one.name, one.spec)),
  });
  must(code === 0, `kubectl create ${one.name}: ${stderr}`);
};

export const badOnes: Case = {
  name: "bad applications fail with upstream's states, attempts and messages",
  run: (scene) =>
    running(scene, async () => {
      const ledger = openLedger(scene.cluster.api);
      try {
        for (const one of bad) await create(scene, one);
        return await ledger.during(Promise.all(bad.map((one) => judged(ledger.of(one.name), one))));
      } finally {
        await ledger.stop();
        await kubectl(scene.cluster, ["delete", "sparkapplications", ...bad.map(({ name }) => name)]);
      }
    }),
};
