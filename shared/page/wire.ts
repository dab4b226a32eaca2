/** The messages from the page's server to its client: rows as columns with dictionaries, and one application whole. */

/** Groups of states in the order of their need for attention. */
export const groups = ["failed", "waiting", "held", "submitted", "running", "completed"] as const;
export type Group = (typeof groups)[number];

/** A span of an application's life: from this second on it is in this group. */
export type Segment = readonly [at: number, group: number];

/** One application in the list. Instants in epoch seconds. */
export type Row = {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly state: string;
  readonly group: Group;
  readonly attempts: number;
  readonly createdAt: number;
  readonly since: number;
  /** The condition that the object waits for, or the reason of its end; "" where there is none. */
  readonly waits: string;
  /** Pods that run, pods that are wanted, pods that were lost; -1: unknown. */
  readonly pods: readonly [have: number, want: number, lost: number];
  readonly queue: string;
  /** The next run of a schedule, its time table, or "". */
  readonly next: string;
  readonly strip: readonly Segment[];
  /** The command that repairs the record of the application; "" where it needs no repair. */
  readonly repair: string;
};

/** Rows as columns. A text of `kind`, `namespace`, `state`, `waits`, `queue` and `repair` is its place in `words`. */
export type Columns = {
  readonly words: readonly string[];
  readonly kind: readonly number[];
  readonly namespace: readonly number[];
  readonly name: readonly string[];
  readonly state: readonly number[];
  readonly group: readonly number[];
  readonly attempts: readonly number[];
  readonly createdAt: readonly number[];
  readonly since: readonly number[];
  readonly waits: readonly number[];
  readonly pods: readonly (readonly [number, number, number])[];
  readonly queue: readonly number[];
  readonly next: readonly number[];
  readonly strip: readonly (readonly Segment[])[];
  readonly repair: readonly number[];
};

/** The changes that a caller may make on the page, where its abilities and the state of the object allow them. */
export const actionNames = ["reconcile", "pause", "resume", "suspend", "delete", "open", "close"] as const;
export type Action = (typeof actionNames)[number];

/** The header of a request that changes something: a page of another site cannot set it. */
export const actionHeader = "x-rekindle-page";

/** The object that a viewer has seen: an action on it names its UID and its resourceVersion. */
export type SeenVersion = { readonly uid: string; readonly version: string };

/** The body of an action; its path names the object. */
export type ActionRequest = SeenVersion & { readonly action: Action };

/** The answer to an action. */
export type ActionAnswer =
  /** `version`: of the object after the action; absent where it was deleted, or where its controller acts on it later. */
  { readonly text: string; readonly version?: string } | { readonly error: string };

/** A queue of Volcano: its share and its use. */
export type QueueRow = SeenVersion & {
  readonly name: string;
  readonly parent: string;
  readonly state: string;
  readonly weight: number;
  /** By phase; -1: unknown. */
  readonly groups: readonly [pending: number, inqueue: number, running: number];
  /** What its groups and those below it hold; a resource that is absent is not known. */
  readonly allocated: Readonly<Record<string, string>>;
  readonly capability: Readonly<Record<string, string>>;
};

/** The answer of `/page/rows`, of `/page/changes`, and each `rows` event of the stream. */
export type Batch = {
  /** EPOCH-REVISION: the place in the stream after this batch. */
  readonly id: string;
  /** A tag of all rows and queues after this batch: equal in every process that shows the same. */
  readonly print: string;
  /** The server's clock, epoch ms. */
  readonly now: number;
  /** True: the rows are all rows; what is not among them is gone. */
  readonly whole: boolean;
  readonly columns: Columns;
  readonly gone: readonly string[];
  /** Absent: unchanged. */
  readonly queues?: readonly QueueRow[];
  /** True: this server does not stream, and its readers poll. */
  readonly isPolled?: true;
};

/** The answer of `/page/rows?part=first`: the beginning of a filtered list, which is shown until all rows have come. */
export type FirstRows = {
  /** The server's clock, epoch ms. */
  readonly now: number;
  /** In the order of the list. */
  readonly columns: Columns;
  /** The rows that match the filter. */
  readonly count: number;
  /** The rows of each group that match the filter without its states. */
  readonly counts: Readonly<Record<Group, number>>;
};

