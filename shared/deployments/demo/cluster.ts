/** The demo's cluster: the simulator in real time, with transports that count requests. */
import type { Transport } from "../../core/http.ts";
import type { Scripts } from "../../simulator/nodes/script.ts";
import { openSimulator, type Simulator } from "../../simulator/open.ts";
import { drive } from "../../simulator/storage/clock.ts";

export type DemoCluster = {
  readonly simulator: Simulator;
  /** Opens a transport; `counted` is called for each request. */
  door(counted?: () => void): Transport;
  stop(): void;
};

/** Opens the cluster at the present time. `scripts` set the durations of simulated Spark. */
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
