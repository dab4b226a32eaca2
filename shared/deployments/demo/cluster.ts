/** The demo's cluster: the simulator on real time, with doors that count what goes through them. */
import type { Transport } from "../../core/http.ts";
import { openSimulator, type Simulator } from "../../simulator/open.ts";
import { drive } from "../../simulator/realtime.ts";
import type { Scripts } from "../../simulator/script.ts";

export type DemoCluster = {
  readonly simulator: Simulator;
  /** A door of its own for everybody who asks; `counted` is called for each request that passes. */
  door(counted?: () => void): Transport;
  stop(): void;
};

/** Opens it at the present. `scripts` say how long simulated Spark takes. */
export const openDemoCluster = (scripts: Scripts): DemoCluster => {
  const start = Date.now();
  const simulator = openSimulator({ start, seed: String(start), events: true, commands: true, scripts });
  const { catchUp, stop } = drive(simulator.clock);
  return {
    simulator,
    door: (counted = () => {}) => {
      const enter = (): void => {
        counted();
        catchUp();
      };
      return {
        send: async (request) => {
          enter();
          return simulator.transport.send(request);
        },
        stream: async (request) => {
          enter();
          return simulator.transport.stream(request);
        },
      };
    },
    stop,
  };
};