/** A pod in the timeline. Instants in epoch ms; absent: not reached, or not seen by this process. */
export type Lane = {
  readonly pod: string;
  readonly role: "driver" | "executor" | "pod";
  /** The executor's id; 0 for other pods. */
  readonly id: number;
  readonly attempt: number;
  readonly requestedAt?: number;
  readonly up?: number;
  readonly end?: number;
  readonly node?: string;
  /** The flavors of Kueue whose quota it uses, where its application's base uses others. */
  readonly flavors?: string;
  /** Its requests: cores, and memory in GiB. */
  readonly cores?: number;
  readonly gib?: number;
  /** Why it ended, in the words of the record; absent: it lives, or ended with its driver. */
  readonly reason?: string;
  readonly exit?: number;
  readonly lost?: true;
  /** Only the record tells of it: this process has not seen the pod. */
  readonly isRecorded?: true;
};

/** The answer of `/page/lanes`: pods alone, which cost the API server no request. */
export type Lanes = {
  readonly lanes: readonly Lane[];
  /** When this was so, epoch ms: of two answers the newer is shown. */
  readonly lanesAt: number;
};

/** Prices of a core and of a GiB for an hour. */
export type Rate = readonly [core: number, gib: number];

/** Prices for the lanes of an application. */
export type Prices = {
  readonly currency: string;
  readonly usual: Rate;
  /** True: prices depend on nodes, and the usual one counts on a node that is not among `nodes`. */
  readonly isByNode: boolean;
  readonly nodes: Readonly<Record<string, Rate>>;
};

/** A Workload of Kueue that grants executors to an application. `flavors`: "" for those of the base. */
export type Grant = Readonly<Record<"workload" | "flavors", string>> & {
  readonly executors: number;
  readonly isBase: boolean;
};

export type EventRow = {
  readonly at: number;
  readonly type: string;
  readonly reason: string;
  readonly about: string;
  readonly message: string;
  readonly count: number;
};

export type LossRow = {
  readonly id: number;
  readonly reason: string;
  readonly node: string;
  readonly exit: number | undefined;
  readonly why: string;
  readonly at: number;
};

/** A change of the spec, and the first attempt with it; undefined: there is none yet. */
export type ChangeRow = {
  readonly at: number;
  readonly attempt: number | undefined;
  /** Field, value before and value after; "" where there was none. Undefined: too large to be kept. */
  readonly fields: readonly (readonly [path: string, before: string, after: string])[] | undefined;
};

/** A wait of an application. Instants in epoch ms; no end: it goes on. */
export type WaitRow = {
  readonly for: string;
  readonly from: number;
  readonly to?: number;
  /** True: the usual course, in which nothing is in the way. */
  readonly isUsual: boolean;
};

/** A pod of a Job, or the place of one that is not there. */
export type Cell = {
  readonly index: number;
  readonly group: Group | "absent";
  /** "": there is none. */
  readonly pod: string;
  /** Why it does not run; "" where it does, or where nothing tells. */
  readonly why: string;
};

/** The pods of a Job by task, and what its group needs. */
export type Gang = {
  readonly queue: string;
  /** The least pods that have to run together, and those that run or have ended well. */
  readonly least: number;
  readonly have: number;
  readonly retries: number;
  readonly mostRetries: number;
  readonly tasks: readonly { readonly task: string; readonly cells: readonly Cell[] }[];
  /** Pods that are not among the cells, because there are too many. */
  readonly more: number;
};

/** A job of a JobFlow. */
export type FlowNode = {
  readonly name: string;
  /** Its Job, as KIND/NAMESPACE/NAME. */
  readonly job: string;
  /** "" before the Job is created. */
  readonly state: string;
  readonly group: Group;
  readonly dependsOn: readonly string[];
  /** The ones of `dependsOn` that it still waits for, and the conditions on them; "" where it does not wait. */
  readonly waits: string;
};

/** The answer of `/page/log`: the end of a pod's log. */
export type Log = {
  readonly pod: string;
  /** Of a kept log: the attempt of its driver, and when it was kept, epoch ms. */
  readonly attempt?: number;
  readonly at?: number;
  readonly text: string;
  /** Why there is none; "" where there is. */
  readonly error: string;
};

