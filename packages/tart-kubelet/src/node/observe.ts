import type { Live, nodes } from '@tartan/kube';
import type { Facts, FactsCache } from '../facts/host-facts.ts';
import type { AgentOptions } from '../flags/flags.ts';
import type { NodeOptions } from './controller.ts';
import { readHostConfigHash } from './stamps.ts';

/** The Node's settings from the flags. Constant while the agent runs. */
export interface NodeConfig
  extends Pick<
    AgentOptions,
    'nodeName' | 'providerID' | 'nodeLabels' | 'hostCPU' | 'hostMemoryMB' | 'maxPods' | 'port'
  > {
  /** Must equal the Machine's version exactly, or Cluster API sees a rollout that never ends. */
  readonly kubeletVersion: string;
  readonly agentVersion: string;
}

export type Node = NonNullable<(typeof nodes)['ofType']>;
export type NodeStatus = NonNullable<Node['status']>;
export type NodeCondition = NonNullable<NodeStatus['conditions']>[number];

/** Everything that the Node depends on. */
export interface Snapshot {
  readonly now: number;
  readonly config: NodeConfig;
  readonly node: Live<Node> | undefined;
  readonly facts: Facts;
  /** Hash of the host's stamps. `undefined`: they cannot be read. */
  readonly hostConfigHash: string | undefined;
}

interface ObserveOptions extends Pick<NodeOptions, 'clock' | 'config' | 'log' | 'stamps'> {
  readonly current: () => Live<Node> | undefined;
  readonly facts: FactsCache;
}

/** Reads everything that the Node depends on. The Node itself last, as other clients change it. */
export const createObserve = ({ current, facts, config, stamps, clock, log }: ObserveOptions) => {
  let unreadable = false;
  const readHash = async (): Promise<string | undefined> => {
    try {
      const hash = await readHostConfigHash(stamps);
      unreadable = false;
      return hash;
    } catch (error) {
      if (!unreadable) log.warn('The stamps of the host steps cannot be read', { folder: stamps, error });
      unreadable = true;
      return undefined;
    }
  };
  return async (signal: AbortSignal): Promise<Snapshot> => {
    const [hostFacts, hostConfigHash] = await Promise.all([facts.refresh(signal), readHash()]);
    return { now: clock.now(), config, node: current(), facts: hostFacts, hostConfigHash };
  };
};
