/** The slots of a host's steps that create many objects: six at once, and no wait without an end. */
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { openHostSlots } from "../../../../shared/deployments/host/slots.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("six steps create many objects at once; a further one goes on after 30 s without a slot, and frees none", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const { creators } = openHostSlots(1);
    assert.ok(creators !== undefined);
    const first = creators("a");
    const early = [first, ...Array.from({ length: 5 }, () => creators("a"))];
    const [late, last] = [creators("b"), creators("c")];
    for (const slot of early) assert.equal(await slot.enter(), "at once");
    const said: string[] = [];
    const enters = async (name: string, slot: typeof late): Promise<void> => {
      const so = await slot.enter();
      said.push(`${name} ${so}`);
    };
    void enters("late", late);
    mock.timers.tick(29_999);
    await turn();
    assert.deepEqual(said, []);
    mock.timers.tick(1);
    await turn();
    assert.deepEqual(said, ["late waited"]);
    void enters("last", last);
    late.leave();
    await turn();
    assert.deepEqual(said, ["late waited"]);
    first.leave();
    await turn();
    assert.deepEqual(said, ["late waited", "last waited"]);
    mock.timers.tick(60_000);
    assert.equal(await last.enter(), "at once");
  } finally {
    mock.timers.reset();
  }
});
