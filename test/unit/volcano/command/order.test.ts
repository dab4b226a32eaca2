/** The part of a Command that a list keeps: each queue's step lists those of all tenants. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import {
  commandOutline,
  commandsIn,
  commandWatch,
  ordersFor,
  readCommands,
} from "../../../../shared/volcano/command/order.ts";
import { queues } from "../../../../shared/volcano/schema/resource.ts";

const target = { apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", name: "q", uid: "u", controller: true };

const command = (more: Readonly<Record<string, unknown>> = {}, metadata: object = {}): Stored => ({
  ...{ apiVersion: "bus.volcano.sh/v1alpha1", kind: "Command", target, action: "CloseQueue" },
  metadata: { name: "c", namespace: "ns", uid: "c", resourceVersion: "1", ...metadata },
  ...more,
});

const queue: Stored = {
  ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue" },
  metadata: { name: "q", uid: "u", resourceVersion: "1" },
};

describe("the outline of a Command", () => {
  test("has the Command's action and UID", () => {
    const kept = commandOutline(command());
    const [one] = ordersFor(queue, queues, [kept]);
    const [whole] = ordersFor(queue, queues, [command()]);
    assert.deepEqual([one?.uid, one?.action, one?.stale], [whole?.uid, whole?.action, false]);
  });

  test("is short, however long the fields of the Command are", () => {
    const text = "x".repeat(500_000);
    const kept = commandOutline(
      command(
        { action: text, reason: text, message: text, target: { ...target, name: text, more: text } },
        { labels: { a: text }, annotations: { a: text }, ownerReferences: [{ ...target, uid: text }] },
      ),
    );
    assert.ok(JSON.stringify(kept).length < 1_000);
    assert.deepEqual(ordersFor(queue, queues, [kept]), []);
  });

  test("has the owner of the command, by which a cleanup finds it", () => {
    const owner = { apiVersion: target.apiVersion, kind: "Queue", name: "q", uid: "u", controller: true };
    const kept = commandOutline(command({}, { ownerReferences: [owner] }));
    assert.deepEqual(kept.metadata.ownerReferences, [owner]);
    const many = commandOutline(command({}, { ownerReferences: Array.from({ length: 10_000 }, () => owner) }));
    assert.equal(many.metadata.ownerReferences?.length, 8);
  });

  test("is what a list of commands keeps", () => {
    const query = commandsIn("");
    assert.ok(query.do === "list" && query.projecting?.() === commandOutline);
  });

  test("is what a watch of commands keeps, and names the target", () => {
    const { trim, ownerName } = commandWatch(queues);
    assert.equal(trim, commandOutline);
    assert.equal(ownerName(commandOutline(command())), "q");
  });
});

describe("the commands that a queue's step reads", () => {
  const one = (name: string, namespace: string, action: string): Stored =>
    commandOutline(command({ action }, { name, namespace, uid: name })) ?? assert.fail();

  type Step = ReturnType<ReturnType<typeof readCommands>["next"]>;

  /** The namespace of each list, and where it ends. */
  const askedOf = ({ done, value }: Step): readonly (readonly [string, number | undefined])[] =>
    done === true ? [] : value.flatMap((query) => (query.do === "list" ? [[query.namespace, query.mostText]] : []));

  test("come from one list, which ends after 8 million characters", () => {
    const reads = readCommands(["default"]);
    assert.deepEqual(askedOf(reads.next()), [["", 8_000_000]]);
    const found = [one("a", "team-a", "x")];
    assert.deepEqual(reads.next([{ objects: found }]), { done: true, value: found });
  });

  test("include all Commands of the allowed namespaces, even if the list ended before them", () => {
    const reads = readCommands(["default", "ops"]);
    reads.next();
    const large = one("a", "team-a", "x".repeat(1_500_000));
    const known = one("b", "default", "y");
    const further = reads.next([{ objects: [large, known] }]);
    assert.deepEqual(askedOf(further), [
      ["default", undefined],
      ["ops", undefined],
    ]);
    const missed = one("c", "ops", "z");
    const { value } = reads.next([{ objects: [known] }, { objects: [missed] }]);
    assert.deepEqual(value, [known, missed, large]);
  });
});
