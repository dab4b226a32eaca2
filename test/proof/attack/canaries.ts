/**
 * Canaries: secrets in every field that users put secrets into. Log, events, status, records, metrics and status
 * updates must show none of them.
 */
import { type Attack, must } from "./attack.ts";
import {
  application,
  beside,
  besideSuspended,
  connect,
  container,
  type Fields,
  job,
  type Obj,
  rowsOf,
  scheduled,
  type Texts,
  task,
} from "./objects.ts";
import { attackers, fresh, pathOf, type Stand } from "./stand.ts";

type Row = {
  readonly name: string;
  /** Returns an object that contains the secret; other defects of the object make the host report about it. */
  readonly object: (name: string, secret: string) => Obj;
  readonly short?: true;
};

const conf = (key: string, more: Fields = {}, short?: true): Row => ({
  name: `in the conf ${key}`,
  object: (at, secret) => application(at, { sparkConf: { [key]: secret }, ...more }),
  ...(short === undefined ? {} : { short }),
});

/** An invalid driver memory: the refusal of the object must not repeat the secret. */
const wrong: Fields = { driver: { cores: 1, memory: "none" } };

const confs: readonly Row[] = [
  conf("spark.hadoop.fs.s3a.secret.key", {}, true),
  conf("spark.hadoop.fs.s3a.session.token", wrong),
  conf("spark.hadoop.fs.azure.account.key.x.dfs.core.windows.net"),
  conf("spark.hadoop.javax.jdo.option.ConnectionPassword", wrong),
  conf("spark.authenticate.secret"),
  conf("spark.ssl.keyPassword"),
  conf("spark.ssl.keyStorePassword", wrong),
  conf("spark.ssl.trustStorePassword"),
  conf("spark.kubernetes.authenticate.submission.oauthToken"),
  conf("spark.kubernetes.authenticate.driver.oauthToken"),
  conf("spark.kubernetes.driverEnv.DB_PASSWORD"),
  conf("spark.executorEnv.DB_PASSWORD", wrong),
  conf("spark.jdbc.url"),
  conf("spark.driver.extraJavaOptions"),
  conf("spark.executor.extraJavaOptions", wrong),
  conf("spark.redaction.string"),
  conf("spark.hadoop.fs.s3a.access.key"),
  conf("spark.hadoop.google.cloud.auth.service.account.private.key", wrong),
];

const driver = (name: string, fields: (secret: string) => Fields): Row => ({
  name: `in ${name} of the driver`,
  object: (at, secret) =>
    application(at, { driver: { cores: 1, memory: "512m", serviceAccount: "spark", ...fields(secret) } }),
});

const annotated = (name: string, annotations: (secret: string) => Texts): Row => ({
  name: `in ${name}`,
  object: (at, secret) => application(at, { suspend: true }, { annotations: annotations(secret) }),
});

const plugins = (
  name: string,
  args: (secret: string) => Readonly<Record<string, readonly string[]>>,
  short?: true,
): Row => ({
  name: `in ${name}`,
  object: (at, secret) => job(at, { plugins: args(secret) }),
  ...(short === undefined ? {} : { short }),
});

const pod = (name: string, fields: (secret: string) => Fields): Row => ({
  name: `in ${name} of a task`,
  object: (at, secret) => job(at, { tasks: [task("w", 1, {}, { containers: [{ ...container, ...fields(secret) }] })] }),
});

