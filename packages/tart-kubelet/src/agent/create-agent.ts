import { join } from 'node:path';
import { createClient, createEventRecorder, createSubresources, countingTransport, type Logger } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { createProcessTable, createTart, tartHome } from '@tartan/tart';
import { agentPaths } from '../agent-paths.ts';
import { createServedApi } from '../api/served-api.ts';
import { createTartFacts } from '../facts/create-tart-facts.ts';
import type { AgentOptions } from '../flags/index.ts';
import { createNodeIdentity } from '../identity/index.ts';
import { createAgentMetrics } from '../metrics/agent-metrics.ts';
import { createNodeController, type HostFacts, macFacts, runCommand, stampsFolder } from '../node/index.ts';
import { agentVersion } from '../release/index.ts';
import { createConsoleSession } from '../session/create-console-session.ts';
import { createStarts } from '../starts/starts.ts';
import { createMachines } from './create-machines.ts';
import { rememberProcesses } from './remembered-processes.ts';

export interface AgentParts {
  readonly options: AgentOptions;
  /** Before every path of the Mac: nothing but on a simulated one. */
  readonly root: string;
  /** What tart gets; where its virtual machines are is said in it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whose console session virtual machines run in: the user that the agent runs as (INC-03). */
  readonly uid: number;
  readonly log: Logger;
}

export interface Agent {
  /** Until `signal` fires. Virtual machines stay on, and the next agent takes them over. */
  run(signal: AbortSignal): Promise<void>;
}

/** What tart really is: the command is a script that leads to it. */
const tartProgram = '/usr/local/lib/tart.app/Contents/MacOS/tart';
/** Written by macOS whenever a guest gets an address. */
const leaseFile = '/var/db/dhcpd_leases';
const clock = systemClock;

/** Everything that the agent is made of: an identity, a Node, virtual machines, and an API by which people reach into them. */
export const createAgent = ({ options, root, env, uid, log }: AgentParts): Agent => {
  const { nodeName } = options;
  const common = { clock, random: Math.random, log };
  const paths = agentPaths(root, options.kubeconfig);
  const identity = createNodeIdentity({ ...common, nodeName, kubeconfig: `${root}${options.kubeconfig}` });
  const metrics = createAgentMetrics({
    clock,
    process: true,
    oldestWaitingSince: () => machines.pods.oldestWaitingSince(),
    pullsUnderWay: () => machines.images.pulls.count(),
    certificates: () => ({ client: identity.lifetime, serving: api.lifetime() }),
  });
  const transport = countingTransport(identity.transport, {
    host: 'kubernetes',
    count: (request) => metrics.request(request),
  });
  const client = createClient(transport, { clock, userAgent: `tart-kubelet/${agentVersion}` });
  const events = createEventRecorder({ client, clock, component: 'tart-kubelet', instance: nodeName, log });

  const tartBinary = `${root}${options.tartBinary}`;
  const tartPaths = [tartBinary, `${root}${tartProgram}`];
  const processes = rememberProcesses(createProcessTable(env), clock);
  const tart = createTart({ path: tartBinary, environment: env, clock, processes });
  const home = tartHome(env);
  const facts = createTartFacts({
    tart,
    tartHome: home,
    processes,
    tartPaths,
    vmSlots: options.vmSlots,
    clock,
    onLook: (found) => metrics.looked(found),
  });
  const mac = macFacts({ options, root, uid, tart: facts, clock });
  let address: string | undefined;
  const starts = createStarts({
    file: paths.starts,
    bootID: async () => (await mac.system(AbortSignal.timeout(bootIDMs))).bootID,
    vmSlots: options.vmSlots,
    changed: () => node.nudge(),
    clock,
    log,
  });
  const host: HostFacts = {
    ...mac,
    vmStart: async () => {
      const vmStart = await starts.verdict();
      metrics.looked({ vmStart });
      return vmStart;
    },
    address: async (signal) => {
      address = await mac.address(signal);
      return address;
    },
  };

  const machines = createMachines({
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
    recentProcesses: () => processes.recent(),
    leases: join(root, leaseFile),
    session: createConsoleSession({ uid, run: runCommand, clock }),
    starts,
    hostIP: () => address,
    disk: mac.disk,
    observer: metrics.pods,
    onCollected: (why) => metrics.collected(why),
  });
  const api = createServedApi({
    ...common,
    client,
    transport,
    nodeName,
    address: () => address,
    port: options.port,
    clientCA: () => identity.cluster?.ca,
    file: paths.servingCertificate,
    runtime: machines.runtime,
    metrics: () => metrics.text(),
    unhealthy: () => undefined,
    onListening: () => node.nudge(),
  });
  const node = createNodeController({
    ...common,
    client,
    wanted: {
      ...options,
      // None unless told: core takes any other version than that of the Machine, which has none then, for a roll that never ends.
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
    await Promise.race([identity.ready, fired(signal)]);
    await Promise.all([node.run(signal), machines.run(signal), api.run(signal)]);
    await events.flush(flushMs);
  };
  return {
    run: async (signal) => {
      // Events are still written when all else has ended.
      const last = new AbortController();
      await Promise.all([identity.run(last.signal), work(signal).finally(() => last.abort())]);
    },
  };
};

const flushMs = 1_000;
const bootIDMs = 10_000;

const fired = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
