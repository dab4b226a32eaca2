/**
 * Pods that do not start, under a host: the record's wait, the warning and `rekindle status`, until the cause is
 * removed.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Obj } from "../../../shared/core/object.ts";
import { rekindle } from "./command.ts";
import { application, connect, stateOf, statusOf } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";
import { answer } from "./way.ts";

const mounting = {
  volumes: [{ name: "config", configMap: { name: "app-config" } }],
  driver: { cores: 1, memory: "512m", volumeMounts: [{ name: "config", mountPath: "/etc/app" }] },
};

const config: Obj = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "app-config", namespace: "default" } };

const state = (stand: Stand): string => stateOf(stand.get("SparkApplication", "app"));

const warningsOf = (stand: Stand, kind: string): readonly string[] =>
  stand
    .all("Event")
    .filter(({ reason, involvedObject }) => reason === "PodNotStarting" && Object(involvedObject).kind === kind)
    .map(({ message }) => String(message));

const waitsFor = (stand: Stand, name: string): string =>
  stand
    .all("Checkpoint")
    .filter(({ metadata }) => metadata.name === name)
    .map(({ spec }) => String(Object(spec).waitsFor))
    .join();

const listsEvents = (line: string): boolean => /^GET .*\/events\?/.test(line);

const it = itOnStand({ events: true });

describe("a driver that cannot mount a ConfigMap", () => {
  it("is reported within a minute, once, with the object to create, and runs after that", async (stand) => {
    await stand.host();
    await stand.create(application("app", { spec: mounting }));
    await stand.until("the warning", () => warningsOf(stand, "SparkApplication").length > 0, 65_000);
    const says = /FailedMount: MountVolume\.SetUp failed for volume "config" : configmap "app-config" not found/;
    assert.match(waitsFor(stand, "sparkapplication.app"), says);
    const [warning = ""] = warningsOf(stand, "SparkApplication");
    assert.match(warning, says);
    assert.match(warning, /create configmap app-config in namespace default/);
    assert.match(await rekindle(stand, "status", "default/app"), /^do {9}create configmap app-config/m);
    assert.match(await rekindle(stand, "list"), says);
    // The step that wrote the warning saves that it did.
    await stand.turn(1_000);
    const writes = stand.writes().length;
    const before = stand.asked.filter(listsEvents).length;
    await stand.turn(840_000);
    assert.equal(stand.writes().length, writes, "nothing new is written while nothing changes");
    const looks = stand.asked.filter(listsEvents).length - before;
    assert.ok(looks <= 16, `${looks} looks at events in 14 minutes`);
    assert.equal(warningsOf(stand, "SparkApplication").length, 1);
    await stand.create(config);
    await stand.until("it is COMPLETED", () => state(stand) === "COMPLETED", 60_000);
  });

  it("is reported by its status alone if Events may not be listed", async (stand) => {
    stand.fault(({ method, path }) =>
      method === "GET" && path.includes("/events?") ? answer(403, "Forbidden", "events is forbidden") : undefined,
    );
    await stand.host();
    await stand.create(application("app", { spec: mounting }));
    await stand.until("the warning", () => warningsOf(stand, "SparkApplication").length > 0, 65_000);
    assert.match(
      waitsFor(stand, "sparkapplication.app"),
      /NotStarted: the kubelet of node \S+ has reported nothing about it/,
    );
    await stand.create(config);
    await stand.until("it is COMPLETED", () => state(stand) === "COMPLETED", 60_000);
    assert.deepEqual(
      stand.lines.filter(({ level }) => level === "warn" || level === "error"),
      [],
    );
  });
});

describe("a driver with a scheduler that does not run", () => {
  itOnStand()("is reported with the scheduler's name", async (stand) => {
    await stand.host();
    const driver = { cores: 1, memory: "512m", schedulerName: "gangs" };
    await stand.create(application("app", { spec: { driver } }));
    await stand.until("the warning", () => warningsOf(stand, "SparkApplication").length > 0, 65_000);
    assert.match(waitsFor(stand, "sparkapplication.app"), /no scheduler named gangs has looked at it/);
  });
});

describe("a Connect server that cannot mount a ConfigMap", () => {
  const template = {
    spec: {
      volumes: [{ name: "config", configMap: { name: "app-config" } }],
      containers: [{ name: "spark-kubernetes-driver", volumeMounts: [{ name: "config", mountPath: "/etc/app" }] }],
    },
  };

  it("is reported within a minute, once, with the object to create, and becomes ready after that", async (stand) => {
    await stand.host();
    await stand.create(connect("sc", { server: { template } }));
    await stand.until("the warning", () => warningsOf(stand, "SparkConnect").length > 0, 65_000);
    const says = /FailedMount: MountVolume\.SetUp failed for volume "config" : configmap "app-config" not found/;
    assert.match(waitsFor(stand, "sparkconnect.sc"), says);
    const [warning = ""] = warningsOf(stand, "SparkConnect");
    assert.match(warning, says);
    assert.match(warning, /create configmap app-config in namespace default/);
    assert.match(await rekindle(stand, "status", "sparkconnect/default/sc"), /^do {9}create configmap app-config/m);
    const writes = stand.writes().length;
    await stand.turn(840_000);
    assert.equal(stand.writes().length, writes, "nothing new is written while nothing changes");
    assert.equal(warningsOf(stand, "SparkConnect").length, 1);
    await stand.create(config);
    const isReady = (): boolean => statusOf(stand.get("SparkConnect", "sc"), "state") === "Ready";
    await stand.until("it is ready", isReady, 60_000);
  });
});

describe("an application that starts", () => {
  it("causes no list of Events", async (stand) => {
    await stand.host();
    await stand.create(application("app"));
    await stand.until("it is COMPLETED", () => state(stand) === "COMPLETED", 60_000);
    await stand.turn(120_000);
    assert.deepEqual(stand.asked.filter(listsEvents), []);
  });
});