/** One object for every field that users put secrets into. */
export const hidingPlaces: readonly Row[] = [
  ...confs,
  ...rowsOf<Row["object"]>({
    "in hadoopConf": (at, secret) => application(at, { hadoopConf: { "fs.s3a.secret.key": secret } }),
    "in arguments": (at, secret) => application(at, { arguments: ["--password", secret] }),
    "in arguments of one that is refused": (at, secret) =>
      application(at, { arguments: [`--password=${secret}`], ...wrong }),
    "in a jar's URL": (at, secret) => application(at, { deps: { jars: [`https://u:${secret}@h/a.jar`] } }),
    "in a repository's URL": (at, secret) =>
      application(at, { deps: { repositories: [`https://u:${secret}@h/`], packages: ["a:b"] } }),
    "in metricsProperties": (at, secret) =>
      application(at, {
        monitoring: {
          exposeDriverMetrics: true,
          exposeExecutorMetrics: true,
          metricsProperties: `*.sink.x.password=${secret}\n`,
        },
      }),
  }),
  driver("env", (secret) => ({ env: [{ name: "PASSWORD", value: secret }] })),
  driver("envVars", (secret) => ({ envVars: { PASSWORD: secret } })),
  driver("env that is wrong", (secret) => ({ env: [{ name: "A B", value: secret }] })),
  driver("javaOptions", (secret) => ({ javaOptions: `-Djavax.net.ssl.keyStorePassword=${secret}` })),
  driver("annotations", (secret) => ({ annotations: { "vault.example/token": secret } })),
  driver("a sidecar's env", (secret) => ({ sidecars: [{ ...container, env: [{ name: "P", value: secret }] }] })),
  driver("a preStop command", (secret) => ({
    lifecycle: { preStop: { exec: { command: ["curl", "-u", `a:${secret}`] } } },
  })),
  annotated("an annotation of the application", (secret) => ({ "example.com/password": secret })),
  annotated("the user part of a listener's URL", (secret) => ({
    "rekindle.dev/updates-to": `https://user:${secret}@listener.never.test/`,
  })),
  annotated("a wrong annotation of ours", (secret) => ({ "rekindle.dev/active-deadline": secret })),
  ...rowsOf<Row["object"]>({
    "in a schedule's template": (at, secret) => scheduled(at, {}, { sparkConf: { "spark.ssl.keyPassword": secret } }),
    "in a Connect server's conf": (at, secret) =>
      connect(at, { sparkConf: { "spark.connect.authenticate.token": secret } }),
    "in a Connect server's environment": (at, secret) =>
      connect(at, {
        server: {
          cores: 1,
          memory: "512m",
          template: {
            spec: {
              serviceAccount: "spark",
              containers: [{ name: "spark-kubernetes-driver", env: [{ name: "P", value: secret }] }],
            },
          },
        },
      }),
  }),
  plugins("a flag of the plugin ssh, misspelt", (secret) => ({ ssh: [`--ssh-private-key=${secret}`] }), true),
  plugins("the private key of the plugin ssh", (secret) => ({ ssh: [`--ssh-private-key`, secret] })),
  plugins("a flag of a plugin that does not exist", (secret) => ({ vault: [`--token=${secret}`] })),
  plugins("a flag of the plugin mpi, misspelt", (secret) => ({ mpi: [`--masterr=${secret}`], svc: [] })),
  plugins("a flag of the plugin pytorch, misspelt", (secret) => ({ pytorch: [`--passwort=${secret}`] })),
  pod("env", (secret) => ({ env: [{ name: "PASSWORD", value: secret }] })),
  pod("args", (secret) => ({ args: ["--password", secret] })),
  pod("a command", (secret) => ({ command: ["sh", "-c", `login ${secret}`] })),
  pod("a probe's header", (secret) => ({
    livenessProbe: { httpGet: { port: 1, httpHeaders: [{ name: "Authorization", value: secret }] } },
  })),
];

/** Returns the names of the places that show the secret; `own` is the object that its user wrote it into. */
const sightings = async (stand: Stand, secret: string, own: Obj): Promise<readonly string[]> => {
  const { name } = own.metadata;
  const read = async (path: string): Promise<string> => JSON.stringify((await stand.call("GET", path)).body);
  const object = Object((await stand.call("GET", `${pathOf(own.kind)}/${name}`)).body);
  const places: readonly (readonly [where: string, text: string])[] = [
    ["the log", stand.host.log()],
    ["an event", await read(pathOf("Event"))],
    ["the status", JSON.stringify(object["status"] ?? {})],
    ["a record", await read(pathOf("Checkpoint"))],
    ["the figures", await (await fetch(`${stand.host.url}/metrics`)).text()],
    ["what a listener was told", JSON.stringify(stand.listener.heard())],
    ["rekindle status", await stand.rekindle("status", `${own.kind}/${attackers}/${name}`)],
  ];
  return places.flatMap(([where, text]) => (text.includes(secret) ? [where] : []));
};

const hidden = async (stand: Stand, { object }: Row): Promise<undefined> => {
  const name = fresh("canary");
  const secret = `tweet${name.replace("-", "x")}tweet`;
  const made = object(name, secret);
  await beside(stand, made, async () => {
    const seen = await sightings(stand, secret, made);
    must(seen.length === 0, `seen in ${seen.join(", ")}`);
  });
  return undefined;
};

const inObjects: readonly Attack[] = hidingPlaces.map((row) => ({
  ...(row.short === undefined ? {} : { short: row.short }),
  ...{ class: "canaries", name: row.name, stage: "cluster" },
  run: (stand) => hidden(stand, row),
}));

/** A secret of the host itself: after the other attacks on this stage, no place shows it. */
const ofHost = (name: string, secretOf: (stand: Stand) => string): Attack => ({
  ...{ class: "canaries", name, stage: "cluster" },
  run: (stand) =>
    besideSuspended(stand, async (object) => {
      const seen = await sightings(stand, secretOf(stand), object);
      must(seen.length === 0, `seen in ${seen.join(", ")}`);
    }),
});

/** The operator's listener has a token in its URL: records that tenants can read, and the log, must not contain it. */
const listener: Attack = {
  ...{ class: "canaries", name: "the token in the operator's listener", stage: "cluster" },
  short: true,
  run: (stand) =>
    besideSuspended(stand, async () => {
      const records = JSON.stringify((await stand.call("GET", pathOf("Checkpoint"))).body);
      must(!records.includes(operatorToken), "it is in a record that its tenant can read");
      must(!stand.host.log().includes(operatorToken), "it is in the log");
    }),
};

/** The token in the query of the listener URL that the operator configured. */
export const operatorToken = "tweet-operator-token-tweet";

export const canaries: readonly Attack[] = [
  ...inObjects,
  ofHost("the key of triggers", ({ secrets }) => secrets.trigger),
  ofHost("the key of updates", ({ secrets }) => secrets.updates),
  listener,
];
