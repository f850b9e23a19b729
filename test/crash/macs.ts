import type { HostSpec } from '@tartan/host';
import { sleep } from '@tartan/kube/clock';
import type { HostJob, HostWork, WorkOutcome } from '../../packages/provider/src/host-work/host-work.ts';
import type { Agents } from './agents.ts';
import { ConnectionCut, type FaultyConnections } from './fault-injection.ts';
import { hostKeyOf, type Mac, newMac, type Part, parts, planFor, summaryOn, wipe } from './mac.ts';

interface PushObserver {
  /** Returns a function to call when the push is over. */
  pushing(mac: Mac, job: HostJob, by: FaultyConnections): () => void;
  agentStarts(mac: Mac, spec: HostSpec): void;
}

export interface MacsOptions {
  readonly agents: Agents;
  readonly alias: (text: string) => string;
  readonly isUp: (mac: Mac) => boolean;
  readonly observer: PushObserver;
  readonly saved: readonly Mac[];
}

/** Macs in memory, which act like real ones over SSH: keys, stamps, steps and an agent. Each part of a push takes time. */
export interface Macs {
  readonly all: readonly Mac[];
  add(id: string, ip: string): Mac;
  get(id: string): Mac;
  /** Scaleway has begun to reinstall it. */
  wiped(id: string): void;
  rebooted(id: string): void;
  /** The Node was deleted. A running agent creates it again. */
  nodeIsGone(name: string): void;
  workOf(connections: FaultyConnections): HostWork;
  save(): readonly Mac[];
}

const tokenIn = /"token": "([a-z0-9]{6})\.([a-z0-9]{16})"/;
/** The duration of each part of a push. */
const partMs = 5_000;

export const createMacs = ({ agents, alias, isUp, observer, saved }: MacsOptions): Macs => {
  const macs = new Map(saved.map((mac) => [mac.id, structuredClone(mac)]));
  const get = (id: string): Mac => {
    const mac = macs.get(id);
    if (mac === undefined) throw new Error(`there is no Mac ${id}`);
    return mac;
  };

  const run = (mac: Mac, spec: HostSpec): void => {
    const { nodeName, agent } = spec;
    const { providerID = '', nodeLabels } = agent;
    mac.agent = { nodeName, providerID, labels: nodeLabels, start: (mac.agent?.start ?? 0) + 1 };
    observer.agentStarts(mac, spec);
    agents.start(mac);
  };
  const change = (mac: Mac, part: Part, job: Converge): void => {
    const { spec, secrets, idle } = job.task;
    mac.stamps = { ...mac.stamps, ...planFor(mac, spec, idle).changes.get(part) };
    if (part === 'handed join credentials') {
      const [, tokenID = '', secret = ''] = tokenIn.exec(secrets.joinKubeconfig ?? '') ?? [];
      mac.join = { tokenID, secret };
      mac.hasIdentity = false;
    }
    if (part === 'running the agent') run(mac, spec);
    else agents.report(mac);
  };

  const converge = async (
    mac: Mac,
    job: Converge,
    by: FaultyConnections,
    signal: AbortSignal,
  ): Promise<WorkOutcome> => {
    const { spec, secrets, idle } = job.task;
    const { install } = mac;
    const { deferred } = planFor(mac, spec, idle);
    const isLost = (): boolean => !isUp(mac) || mac.install !== install;
    for (const part of parts) {
      const mayStartAgain = part === 'running the agent' && mac.join?.tokenID !== undefined && !mac.hasIdentity;
      if (planFor(mac, spec, idle).changes.get(part) === undefined && !mayStartAgain) continue;
      await sleep(by.clock, partMs, signal);
      if (signal.aborted) return { kind: 'aborted' };
      if (isLost()) return unreachable('The connection broke.');
      if (part === 'handed join credentials' && !secrets.joinKubeconfig)
        return {
          kind: 'rejected',
          step: 'join-credentials',
          message: `this host needs the join credentials ${spec.agent.joinVersion}, and none were sent`,
        };
      await by.touch(`${alias(mac.id)} is ${part}`, () => change(mac, part, job));
    }
    const summary = summaryOn(mac);
    mac.reportedHashes.push(summary);
    return { kind: 'done', summary, deferred, optionalFailures: [], rebootPending: false };
  };

  const work = async (mac: Mac, job: HostJob, by: FaultyConnections, signal: AbortSignal): Promise<WorkOutcome> => {
    await sleep(by.clock, partMs, signal);
    if (signal.aborted) return { kind: 'aborted' };
    if (!isUp(mac) || mac.restartsNeeded > 0) return unreachable('Connection refused.');
    const hostKey = hostKeyOf(mac);
    if (job.pinnedHostKey === undefined) {
      const traces = job.retiredHostKeys.includes(hostKey) || Object.keys(mac.stamps).length > 0;
      if (traces) return { kind: 'not wiped', hostKey, message: 'The Mac was not wiped after its last machine.' };
      await job.pin(hostKey);
    } else if (job.pinnedHostKey !== hostKey) {
      return { kind: 'host key changed', message: 'The Mac shows another host key.' };
    }
    const { task } = job;
    if (task.kind === 'roll back')
      return { kind: 'rejected', step: 'agent-job', message: 'There is nothing to put back.' };
    return converge(mac, { ...job, task }, by, signal);
  };

  return {
    get all() {
      return [...macs.values()];
    },
    add: (id, ip) => {
      const mac = newMac(id, ip);
      macs.set(id, mac);
      return mac;
    },
    get,
    wiped: (id) => {
      const mac = get(id);
      const { agent } = mac;
      wipe(mac);
      if (agent) agents.stopReporting(agent);
    },
    rebooted: (id) => {
      const mac = get(id);
      mac.restartsNeeded = Math.max(0, mac.restartsNeeded - 1);
      if (mac.agent === undefined) return;
      mac.agent = { ...mac.agent, start: mac.agent.start + 1 };
      agents.start(mac);
    },
    nodeIsGone: (name) => {
      for (const mac of macs.values()) if (mac.agent?.nodeName === name) agents.report(mac);
    },
    workOf: (by) => ({
      perform: async (job, signal) => {
        const mac = [...macs.values()].find(({ ip }) => job.addresses.some(({ host }) => host === ip));
        if (mac === undefined) return unreachable('There is nobody at that address.');
        const over = observer.pushing(mac, job, by);
        try {
          return await by.deliver(await work(mac, job, by, signal));
        } catch (error) {
          if (error instanceof ConnectionCut) return unreachable('The connection broke.');
          throw error;
        } finally {
          over();
        }
      },
    }),
    save: () => structuredClone([...macs.values()]),
  };
};

type Converge = HostJob & { readonly task: Extract<HostJob['task'], { kind: 'converge' }> };

const unreachable = (message: string): WorkOutcome => ({ kind: 'unreachable', message });
