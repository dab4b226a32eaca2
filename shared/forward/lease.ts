/**
 * A Lease that at most one process holds, as client-go's leader election does it: a holder renews it, and others take
 * it when it has not changed for its whole duration by their own clock. A holder counts from before its last renewal
 * was sent, and stops before the others may begin.
 */
import { ApiError } from "../core/http.ts";
import type { Obj, Ref, Resource, Stored } from "../core/object.ts";
import type { Cluster } from "../engine/ports.ts";

const leases: Resource = { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" };

/** The time after which others take the lease, ms; and the time without a renewal after which its holder stops. */
const durationMs = 15_000;
const stopsMs = 10_000;
/** The interval of renewals and of tries, ms. */
export const renewMs = 2_000;

type Settings = {
  readonly cluster: Pick<Cluster, "get" | "create" | "patch">;
  readonly namespace: string;
  readonly name: string;
  /** This process; no two processes have the same one. */
  readonly holder: string;
  /** Monotonic, ms. It counts pauses of the machine. */
  readonly now: () => number;
};

export type Lease = {
  /** Renews the lease, or takes it where nobody renews it. Resolves with whether it is held; errors are not thrown. */
  attempt(): Promise<boolean>;
  /** True while this process holds the lease and no other can. */
  held(): boolean;
  /** Lets the next process take the lease at once. */
  release(): Promise<void>;
};

type Spec = { readonly holderIdentity?: unknown; readonly renewTime?: unknown; readonly leaseTransitions?: unknown };

const specOf = ({ spec }: Stored): Spec => (typeof spec === "object" && spec !== null ? spec : {});

/** The microsecond format of Kubernetes. */
const stampOf = (epochMs: number): string => new Date(epochMs).toISOString().replace("Z", "000Z");

const isRace = (cause: unknown): boolean => cause instanceof ApiError && cause.status === 409;

export const openLease = ({ cluster, namespace, name, holder, now }: Settings): Lease => {
  const ref: Ref = { resource: leases, namespace, name };
  /** The instant before the last renewal was sent. */
  let renewedAt: number | undefined;
  /** The other holder's version, and since when it has not changed. */
  let watched: { readonly version: string; readonly since: number } | undefined;

  const specAt = (date: number, transitions: number): object => ({
    holderIdentity: holder,
    leaseDurationSeconds: durationMs / 1_000,
    renewTime: stampOf(date),
    leaseTransitions: transitions,
  });
  const write = async (lease: Stored, spec: object): Promise<void> => {
    const { uid, resourceVersion } = lease.metadata;
    await cluster.patch(ref, { uid, resourceVersion }, { spec });
  };
  const isFree = (lease: Stored): boolean => {
    const { holderIdentity } = specOf(lease);
    if (holderIdentity === holder || holderIdentity === "" || holderIdentity === undefined) return true;
    const version = lease.metadata.resourceVersion;
    if (watched?.version !== version) watched = { version, since: now() };
    return now() - watched.since >= durationMs;
  };
  const held = (): boolean => renewedAt !== undefined && now() - renewedAt < stopsMs;
  const take = async (): Promise<boolean> => {
    const before = now();
    const { value, date } = await cluster.get(ref);
    if (value === undefined) {
      const fresh: Obj = {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name, namespace },
        spec: { ...specAt(date, 0), acquireTime: stampOf(date) },
      };
      await cluster.create(ref, fresh);
    } else {
      if (!isFree(value)) {
        renewedAt = undefined;
        return false;
      }
      const { holderIdentity, leaseTransitions } = specOf(value);
      const changes = typeof leaseTransitions === "number" ? leaseTransitions : 0;
      const spec = specAt(date, holderIdentity === holder ? changes : changes + 1);
      await write(value, holderIdentity === holder ? spec : { ...spec, acquireTime: stampOf(date) });
    }
    renewedAt = before;
    watched = undefined;
    return held();
  };
  return {
    attempt: async () => {
      try {
        return await take();
      } catch (cause) {
        // Another process was first. Any other error says nothing about the lease: what is held stays held for its time.
        if (isRace(cause)) renewedAt = undefined;
        return held();
      }
    },
    held,
    release: async () => {
      if (!held()) return;
      renewedAt = undefined;
      const { value } = await cluster.get(ref);
      if (value !== undefined && specOf(value).holderIdentity === holder) await write(value, { holderIdentity: "" });
    },
  };
};
