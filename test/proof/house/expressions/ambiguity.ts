/**
 * Decides whether a backtracking matcher may take more than linear time for a regular expression. It may if the
 * automaton has a loop that one text passes in two ways, or two consecutive loops that the same text passes. The search
 * for a start is such a loop: an expression without an anchor tries again at every letter.
 */
import { type Node, parsePattern, type Symbols, symbols } from "./pattern.ts";

/** A repetition with a larger bound counts as endless. */
const fewTimes = 256;
/** The number of copies of a bounded part in the automaton: more copies show nothing new. */
const copies = 2;

type Edge = { readonly to: number; readonly on: Symbols | undefined; readonly mayFail: boolean };

type Automaton = { readonly edges: Edge[][]; readonly start: number; readonly end: number };

const automatonOf = (root: Node, searches: boolean): Automaton => {
  const edges: Edge[][] = [];
  const state = (): number => edges.push([]) - 1;
  const link = (from: number, to: number, on?: Symbols, mayFail = false): void => {
    edges[from]?.push({ to, on, mayFail });
  };
  const build = (node: Node, from: number): number => {
    const to = state();
    switch (node.is) {
      case "class":
        link(from, to, node.of);
        return to;
      case "empty":
        link(from, to);
        return to;
      case "assertion":
      case "look":
        link(from, to, undefined, true);
        return to;
      case "all": {
        link(
          node.of.reduce((at, part) => build(part, at), from),
          to,
        );
        return to;
      }
      case "any":
        for (const part of node.of) {
          const begin = state();
          link(from, begin);
          link(build(part, begin), to);
        }
        return to;
      case "times": {
        const isEndless = node.most > fewTimes;
        let at = from;
        for (let nth = 0; nth < Math.min(node.least, copies); nth += 1) at = build(node.of, at);
        if (isEndless) {
          const [body, again] = [state(), state()];
          link(at, body);
          link(at, to);
          link(build(node.of, body), again);
          link(again, body);
          link(again, to);
          return to;
        }
        link(at, to);
        for (let nth = 0; nth < Math.min(node.most - node.least, copies); nth += 1) {
          at = build(node.of, at);
          link(at, to);
        }
        return to;
      }
    }
  };
  const start = state();
  const begin = state();
  link(start, begin);
  if (searches) link(start, start, (1n << BigInt(symbols)) - 1n);
  return { edges, start, end: build(root, begin) };
};

type Step = { readonly to: number; readonly on: Symbols; readonly ways: number };

/** Lists the symbols that a state reads next, with the number of ways from the state to each without reading. */
const stepsFrom = ({ edges }: Automaton, from: number): readonly Step[] => {
  const found = new Map<string, Step>();
  const visit = (at: number, passed: readonly number[]): void => {
    for (const { to, on } of edges[at] ?? []) {
      if (on === undefined) {
        if (!passed.includes(to)) visit(to, [...passed, to]);
        continue;
      }
      const name = `${to} ${on}`;
      found.set(name, { to, on, ways: (found.get(name)?.ways ?? 0) + 1 });
    }
  };
  visit(from, [from]);
  return [...found.values()];
};

/** True if the whole expression matches from this state on, whatever the rest of the text is. */
const alwaysEnds = ({ edges, end }: Automaton, from: number): boolean => {
  const seen = new Set([from]);
  for (const at of seen) {
    if (at === end) return true;
    for (const { to, on, mayFail } of edges[at] ?? []) if (on === undefined && !mayFail) seen.add(to);
  }
  return false;
};

type Reading = { readonly steps: readonly (readonly Step[])[]; readonly states: readonly number[] };

const readingOf = (automaton: Automaton): Reading => {
  const steps = automaton.edges.map((_, at) => stepsFrom(automaton, at));
  const states = [...new Set([automaton.start, ...steps.flatMap((all) => all.map(({ to }) => to))])];
  return { steps, states };
};

/** True if the same text leads each state of one tuple to the state of the other. */
const reaches = ({ steps }: Reading, from: readonly number[], to: readonly number[]): boolean => {
  const goal = to.join();
  const seen = new Map([[from.join(), from]]);
  for (const tuple of seen.values()) {
    const next = (at: number, on: Symbols, made: readonly number[]): boolean => {
      if (at === tuple.length) {
        const name = made.join();
        if (name === goal) return true;
        if (!seen.has(name)) seen.set(name, made);
        return false;
      }
      const state = tuple[at] ?? 0;
      return (steps[state] ?? []).some(
        (step) => (step.on & on) !== 0n && next(at + 1, step.on & on, [...made, step.to]),
      );
    };
    if (next(0, (1n << BigInt(symbols)) - 1n, [])) return true;
  }
  return false;
};

const loopsOf = (reading: Reading): readonly number[] =>
  reading.states.filter((state) => reaches(reading, [state], [state]));

/** True for a loop that one text passes in two ways: matching takes exponential time. */
const isTwofold = (reading: Reading, loop: number): boolean => {
  const { steps, states } = reading;
  const doubled = (steps[loop] ?? []).some(
    ({ to, ways }) => ways > 1 && (to === loop || reaches(reading, [to], [loop])),
  );
  if (doubled) return true;
  return states.some(
    (one) => one !== loop && reaches(reading, [loop, loop], [loop, one]) && reaches(reading, [loop, one], [loop, loop]),
  );
};

/** True if a lookaround contains an endless repetition: the matcher tries it at every letter. */
const looksFar = (node: Node, inside = false): boolean => {
  switch (node.is) {
    case "look":
      return looksFar(node.of, true);
    case "times":
      return (inside && node.most > fewTimes) || looksFar(node.of, inside);
    case "all":
    case "any":
      return node.of.some((part) => looksFar(part, inside));
    default:
      return false;
  }
};

const isAnchored = (node: Node): boolean => {
  switch (node.is) {
    case "assertion":
      return node.anchors;
    case "all": {
      const first = node.of.find((part) => part.is !== "look");
      return first !== undefined && isAnchored(first);
    }
    case "any":
      return node.of.every(isAnchored);
    default:
      return false;
  }
};

/** Returns the reason why matching may take more than linear time; undefined: it takes linear time. */
export const ambiguityOf = (source: string, flags: string): string | undefined => {
  const root = parsePattern(source, flags);
  if (looksFar(root)) return "it looks around without bound";
  const automaton = automatonOf(root, !isAnchored(root) && !flags.includes("y"));
  const reading = readingOf(automaton);
  const loops = loopsOf(reading);
  const failing = loops.filter((loop) => !alwaysEnds(automaton, loop));
  if (loops.some((loop) => loop !== automaton.start && isTwofold(reading, loop)))
    return "one text goes round in two ways";
  for (const first of loops)
    for (const second of failing)
      if (first !== second && reaches(reading, [first, first, second], [first, second, second]))
        return first === automaton.start
          ? "it begins again at every letter of a repetition"
          : "two repetitions share a text";
  return undefined;
};
