/**
 * Spans with OpenTelemetry: one trace across the queue, each span under its parent. Without OpenTelemetry there are
 * none.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { trace } from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { loadedBy } from "../../../../infra/bundle.ts";
import { memoryCheckpoints } from "../../../../shared/adapters/checkpoints/memory.ts";
import { openCluster } from "../../../../shared/adapters/kubernetes/cluster.ts";
import { openSpans, openTelemetry } from "../../../../shared/adapters/telemetry/tracing.ts";
import type { Message } from "../../../../shared/core/key.ts";
import { namespaces } from "../../../../shared/kube/resources.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { builtFor } from "../../../support/build.ts";

const key = { cluster: "c", kind: "Toy", namespace: "ns", name: "a" };
const ref = { resource: namespaces, name: "one" };

/** Runs `act` under a tracer provider, removes the provider afterwards, and returns the spans. */
const traced = async (act: () => Promise<void>) => {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  try {
    await act();
    const spans = exporter.getFinishedSpans();
    const nameOf = (id: string | undefined) => spans.find((span) => span.spanContext().spanId === id)?.name;
    return spans.map((span) => ({
      name: span.name,
      under: nameOf(span.parentSpanContext?.spanId),
      trace: span.spanContext().traceId,
      failed: span.status.code === 2,
    }));
  } finally {
    trace.disable();
  }
};

const line = (): void => {};

describe("without OpenTelemetry", () => {
  test("there are no spans, and no bundle contains OpenTelemetry", async () => {
    trace.disable();
    const { [Symbol.for("opentelemetry.js.api.1")]: mark, ...others } = Object(globalThis);
    assert.ok(others);
    Reflect.deleteProperty(globalThis, Symbol.for("opentelemetry.js.api.1"));
    assert.equal(openSpans(), undefined);
    if (mark !== undefined) Reflect.set(globalThis, Symbol.for("opentelemetry.js.api.1"), mark);
    const meta = await builtFor();
    const inputs = ["reconcile", "forward"].flatMap((name) => loadedBy(meta, name).ever.inputs);
    assert.deepEqual(
      inputs.filter((input) => input.includes("opentelemetry")),
      [],
    );
  });
});

describe("with OpenTelemetry", () => {
  test("an event is one trace: forward and enqueue, then step, read, save, apply and enqueue", async () => {
    const { transport } = openSimulator();
    const spans = await traced(async () => {
      const [sender, taker] = [1, 2].map(() => openTelemetry({ report: line, level: "info" }));
      assert.ok(sender !== undefined && taker !== undefined);
      const carried: string[] = [];
      const queueOf = (trail: typeof sender) =>
        trail.queue({
          send: async (message) => void carried.push(JSON.stringify(message)),
          sendLater: async (message) => void carried.push(JSON.stringify(message)),
        });
      await sender.part("forward", () => queueOf(sender).send({ ...key, reason: "watch" }, "id"));
      const message: Message = JSON.parse(carried[0] ?? "");
      const ports = taker.ports({ cluster: openCluster(transport), checkpoints: memoryCheckpoints() });
      await taker.within(message, async () => {
        await ports.cluster.get(ref);
        await ports.checkpoints.save(key, { schema: 1, cluster: "u", uid: "v", saves: 1, memory: null }, undefined);
        await ports.cluster.create(ref, { apiVersion: "v1", kind: "Namespace", metadata: { name: "one" } });
        await queueOf(taker).sendLater({ ...key, reason: "timer" }, "later", 1_000);
      });
    });
    assert.deepEqual(
      spans.map(({ name, under }) => [name, under]),
      [
        ["enqueue", "forward"],
        ["forward", undefined],
        ["read", "step"],
        ["save", "step"],
        ["apply", "step"],
        ["enqueue", "step"],
        ["step", "enqueue"],
      ],
    );
    assert.equal(new Set(spans.map((span) => span.trace)).size, 1);
    assert.ok(spans.every(({ failed }) => !failed));
  });

  test("the span of failed work has the status of an error, and the error is thrown", async () => {
    const spans = await traced(async () => {
      const trail = openTelemetry({ report: line, level: "info" });
      await assert.rejects(
        trail.part("forward", () => Promise.reject(new Error("no"))),
        /no/,
      );
    });
    assert.deepEqual(
      spans.map(({ name, failed }) => [name, failed]),
      [["forward", true]],
    );
  });
});
