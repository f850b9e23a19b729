import { join } from 'node:path';
import { createClient, type Logger, untilAborted } from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import { parseFlags } from '@tartan/tart-kubelet/flags';
import type { HostFacts } from '@tartan/tart-kubelet/host-facts';
import { createNodeIdentity } from '@tartan/tart-kubelet/identity';
import { createNodeController } from '@tartan/tart-kubelet/node';
import { createPlayedPods } from './pods.ts';

export interface PlayedAgentOptions {
  /** The disk of the Mac. */
  readonly folder: string;
  /** The folder of the host steps' stamps. */
  readonly stamps: string;
  readonly arguments: readonly string[];
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** All Macs share the address of this machine. Nothing listens there. */
const environment = { TART_KUBELET_NODE_IP: '127.0.0.1', TART_KUBELET_PORT: '0' } as const;
const gib = 1024 ** 3;

/** An idle, healthy Mac. */
const playedFacts = (nodeName: string, address: string, slots: () => { taken: number; total: number }): HostFacts => ({
  disk: async () => ({ freeBytes: 300 * gib, totalBytes: 460 * gib }),
  guestDisks: async () => [],
  memory: async () => 'normal',
  processes: async () => ({ running: 400, limit: 4000 }),
  guiSession: async () => true,
  slots: async () => slots(),
  vmStart: async () => ({ kind: 'works' }),
  images: async () => [],
  labels: async () => ({}),
  system: async () => ({
    osImage: 'macOS 26.1 (played)',
    kernelVersion: '25.1.0',
    machineID: nodeName,
    systemUUID: nodeName,
    bootID: nodeName,
  }),
  tartVersion: async () => '2.32.1',
  dhcpLeaseSeconds: async () => 600,
  address: async () => address,
});

/**
 * The agent of a Mac without macOS and tart. Identity, Node and Lease are the agent's own code, with the flags that the Mac was given;
 * only the facts about the host are made up, and Pods have no virtual machines.
 */
export const createPlayedAgent = ({ folder, stamps, version, ...options }: PlayedAgentOptions) => {
  const parsed = parseFlags(options.arguments, { env: environment, hostname: 'mac' });
  if (!('options' in parsed)) throw new Error('errors' in parsed ? parsed.errors.join('\n') : parsed.help);
  const flags = parsed.options;
  const { nodeName, nodeIP: address = environment.TART_KUBELET_NODE_IP } = flags;
  const { clock, random } = options;
  const common = { clock, random, log: options.log.with({ node: nodeName }) };
  const identity = createNodeIdentity({ ...common, nodeName, kubeconfig: join(folder, flags.kubeconfig) });
  const client = createClient(identity.transport, { clock, userAgent: `tart-kubelet/${version}` });
  const pods = createPlayedPods({ ...common, client, nodeName, address });
  const node = createNodeController({
    ...common,
    client,
    config: { ...flags, kubeletVersion: flags.kubeletVersion ?? '', agentVersion: version },
    host: playedFacts(nodeName, address, () => ({ taken: pods.running(), total: flags.vmSlots })),
    stamps,
  });
  const work = async (signal: AbortSignal): Promise<void> => {
    await Promise.race([identity.ready, untilAborted(signal)]);
    await Promise.all([node.run(signal), pods.run(signal)]);
  };
  return {
    /** Runs until `signal` fires. */
    run: async (signal: AbortSignal): Promise<void> => {
      await Promise.all([identity.run(signal), work(signal)]);
    },
  };
};
