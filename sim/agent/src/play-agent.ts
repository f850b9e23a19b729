import { httpsTransport, type Logger } from '@tartan/kube';
import { type Clock, sleep, systemClock } from '@tartan/kube/clock';
import type { Mac } from '@tartan/sim-mac';
import { type AgentFaults, noFaults } from './faults.ts';
import type { TransportFor } from './identity.ts';
import { agentPid, launchedAgent } from './launched.ts';
import { type Session, startSession } from './session.ts';

export interface AgentOptions {
  readonly mac: Mac;
  readonly clock?: Clock;
  /** That of the Mac: 1 is as slow as a real kubelet, which reports every ten seconds. */
  readonly pace?: number;
  /** How the kubeconfig on the Mac's disk leads to an API server. Over HTTPS unless told. */
  readonly transportFor?: TransportFor;
  readonly log?: Pick<Logger, 'debug'>;
}

export interface PlayedAgent {
  readonly faults: AgentFaults;
  /** Plays no longer. What it did in Kubernetes stays, as it does when a Mac loses its power. */
  stop(): Promise<void>;
}

const usualReport = 10_000;
/** Nobody needs Leases faster than this, however fast a Mac's clock runs. */
const leastReport = 1_000;
/** Looks at memory and a few small files only. */
const usualLook = 1_000;
const leastLook = 50;

const overHttps: TransportFor = (config, clock) => httpsTransport({ ...config, clock });

/**
 * Plays the agent of one Mac: there is one as long as launchd of that Mac runs its job, with the arguments, credentials and stamps that
 * lie on that Mac's disk, and none otherwise. The job's process itself does nothing.
 */
export const playAgent = (options: AgentOptions): PlayedAgent => {
  const { mac, clock = systemClock, pace = 0.01, transportFor = overHttps, log } = options;
  const faults = noFaults();
  const off = new AbortController();
  const every = (usual: number, least: number): number => Math.max(least, usual * pace);

  const play = async (): Promise<void> => {
    let session: Session | undefined;
    while (!off.signal.aborted) {
      if (session !== undefined && session.pid !== agentPid(mac)) {
        await session.end();
        session = undefined;
      }
      const launched = session === undefined ? launchedAgent(mac) : undefined;
      if (launched) {
        const reportEvery = every(usualReport, leastReport);
        session = startSession({ mac, launched, faults, transportFor, clock, reportEvery, log });
      }
      session?.look();
      await sleep(clock, every(usualLook, leastLook), off.signal);
    }
    await session?.end();
  };
  const playing = play();

  return {
    faults,
    stop: () => {
      off.abort();
      return playing;
    },
  };
};
