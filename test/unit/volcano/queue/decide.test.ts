/** The decisions of a queue: states, commands, parents and children, and deaths in between. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Hall } from "./hall.ts";

const child = { parent: "up" };

describe("a queue", () => {
  test("is opened, and gets the parent root if it names none", () => {
    const hall = new Hall({ q: {} }).run();
    assert.deepEqual([hall.state("q"), hall.spec("q")["parent"]], ["Open", "root"]);
  });

  test("that bypassed admission gets the defaults of admission once, and keeps its own values", () => {
    const hall = new Hall({ q: {}, r: { parent: "root", weight: 4, reclaimable: false } }).run();
    assert.deepEqual(hall.spec("q"), { parent: "root", weight: 1, reclaimable: true });
    assert.deepEqual(hall.spec("r"), { parent: "root", weight: 4, reclaimable: false });
    const { writes } = hall;
    assert.equal(hall.run().writes, writes);
  });

  test("step creates the queues root and default if they are missing", () => {
    const hall = new Hall({ q: {} }).run();
    assert.deepEqual(hall.names(), ["default", "q", "root"]);
    assert.deepEqual([hall.spec("default")["parent"], hall.spec("root")["parent"]], ["root", undefined]);
  });

  test("closes at once if it has no groups, and opens again", () => {
    const hall = new Hall({ q: {} }).run();
    hall.order("c", "CloseQueue", "q").run();
    assert.deepEqual([hall.state("q"), hall.commands()], ["Closed", []]);
    hall.order("d", "OpenQueue", "q").run();
    assert.equal(hall.state("q"), "Open");
    assert.deepEqual(hall.told("q"), ["CloseQueue: Close queue succeed", "OpenQueue: Open queue succeed"]);
  });

  test("is Closing until its last group is gone", () => {
    const hall = new Hall({ q: {} }).run();
    hall.group("g", "q").order("c", "CloseQueue", "q").run();
    assert.equal(hall.state("q"), "Closing");
    hall.leave("g").run();
    assert.equal(hall.state("q"), "Closed");
  });

  test("obeys a Command once, even if the step dies after its save", () => {
    const hall = new Hall({ q: {} }).run();
    hall.order("c", "CloseQueue", "q");
    hall.step("q", true);
    hall.forget("c").run();
    assert.equal(hall.state("q"), "Closed");
  });

  test("records the Events of a step that died after its save, and refuses an unknown action with an Event", () => {
    const hall = new Hall({ q: {} }).run();
    hall.order("c", "CloseQueue", "q").step("q", true);
    hall.order("d", "OpenQueue", "q").run();
    assert.deepEqual(hall.told("q"), ["CloseQueue: Close queue succeed", "OpenQueue: Open queue succeed"]);
    hall.order("e", "DrainQueue", "q").step("q", true);
    hall.run();
    assert.match(hall.told("q").join(), /asks for "DrainQueue"/);
  });

  test("writes its state to the status before it obeys another Command", () => {
    const hall = new Hall({ q: {} }).run();
    hall.order("c", "CloseQueue", "q").step("q", true);
    hall.order("d", "OpenQueue", "q").step("q");
    assert.equal(hall.state("q"), "Closed");
    assert.equal(hall.run().state("q"), "Open");
  });

  const objections = [
    ["of an unknown action", "AbortJob", "q", /asks for "AbortJob", which is not one of OpenQueue/],
    ["to close the root", "CloseQueue", "root", /the root queue cannot be closed/],
  ] as const;
  for (const [what, action, name, saying] of objections)
    test(`records an Event for a Command ${what}, and keeps its state`, () => {
      const hall = new Hall({ q: {} }).run();
      hall.order("c", action, name).run();
      assert.deepEqual([hall.state(name), hall.commands()], ["Open", []]);
      assert.match(hall.told(name).join(), saying);
    });

  test("refuses a Command of another namespace, records the reason as an Event, and deletes the Command", () => {
    const hall = new Hall({ q: {} }).run();
    hall.order("c", "CloseQueue", "q", "team-a").run();
    assert.deepEqual([hall.state("q"), hall.commands()], ["Open", []]);
    assert.deepEqual(hall.told("q"), [
      "CommandRefused: command team-a/c (CloseQueue) is refused: commands for queues are obeyed from default only. Make it there, or add its namespace to queueCommandNamespaces",
    ]);
  });

  test("obeys an allowed Command before it refuses any number of older Commands", () => {
    const hall = new Hall({ q: {} }).run();
    for (const name of ["a", "b", "c"]) hall.order(name, "OpenQueue", "q", "team-a");
    hall.order("d", "CloseQueue", "q").step("q");
    assert.deepEqual([hall.state("q"), hall.told("q")], ["Closed", ["CloseQueue: Close queue succeed"]]);
    assert.deepEqual(hall.run().commands(), []);
    assert.equal(hall.told("q").filter((saying) => saying.startsWith("CommandRefused")).length, 3);
  });

  test("admits groups before it refuses Commands", () => {
    const hall = new Hall({ root: {}, q: {} }, "none").run();
    hall.order("c", "CloseQueue", "root", "team-a").group("g", "q").step("root");
    assert.deepEqual([hall.phase("g"), hall.commands().length], ["Inqueue", 1]);
    assert.deepEqual(hall.run().commands(), []);
  });

  test("refuses at most a hundred Commands of other namespaces in one step", () => {
    const hall = new Hall({ q: {} }).run();
    for (let at = 0; at < 150; at += 1) hall.order(`c${at}`, "CloseQueue", "q", "team-a");
    hall.step("q");
    assert.equal(hall.told("q").filter((saying) => saying.startsWith("CommandRefused")).length, 100);
    hall.run();
    assert.deepEqual([hall.state("q"), hall.commands()], ["Open", []]);
    assert.equal(hall.told("q").length, 150);
  });

  const places = [
    [["ops"], "ops", "Closed"],
    [["ops"], "default", "Open"],
    [["*"], "team-a", "Closed"],
    [[], "default", "Open"],
  ] as const;
  for (const [queueCommandNamespaces, namespace, state] of places)
    test(`with Commands allowed from ${queueCommandNamespaces.join() || "no namespace"} is ${state} after CloseQueue from ${namespace}`, () => {
      const hall = new Hall({ q: {} }, "auto", { queueCommandNamespaces }).run();
      assert.equal(hall.order("c", "CloseQueue", "q", namespace).run().state("q"), state);
    });

  test("keeps the status fields of other writers", () => {
    const hall = new Hall({ q: {} }).run();
    hall.say("q", { allocated: { cpu: "1" } });
    hall.order("c", "CloseQueue", "q").run();
    assert.deepEqual(hall.status("q"), { state: "Closed", allocated: { cpu: "1" } });
  });

  test("in the state Unknown stays in it until a Command opens it", () => {
    const hall = new Hall({ q: {} }).run();
    hall.say("q", { state: "Unknown" }).run();
    assert.equal(hall.state("q"), "Unknown");
    hall.order("c", "OpenQueue", "q").run();
    assert.equal(hall.state("q"), "Open");
  });
});

describe("queues below another one", () => {
  const family = (): Hall => new Hall({ up: {}, a: child, b: child, below: { parent: "a" } }).run();

  test("close with it, and open with it", () => {
    const hall = family();
    hall.order("c", "CloseQueue", "up").run();
    assert.deepEqual(
      ["up", "a", "b", "below"].map((name) => hall.state(name)),
      ["Closed", "Closed", "Closed", "Closed"],
    );
    assert.equal(hall.mark("a"), "true");
    hall.order("d", "OpenQueue", "up").run();
    assert.deepEqual(
      ["up", "a", "b", "below"].map((name) => hall.state(name)),
      ["Open", "Open", "Open", "Open"],
    );
    assert.deepEqual([hall.mark("a"), hall.mark("below")], [undefined, undefined]);
  });

  test("stay closed if a Command closed them, also while the parent was closed", () => {
    const hall = family();
    hall.order("c", "CloseQueue", "a").run();
    hall.order("d", "CloseQueue", "up").run();
    hall.order("e", "CloseQueue", "b").run();
    hall.order("f", "OpenQueue", "up").run();
    assert.deepEqual(
      ["up", "a", "b"].map((name) => hall.state(name)),
      ["Open", "Closed", "Closed"],
    );
  });

  test("do not open while it is closed, and record an Event", () => {
    const hall = family();
    hall.order("c", "CloseQueue", "up").run();
    hall.order("d", "OpenQueue", "a").run();
    assert.equal(hall.state("a"), "Closed");
    assert.match(hall.told("a").join(), /its parent up is Closed: open that first/);
  });
});

describe("the admission of PodGroups", () => {
  test("is reported as the Event GangAdmission even if the step died after its save", () => {
    const hall = new Hall({ root: {} });
    hall.step("root", true);
    assert.match(hall.run().told("root").join(), /GangAdmission/);
  });

  test("is reported as an Event when it begins, and again only when it changes", () => {
    const hall = new Hall({ q: {} }).run();
    hall.group("g", "q").run();
    assert.equal(hall.phase("g"), "Inqueue");
    const first = hall.told("root");
    assert.match(first.join(), /GangAdmission: no lease of Volcano's scheduler .* is being renewed/);
    hall.lease(60).group("h", "q").run();
    assert.equal(hall.phase("h"), undefined);
    assert.match(hall.told("root").slice(first.length).join(), /renews its lease volcano-system\/volcano/);
    hall.turn(120_000).run();
    assert.equal(hall.phase("h"), "Inqueue");
  });

  test("writes the reason of a waiting group once", () => {
    const hall = new Hall({ q: { capability: { cpu: "1" } } }).run();
    hall.group("g", "q", { cpu: "2" }).run();
    assert.equal(hall.phase("g"), "Pending");
    const before = hall.writes;
    hall.step("root");
    assert.equal(hall.writes, before);
    hall.change("q", { capability: { cpu: "2" } }).run();
    assert.equal(hall.phase("g"), "Inqueue");
    assert.deepEqual(hall.conditions("g"), []);
  });

  const modes = [
    ["scheduler", undefined],
    ["none", "Inqueue"],
  ] as const;
  for (const [mode, phase] of modes)
    test(`follows the setting ${mode}, whatever leases exist`, () => {
      const hall = new Hall({ q: {} }, mode).lease(60).run();
      hall.group("g", "q").run();
      assert.equal(hall.phase("g"), phase);
    });

  test("waits after a round that died before its writes until none of these writes can arrive", () => {
    const hall = new Hall({ root: {}, default: {}, q: {} }, "builtin").run();
    hall.group("g", "q").step("root");
    hall.group("h", "q").step("root", true);
    assert.deepEqual([hall.phase("g"), hall.phase("h")], ["Inqueue", undefined]);
    hall.turn(15_000).step("root");
    assert.equal(hall.phase("h"), undefined);
    hall.turn(1_000).step("root");
    assert.equal(hall.phase("h"), "Inqueue");
  });
});

describe("a queue that is not below the root", () => {
  const rows: readonly (readonly [string, Readonly<Record<string, { parent?: string }>>, RegExp])[] = [
    [
      "because it is its own parent",
      { q: { parent: "q" } },
      /^InvalidParent: queue q cannot use itself as parent\. Its own capability/,
    ],
    [
      "because its parent does not exist",
      { q: { parent: "gone" } },
      /^InvalidParent: failed to get parent queue of queue q: .*"gone" not found/,
    ],
    [
      "because of a circle",
      { q: { parent: "p" }, p: { parent: "q" } },
      /^InvalidParent: queue q is below itself: q, below p, below q/,
    ],
  ];
  for (const [what, queues, says] of rows)
    test(`${what} is told once, without admission`, () => {
      const hall = new Hall(queues).run();
      const told = hall.told("q");
      assert.equal(told.length, 1, told.join());
      assert.match(told[0] ?? "", says);
      hall.order("c", "CloseQueue", "q").run();
      assert.equal(hall.told("q").filter((text) => text.startsWith("InvalidParent")).length, 1);
    });

  test("is not told of below a queue in a circle, of the root, and of a good place", () => {
    const hall = new Hall({ q: { parent: "p" }, p: { parent: "p" }, r: { parent: "root" }, s: {} }).run();
    assert.deepEqual(
      [hall.told("q"), hall.told("r"), hall.told("s"), hall.told("root")]
        .flat()
        .filter((text) => /InvalidParent/.test(text)),
      [],
    );
  });
});
