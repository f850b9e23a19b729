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

/** `root` comes before every path of the Mac: nothing but on a simulated one. */
const agentPaths = (root: string, kubeconfig: string) => ({
  /** One file for each Pod. */
  journal: `${root}/var/lib/tart-kubelet/journal`,
  /** What became of the starts of virtual machines since the Mac booted. */
  starts: `${root}/var/lib/tart-kubelet/vm-starts.json`,
  /** One file for each golden base and image that the agent made. */
  images: `${root}/var/lib/tart-kubelet/images`,
  /** A folder for each virtual machine: what its guest is given, and what it says. */
  guests: `${root}/var/lib/tart-userdata`,
  logs: `${root}/var/log/tart-vms`,
  /** Of the kubelet API, with its key. */
  servingCertificate: `${root}${join(dirname(kubeconfig), 'serving-certificate.pem')}`,
});

/** Where the agent keeps what must outlive it. `packages/host` makes these folders its own to write. */
export type AgentPaths = ReturnType<typeof agentPaths>;

interface AgentDeps {
  readonly options: AgentOptions;
  /** Before every path of the Mac: nothing but on a simulated one. */
  readonly root: string;
  /** What tart gets; where its virtual machines are is said in it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whose console session virtual machines run in: the user that the agent runs as (INC-03). */
  readonly uid: number;
  readonly log: Logger;
}

/** What tart really is: the command is a script that leads to it. */
const tartProgram = '/usr/local/lib/tart.app/Contents/MacOS/tart';
/** Written by macOS whenever a guest gets an address. */
const leaseFile = '/var/db/dhcpd_leases';
const clock = systemClock;

/** Everything that the agent is made of: an identity, a Node, virtual machines, and an API by which people reach into them. */
export const createAgent = ({ options, root, env, uid, log }: AgentDeps) => {
  const { nodeName } = options;
  const common = { clock, random: Math.random, log };
  const paths = agentPaths(root, options.kubeconfig);
  const identity = createNodeIdentity({ ...common, nodeName, kubeconfig: `${root}${options.kubeconfig}` });
  const metrics = createAgentMetrics({
    clock,
    process: true,
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
      // None by default: Cluster API takes any other version than that of the Machine, which has none then, for a roll that never ends.
      kubeletVersion: options.kubeletVersion ?? '',
      agentVersion,
      /** Any free one was asked for with 0. */
      get port() {
        return api.port() ?? options.port;
      },
    },
    host,
    stamps: `${root}${stampsFolder}`,
  });

  /** Without an identity there is nothing to do; the end may come before it. */
  const work = async (signal: AbortSignal): Promise<void> => {
    await Promise.race([identity.ready, untilAborted(signal)]);
    await Promise.all([node.run(signal), vms.run(signal), api.run(signal)]);
    await events.flush(flushMs);
  };
  return {
    /** Until `signal` fires. Virtual machines stay on, and the next agent takes them over. */
    run: async (signal: AbortSignal) => {
      // Events are still written when all else has ended.
      const shutdown = new AbortController();
      await Promise.all([identity.run(shutdown.signal), work(signal).finally(() => shutdown.abort())]);
    },
  };
};

const flushMs = 1_000;
const bootIDMs = 10_000;
