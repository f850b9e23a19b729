import { setImmediate } from 'node:timers/promises';
import {
  createClient,
  createLogger,
  createSubresources,
  customResourceDefinitions,
  inProcessTransport,
  type Transport,
} from '@tartan/kube';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { coreDefinitions } from '../core-definitions.ts';
import { createClusterApi } from '../create-cluster-api.ts';
import type { Host } from '../suite/harness.ts';

/** After this many turns of the event loop without a request, nothing is left to do at this time. */
const idleTurns = 4;

/** A transport that knows when there are no more requests. */
const countRequests = (inner: Transport): { transport: Transport; idle(): Promise<void> } => {
  let underWay = 0;
  let begun = 0;
  return {
    transport: {
      ...inner,
      send: async (request) => {
        underWay += 1;
        begun += 1;
        try {
          return await inner.send(request);
        } finally {
          underWay -= 1;
        }
      },
    },
    idle: async () => {
      for (let turns = 0, seen = begun; turns < idleTurns; turns += 1) {
        await setImmediate();
        if (underWay > 0 || begun !== seen) turns = -1;
        seen = begun;
      }
    },
  };
};

/** The stand-in on an embedded Kubernetes, in this process and on virtual time: a tick is some virtual seconds, and takes no real time. */
export const embeddedHost = async (): Promise<Host & { readonly clock: ManualClock; readonly lines: string[] }> => {
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock });
  const user = { commonName: 'admin', organizations: ['system:masters'] };
  const { transport, idle } = countRequests(inProcessTransport(kubernetes.handle, { user }));
  const client = createClient(transport, { clock });
  for (const definition of coreDefinitions()) await client.create(customResourceDefinitions, definition);
  const lines: string[] = [];
  const subresources = createSubresources(transport, { clock });
  const clusterApi = createClusterApi({
    client,
    evictPod: subresources.evictPod,
    clock,
    random: Math.random,
    log: createLogger({ write: (line) => lines.push(line), clock, level: 'warn' }),
  });
  const stopping = new AbortController();
  const running = clusterApi.run(stopping.signal);
  return {
    client,
    subresources,
    kubeconfig: 'nobody reads it here',
    clock,
    lines,
    now: () => clock.now(),
    tick: async () => {
      await idle();
      clock.advance(3_000);
      await idle();
    },
    timeoutMs: 600_000,
    stop: async () => {
      stopping.abort();
      await running;
      kubernetes.stop();
    },
  };
};
