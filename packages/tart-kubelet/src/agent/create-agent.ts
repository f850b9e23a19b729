import { dirname, join } from 'node:path';
import {
  createClient,
  createEventRecorder,
  createSubresources,
  type Logger,
  untilAborted,
  withRequestMetrics,
} from '@tartan/kube';
import { systemClock, withTimeout } from '@tartan/kube/clock';
import { createProcessTable, createTart, tartHome } from '@tartan/tart';
import { createServerSupervisor } from '../api/server-supervisor.ts';
import type { HostFacts } from '../facts/host-facts.ts';
import { createMacFacts } from '../facts/mac-facts.ts';
import { runCommand } from '../facts/run-command.ts';
import { createTartFacts } from '../facts/tart-facts.ts';
import type { AgentOptions } from '../flags/flags.ts';
import { createNodeIdentity } from '../identity/node-identity.ts';
import { createNodeController } from '../node/controller.ts';
import { stampsFolder } from '../node/stamps.ts';
import { agentVersion } from '../release.ts';
import { createConsoleSession } from '../vm-start/console-session.ts';
import { createStartRecorder } from '../vm-start/start-recorder.ts';
import { createAgentMetrics } from './metrics.ts';
import { createVmSubsystem } from './vm-subsystem.ts';

/** `root` prefixes every path of the Mac: empty except in a simulation. */
const agentPaths = (root: string, kubeconfig: string) => ({
  /** One file per Pod. */
  journal: `${root}/var/lib/tart-kubelet/journal`,
  /** Results of VM starts since the Mac booted. */
  starts: `${root}/var/lib/tart-kubelet/vm-starts.json`,
  /** One file per golden base and image that the agent created. */
  images: `${root}/var/lib/tart-kubelet/images`,
  /** One folder per VM: input for its guest, and the guest's reports. */
  guests: `${root}/var/lib/tart-userdata`,
  logs: `${root}/var/log/tart-vms`,
  /** Certificate and key of the kubelet API. */
  servingCertificate: `${root}${join(dirname(kubeconfig), 'serving-certificate.pem')}`,
});

/** Where the agent keeps persistent state. `packages/host` makes these folders writable for it. */
export type AgentPaths = ReturnType<typeof agentPaths>;

interface AgentDeps {
  readonly options: AgentOptions;
  /** Prefix of every path of the Mac: empty except in a simulation. */
  readonly root: string;
  /** The environment of tart; its TART_HOME is the folder of VMs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user of the console session that VMs run in: the agent's own user (INC-03). */
  readonly uid: number;
  readonly log: Logger;
}

/** The real executable: the `tart` command is a script that calls it. */
const tartProgram = '/usr/local/lib/tart.app/Contents/MacOS/tart';
/** macOS writes it whenever a guest gets an address. */
const leaseFile = '/var/db/dhcpd_leases';
const clock = systemClock;

/** Wires the parts of the agent: node identity, Node, VMs, and the kubelet API. */
export const createAgent = ({ options, root, env, uid, log }: AgentDeps) => {
  const { nodeName } = options;
  const common = { clock, random: Math.random, log };
  const paths = agentPaths(root, options.kubeconfig);
  const identity = createNodeIdentity({ ...common, nodeName, kubeconfig: `${root}${options.kubeconfig}` });
  const metrics = createAgentMetrics({
    clock,
    oldestWaitingSince: () => vms.pods.lister.oldestWaitingSince(),
    pullsInProgress: () => vms.images.pulls.count(),
    certificates: () => ({ client: identity.validity, serving: api.validity() }),
  });
  const transport = withRequestMetrics(identity.transport, {
    host: 'kubernetes',
    count: (request) => metrics.countRequest(request),
  });
  const client = createClient(transport, { clock, userAgent: `tart-kubelet/${agentVersion}` });
  const events = createEventRecorder({ client, clock, component: 'tart-kubelet', instance: nodeName, log });

  const tartBinary = `${root}${options.tartBinary}`;
  const tartPaths = [tartBinary, `${root}${tartProgram}`];
  const processes = createProcessTable(env);
  const tart = createTart({ path: tartBinary, environment: env, clock, processes });
  const home = tartHome(env);
  const facts = createTartFacts({
    tart,
    tartHome: home,
    processes,
    tartPaths,
    vmSlots: options.vmSlots,
    clock,
    onObserved: (found) => metrics.setObserved(found),
  });
  const mac = createMacFacts({ options, root, uid, tart: facts, clock });
  let address: string | undefined;
  const startRecorder = createStartRecorder({
    file: paths.starts,
    bootID: async () => (await withTimeout(clock, bootIDMs, (signal) => mac.system(signal))).bootID,
    vmSlots: options.vmSlots,
    changed: () => node.trigger(),
    clock,
    log,
  });
  const host: HostFacts = {
    ...mac,
    vmStart: async () => {
      const vmStart = await startRecorder.health();
      metrics.setObserved({ vmStart });
      return vmStart;
    },
    address: async (signal) => {
      address = await mac.address(signal);
      return address;
    },
  };

  const vms = createVmSubsystem({
    ...common,
    nodeName,
    agentVersion,
    vmSlots: options.vmSlots,
    maxPods: options.maxPods,
    disableVMGC: options.disableVMGC,
    client,
    tokens: createSubresources(transport, { clock }),
    events,
    paths,
    tart,
    tartHome: home,
    tartPaths,
    processes,
    dhcpLeases: join(root, leaseFile),
    session: createConsoleSession({ uid, run: runCommand, clock }),
    startRecorder,
    hostIP: () => address,
    disk: mac.disk,
    podMetrics: metrics.pods,
    onCollected: (why) => metrics.garbageCollected(why),
  });
  const api = createServerSupervisor({
    ...common,
    client,
    transport,
    nodeName,
    address: () => address,
    port: options.port,
    clientCA: () => identity.cluster?.ca,
    file: paths.servingCertificate,
    runtime: vms.runtime,
    metrics: () => metrics.text(),
    onListening: () => node.trigger(),
  });
  const node = createNodeController({
    ...common,
    client,
    config: {
      ...options,
      // Empty by default: the Machine has no version, and Cluster API would treat any other value as a rollout that never ends.
      kubeletVersion: options.kubeletVersion ?? '',
      agentVersion,
      /** The actual port if the option is 0. */
      get port() {
        return api.port() ?? options.port;
      },
    },
    host,
    stamps: `${root}${stampsFolder}`,
  });

  /** Waits for the node identity, which everything needs; the stop may come first. */
  const work = async (signal: AbortSignal): Promise<void> => {
    await Promise.race([identity.ready, untilAborted(signal)]);
    await Promise.all([node.run(signal), vms.run(signal), api.run(signal)]);
    await events.flush(flushMs);
  };
  return {
    /** Runs until `signal` fires. VMs keep running, and the next agent process adopts them. */
    run: async (signal: AbortSignal) => {
      // Writing the last events still needs the identity.
      const shutdown = new AbortController();
      await Promise.all([identity.run(shutdown.signal), work(signal).finally(() => shutdown.abort())]);
    },
  };
};

const flushMs = 1_000;
const bootIDMs = 10_000;
