import { createLogger, createSubresources } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { createClusterApi } from '@tartan/sim-cluster-api';
import type { ControlPlane } from './control-plane.ts';

/** Whoever plays Cluster API core looks again sooner than the real one: nothing here takes minutes. */
const intervals = { drainRetryMs: 1_000, externalRetryMs: 2_000, deletionRetryMs: 500 };

/** The stand-in for Cluster API core. Answers with what stops it. */
export const startCore = (
  { client, transport }: ControlPlane,
  write: (line: string) => void,
): { readonly broken: Promise<never>; stop(): Promise<unknown> } => {
  const { evictPod } = createSubresources(transport, { clock });
  const log = createLogger({ write, clock, level: 'info' });
  const over = new AbortController();
  const running = createClusterApi({ client, evictPod, clock, random: Math.random, log, intervals }).run(over.signal);
  const broken = running.then(async (result): Promise<never> => {
    if (!result.ok && !over.signal.aborted)
      throw new Error(`the stand-in for Cluster API core has ended: ${result.reason}`);
    return new Promise<never>(() => {});
  });
  broken.catch(() => {});
  return {
    broken,
    stop: () => {
      over.abort();
      return running;
    },
  };
};
