import type { Flag } from './flag.ts';
import { flags } from './flag-table.ts';
import type { Labels } from './node-labels.ts';

/** What the agent was told to be. */
export interface AgentOptions {
  readonly nodeName: string;
  readonly kubeconfig: string;
  readonly providerID: string | undefined;
  readonly nodeIP: string | undefined;
  readonly nodeIPSource: 'auto' | 'tailscale';
  readonly nodeLabels: Labels;
  readonly hostCPU: number;
  readonly hostMemoryMB: number;
  readonly maxPods: number;
  readonly vmSlots: number;
  readonly disableVMGC: boolean;
  /** `undefined`: that of the agent. */
  readonly kubeletVersion: string | undefined;
  readonly port: number;
  readonly tartBinary: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}

export type Read = <T>(flag: Flag<T>) => T;

export const agentOptions = (read: Read, nameOfMac: string): AgentOptions => ({
  nodeName: read(flags.nodeName) ?? nameOfMac,
  kubeconfig: read(flags.kubeconfig),
  providerID: read(flags.providerID),
  nodeIP: read(flags.nodeIP),
  nodeIPSource: read(flags.nodeIPSource),
  nodeLabels: read(flags.nodeLabels),
  hostCPU: read(flags.hostCPU),
  hostMemoryMB: read(flags.hostMemoryMB),
  maxPods: read(flags.maxPods),
  vmSlots: read(flags.vmSlots),
  disableVMGC: read(flags.disableVMGC),
  kubeletVersion: read(flags.kubeletVersion),
  port: read(flags.port),
  tartBinary: read(flags.tartBinary),
  logLevel: read(flags.logLevel),
});
