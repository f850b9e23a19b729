import { kindNames } from '@tartan/api';
import { type Client, events, type KubeObject, type Live, nodes, type Resource } from '@tartan/kube';
import { type Clock, sleep, systemClock } from '@tartan/kube/clock';
import type { GitHubEvent, SimulatedGitHub } from '@tartan/sim-github';
import { agentOf, readinessOf } from '../cluster/macs.ts';
import { createSilentInformer } from '../cluster/watch-state.ts';
import type { StyledLog } from './live/up-view.ts';

type Event = NonNullable<(typeof events)['ofType']>;
type Node = NonNullable<(typeof nodes)['ofType']>;

const loggedKinds = new Set<string>([kindNames.machine.kind, kindNames.macHost.kind, kindNames.macFleet.kind]);

/** A line for the first occurrence of an event about a machine, a Mac or a fleet. */
export const eventLine = (
  { involvedObject, type, reason, message, count }: Event,
  log: StyledLog,
): string | undefined => {
  if (!loggedKinds.has(involvedObject.kind ?? '') || (count ?? 1) > 1) return undefined;
  const who = involvedObject.name ?? '';
  const what = type === 'Warning' ? log.paint('warn', reason ?? '') : (reason ?? '');
  return logLine(who, `${what}${message ? log.paint('dim', `  ${message}`) : ''}`);
};

const isServerID = (name: string): boolean => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(name);

export const logLine = (who: string, what: string): string =>
  `  ${(isServerID(who) ? `${who.slice(0, 8)}…` : who).padEnd(27)}  ${what}`;

export const nodeLine = (before: Node | undefined, now: Node | undefined, log: StyledLog): string | undefined => {
  const name = (now ?? before)?.metadata?.name ?? '';
  if (now === undefined) return logLine(name, 'its Node was deleted');
  const [wasReady, isReady] = [before, now].map((node) => node !== undefined && readinessOf(node) === 'True');
  const joined = before === undefined ? 'joined: ' : '';
  if (isReady && (!wasReady || agentOf(now) !== (before && agentOf(before))))
    return logLine(name, `${joined}${log.paint('good', `its Node is Ready, with agent ${agentOf(now)}`)}`);
  if (before === undefined) return logLine(name, 'joined: its Node was created');
  return wasReady && !isReady ? logLine(name, log.paint('warn', 'its Node is no longer Ready')) : undefined;
};

/** Logs changes from now on, until the signal fires. Continues after an outage of the API server. */
export const logClusterEvents = async (client: Client, log: StyledLog, signal: AbortSignal): Promise<void> => {
  const write = (line: string | undefined): void => {
    if (line !== undefined) log.writeLine(line);
  };
  await Promise.all([
    watchObjects(client, events, signal, (_, event) => write(event && eventLine(event, log))),
    watchObjects(client, nodes, signal, (before, now) => write(nodeLine(before, now, log))),
  ]);
};

const watchObjects = <T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  signal: AbortSignal,
  onChange: (before: Live<T> | undefined, now: Live<T> | undefined) => void,
): Promise<void> => {
  const informer = createSilentInformer({ client, clock: systemClock }, { resource });
  informer.subscribe((change) => {
    if (!informer.hasSynced) return;
    onChange('previous' in change ? change.previous : undefined, 'object' in change ? change.object : undefined);
  });
  return informer.run(signal);
};

const pollMs = 250;

type Jobs = ReturnType<SimulatedGitHub['jobs']>;

export const jobLine = (
  { type: what, runner = '', job }: GitHubEvent,
  jobs: Jobs,
  log: StyledLog,
): string | undefined => {
  const record = jobs.find(({ id }) => id === job);
  const name = record?.name ?? String(job);
  if (what === 'job started') return logLine(runner, `job ${name} started`);
  if (what === 'job finished')
    return logLine(runner, `job ${name} finished: ${log.paint('good', record?.conclusion ?? 'unknown')}`);
  if (what === 'job lost')
    return logLine(runner, log.paint('warn', `job ${name} is lost: its runner stopped reporting`));
  return undefined;
};

/** Logs jobs from now on, until the signal fires. */
export const logJobs = async (
  github: Pick<SimulatedGitHub, 'history' | 'jobs'>,
  log: StyledLog,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<void> => {
  let logged = github.history.length;
  while (!signal.aborted) {
    for (const event of github.history.slice(logged)) {
      const line = jobLine(event, github.jobs(), log);
      if (line !== undefined) log.writeLine(line);
    }
    logged = github.history.length;
    await sleep(clock, pollMs, signal);
  }
};
