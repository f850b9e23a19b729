import type { AgentOptions } from '../flags/index.ts';

/** What the Node is to be, as far as it was told and does not change while the agent runs. */
export interface Wanted
  extends Pick<
    AgentOptions,
    'nodeName' | 'providerID' | 'nodeLabels' | 'hostCPU' | 'hostMemoryMB' | 'maxPods' | 'port'
  > {
  /** To the letter as the Machine has it, or Cluster API sees it roll out for ever. */
  readonly kubeletVersion: string;
  readonly agentVersion: string;
}