/** Everything that the page shows of one application. Instants in epoch ms. */
export type Detail = SeenVersion & {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly now: number;
  readonly state: string;
  readonly group: Group;
  readonly attempts: number;
  readonly message: string;
  readonly isOver: boolean;
  /** Flows and schedules have objects with pods, and none of their own. */
  readonly hasPods: boolean;
  readonly hasExecutors: boolean;
  readonly createdAt: number;
  readonly waitsFor: string;
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly todo: string;
  readonly facts: readonly (readonly [string, string])[];
  /** Fields that the run does not get as its spec says, one sentence each. */
  readonly notes: readonly string[];
  readonly history: readonly {
    readonly state: string;
    readonly group: Group;
    readonly attempt: number;
    readonly at: number;
  }[];
  readonly runs: readonly {
    readonly attempt: number;
    readonly outcome: string;
    readonly at: number;
    readonly error: string;
  }[];
  /** Logs of drivers that are kept, oldest first. */
  readonly keptLogs: readonly { readonly attempt: number; readonly pod: string; readonly at: number }[];
  /** The latest waits in the order of their ends, the present one last; below, times of saves. */
  readonly waits: readonly WaitRow[];
  readonly savedAt: readonly number[];
  /** The latest losses of executors, and the number of all. */
  readonly losses: readonly LossRow[];
  readonly lost: number;
  readonly updates:
    | {
        readonly waiting: number;
        readonly since: number;
        readonly tries: number;
        readonly error: string;
        readonly next: number | undefined;
      }
    | undefined;
  readonly saves: number | undefined;
  /** Of a Job. */
  readonly gang?: Gang;
  /** Of a JobFlow. */
  readonly flow?: readonly FlowNode[];
  readonly lanes: readonly Lane[];
  readonly lanesAt: number;
  /** Of each run with growths of Kueue, hours of executors granted and waited for; absent: not known of any. */
  readonly quota?: readonly { readonly attempt: number; readonly granted: number; readonly waited: number }[];
  /** The base first, then growths, the oldest first; absent: nothing is known of them, or Kueue does not admit it. */
  readonly grants?: readonly Grant[];
  /** Absent: no prices are set. */
  readonly prices?: Prices;
  readonly events: readonly EventRow[];
  /** Why events could not be read; "": they could. */
  readonly eventsError: string;
  /** YAML; secret values are masked. */
  readonly spec: string;
  readonly record: string;
  readonly changes: readonly ChangeRow[];
  /** The actions that its state allows. */
  readonly actions: readonly Action[];
};

/** The use of one namespace on one day: core-hours, GiB-hours, money, and how much of it was lost at most. */
export type Used = {
  readonly cores: number;
  readonly gib: number;
  readonly cost: number;
  readonly lostCores: number;
  readonly lostCost: number;
  /** Core-hours at the usual price, because the price depends on their node, which is not known. */
  readonly assumed: number;
};

/** The answer of `/page/costs`. */
export type Costs = {
  /** Absent: no prices are set. */
  readonly currency?: string;
  /** Days of UTC, today first. */
  readonly days: readonly string[];
  /** By namespace, the costliest first; `days` as above. */
  readonly rows: readonly { readonly namespace: string; readonly days: readonly Used[] }[];
  /** Namespaces that are left out, because there are too many. */
  readonly more: number;
};

export const keyOf = ({ kind, namespace, name }: Pick<Row, "kind" | "namespace" | "name">): string =>
  `${kind}/${namespace}/${name}`;

const indexing = () => {
  const words: string[] = [];
  const places = new Map<string, number>();
  const place = (word: string): number => {
    const known = places.get(word);
    if (known !== undefined) return known;
    places.set(word, words.length);
    words.push(word);
    return words.length - 1;
  };
  return { words, place };
};

export const columnsOf = (rows: readonly Row[]): Columns => {
  const { words, place } = indexing();
  return {
    words,
    kind: rows.map(({ kind }) => place(kind)),
    namespace: rows.map(({ namespace }) => place(namespace)),
    name: rows.map(({ name }) => name),
    state: rows.map(({ state }) => place(state)),
    group: rows.map(({ group }) => groups.indexOf(group)),
    attempts: rows.map(({ attempts }) => attempts),
    createdAt: rows.map(({ createdAt }) => createdAt),
    since: rows.map(({ since }) => since),
    waits: rows.map(({ waits }) => place(waits)),
    pods: rows.map(({ pods }) => pods),
    queue: rows.map(({ queue }) => place(queue)),
    next: rows.map(({ next }) => place(next)),
    strip: rows.map(({ strip }) => strip),
    repair: rows.map(({ repair }) => place(repair)),
  };
};

const unknownPods = [-1, -1, -1] as const;

export const rowsOf = (columns: Columns): readonly Row[] => {
  const word = (place: number | undefined): string => columns.words[place ?? -1] ?? "";
  return columns.name.map((name, at) => ({
    name,
    kind: word(columns.kind[at]),
    namespace: word(columns.namespace[at]),
    state: word(columns.state[at]),
    group: groups[columns.group[at] ?? 0] ?? "waiting",
    attempts: columns.attempts[at] ?? 0,
    createdAt: columns.createdAt[at] ?? 0,
    since: columns.since[at] ?? 0,
    waits: word(columns.waits[at]),
    pods: columns.pods[at] ?? unknownPods,
    queue: word(columns.queue[at]),
    next: word(columns.next[at]),
    strip: columns.strip[at] ?? [],
    repair: word(columns.repair[at]),
  }));
};
