/** Escape sequences in users' texts: no terminal and no log receives a control character that another user chose. */
import { type Attack, must } from "./attack.ts";
import {
  application,
  beside,
  besideSuspended,
  connect,
  type Fields,
  flow,
  job,
  type Obj,
  rowsOf,
  scheduled,
  task,
} from "./objects.ts";
import { fresh, pathOf, type Stand, waitFor } from "./stand.ts";

/**
 * Sequences that clear the screen, rename the window, forge a log line, move the cursor up and ring; their C1 forms,
 * and marks that change the direction of text.
 */
const poison =
  "\u001b[2J\u001b[1;1H\u001b]0;owned\u0007\r\u001b[1A\u001b[31mSUCCEEDED\u0008\u009b2J\u009d0;x\u009c\u202egpj.exe\u2066\u061c\u200f\u2028FORGED\u2029\u0085\u00ad\ufeff\u{e0041}\u0000\nFORGED ok";

/** Control and format characters and separators of lines, except line ends and tabs. */
const steering = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const lineOf = (text: string): string =>
  JSON.stringify(text.split("\n").find((line) => steering.test(line) || line.startsWith("FORGED")) ?? "");

const mustBeClean = (what: string, text: string): void =>
  must(!steering.test(text) && !/^FORGED/m.test(text), `${what} holds ${lineOf(text)}`);

const without = (text: string): string => text.replaceAll("\u0000", "");

type Row = { readonly name: string; readonly object: (name: string) => Obj; readonly short?: true };

const word = without(poison);

const spark = (name: string, spec: Fields, more: Partial<Row> = {}): Row => ({
  name,
  object: (at) => application(at, spec),
  ...more,
});

const rows: readonly Row[] = [
  spark("mainClass", { mainClass: word, sparkConf: { "spark.master": "local" } }, { short: true }),
  spark("image", { image: word }),
  spark("sparkVersion", { sparkVersion: word }),
  spark("a conf's value", { sparkConf: { "spark.driver.memoryOverhead": word } }),
  spark("a conf's key", { sparkConf: { [`spark.kubernetes.driver.label.${word}`]: word } }),
  spark("driver.memory", { driver: { memory: word } }),
  spark("arguments", { arguments: [word], driver: { memory: "none" } }),
  spark("a volume's name", {
    volumes: [{ name: word, emptyDir: {} }],
    driver: { volumeMounts: [{ name: word, mountPath: "/a" }] },
  }),
  spark("batchScheduler", { batchScheduler: word }),
  spark("proxyUser", { proxyUser: word }),
  ...rowsOf<Row["object"]>({
    "an annotation": (at) => application(at, {}, { annotations: { "rekindle.dev/active-deadline": word } }),
    "a listener": (at) =>
      application(at, { suspend: true }, { annotations: { "rekindle.dev/updates-to": `https://a/${word}` } }),
    "a schedule": (at) => scheduled(at, { schedule: word }),
    "a time zone": (at) => scheduled(at, { timeZone: word }),
    "a Connect server's image": (at) => connect(at, { image: word, server: { memory: word } }),
    "a queue": (at) => job(at, { queue: word }),
    "a plugin": (at) => job(at, { plugins: { ssh: [word], [word]: [] } }),
    "a task's name": (at) => job(at, { tasks: [task(word, 1)] }),
    "a policy's timeout": (at) => job(at, { policies: [{ event: "PodFailed", action: "RestartJob", timeout: word }] }),
    "a flow's target": (at) => flow(at, [{ name: "a", dependsOn: { targets: [word] } }]),
  }),
];

const seen = async (stand: Stand, object: Obj): Promise<undefined> => {
  const { kind, metadata } = object;
  const from = stand.host.log().length;
  await beside(stand, object, async () => {
    const name = `${kind}/${metadata.namespace}/${metadata.name}`;
    const said = await Promise.all([
      stand.rekindle("status", name),
      stand.rekindle("event", name),
      stand.rekindle("list", kind, "-n", String(metadata.namespace), "-o", "wide"),
    ]);
    mustBeClean("rekindle status", said[0] ?? "");
    mustBeClean("rekindle event", said[1] ?? "");
    mustBeClean("rekindle list", said[2] ?? "");
    mustBeClean("the host's log", stand.host.log().slice(from));
  });
  return undefined;
};

const inFields: readonly Attack[] = rows.map(({ name, object, ...rest }) => ({
  ...rest,
  ...{ class: "escape", name: `in ${name}`, stage: "cluster" },
  run: (stand) => seen(stand, object(fresh("escape"))),
}));

/** A forged event about an object that a person looks at. */
const inEvents: Attack = {
  ...{ class: "escape", name: "in an event that somebody forged", stage: "cluster" },
  run: (stand) =>
    besideSuspended(stand, async ({ kind, metadata: { name, namespace } }, made) => {
      const { uid } = Object(made["metadata"]);
      const involvedObject = { apiVersion: "sparkoperator.k8s.io/v1beta2", kind, name, namespace, uid };
      const event = {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: fresh("forged") },
        involvedObject,
        reason: word,
        message: word,
        type: "Warning",
        source: { component: word },
        firstTimestamp: new Date().toISOString(),
        lastTimestamp: new Date().toISOString(),
      };
      await stand.call("POST", pathOf("Event"), event);
      mustBeClean("rekindle event", await stand.rekindle("event", `${namespace}/${name}`));
    }),
};

const inStatus: Attack = {
  ...{ class: "escape", name: "in a status that somebody forged", stage: "cluster" },
  run: (stand) =>
    besideSuspended(stand, async ({ kind, metadata: { name, namespace } }) => {
      const status = {
        applicationState: { state: "FAILED", errorMessage: word },
        driverInfo: { podName: word, webUIAddress: word },
      };
      await stand.call("PATCH", `${pathOf(kind)}/${name}/status`, { status }, "application/merge-patch+json");
      mustBeClean("rekindle status", await stand.rekindle("status", `${namespace}/${name}`));
      mustBeClean("rekindle list", await stand.rekindle("list", "-n", String(namespace)));
    }),
};

const inAnswers: Attack = {
  ...{ class: "escape", name: "in what a listener answers", stage: "cluster" },
  run: async (stand) => {
    const annotations = { "rekindle.dev/updates-to": `${stand.listener.url}/escape/x` };
    const from = stand.host.log().length;
    const act = async ({ metadata: { name } }: Obj): Promise<void> => {
      const heard = (): boolean => stand.listener.heard().some(({ path }) => path.startsWith("/escape"));
      must(await waitFor(async () => heard(), 20_000), "the listener was told nothing");
      mustBeClean("rekindle status", await stand.rekindle("status", `mallory/${name}`));
      mustBeClean("the host's log", stand.host.log().slice(from));
    };
    return await besideSuspended(stand, act, { annotations });
  },
};

export const escapes: readonly Attack[] = [...inFields, inEvents, inStatus, inAnswers];
