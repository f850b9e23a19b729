import type { Live, nodes } from '@tartan/kube';
import type { Facts, FactsCache } from '../facts/host-facts.ts';
import type { AgentOptions } from '../flags/flags.ts';
import type { NodeOptions } from './controller.ts';
import { readHostConfigHash } from './stamps.ts';

/** What the flags say of the Node. Does not change while the agent runs. */
export interface NodeConfig
  extends Pick<
    AgentOptions,
    'nodeName' | 'providerID' | 'nodeLabels' | 'hostCPU' | 'hostMemoryMB' | 'maxPods' | 'port'
  > {
  /** To the letter as the Machine has it, or Cluster API sees it roll out for ever. */
  readonly kubeletVersion: string;
  readonly agentVersion: string;
}

export type Node = NonNullable<(typeof nodes)['ofType']>;
export type NodeStatus = NonNullable<Node['status']>;
export type NodeCondition = NonNullable<NodeStatus['conditions']>[number];

/** All that matters for the Node. */
export interface Snapshot {
  readonly now: number;
  readonly config: NodeConfig;
  readonly node: Live<Node> | undefined;
  readonly facts: Facts;
  /** Of the host's stamps. `undefined`: they cannot be read, which says nothing of the host. */
  readonly hostConfigHash: string | undefined;
}

interface ObserveOptions extends Pick<NodeOptions, 'clock' | 'config' | 'log' | 'stamps'> {
  readonly current: () => Live<Node> | undefined;
  readonly facts: FactsCache;
}

/** All that matters for the Node. The Node itself comes last, as it is the one that others change. */
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
