import { annotations, kindNames } from '@tartan/api';
import { type Client, events, isKubeError, type KubeObject, type Live, nodes, type Resource } from '@tartan/kube';
import { untilNextTry } from '../simulation/passing.ts';
import type { Voice } from './voice.ts';

type Event = NonNullable<(typeof events)['ofType']>;
type Node = NonNullable<(typeof nodes)['ofType']>;

const told = new Set<string>([kindNames.machine.kind, kindNames.macHost.kind, kindNames.macFleet.kind]);

/** One line for what happened to one of ours; none for what is not ours, or was told. */
export const eventLine = (
  { involvedObject, type, reason, message, count }: Event,
  voice: Voice,
): string | undefined => {
  if (!told.has(involvedObject.kind ?? '') || (count ?? 1) > 1) return undefined;
  const who = involvedObject.name ?? '';
  const what = type === 'Warning' ? voice.bad(reason ?? '') : (reason ?? '');
  return lineOf(who, `${what}${message ? voice.dim(`  ${message}`) : ''}`);
};

const isServerID = (name: string): boolean => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(name);

export const lineOf = (who: string, what: string): string =>
  `  ${(isServerID(who) ? `${who.slice(0, 8)}…` : who).padEnd(27)}  ${what}`;

const readiness = (node: Node | undefined): string =>
  node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'not yet';

const agentOf = (node: Node | undefined): string | undefined => node?.metadata?.annotations?.[annotations.agentVersion];

/** What is new about a Node. */
export const nodeLine = (before: Node | undefined, now: Node | undefined, voice: Voice): string | undefined => {
  const name = (now ?? before)?.metadata?.name ?? '';
  if (now === undefined) return lineOf(name, 'its Node is gone');
  const [was, is] = [readiness(before), readiness(now)];
  const joined = before === undefined ? 'joined: ' : '';
  if (is === 'True' && (was !== 'True' || agentOf(now) !== agentOf(before)))
    return lineOf(name, `${joined}${voice.good(`its Node is Ready, with agent ${agentOf(now)}`)}`);
  if (before === undefined) return lineOf(name, 'joined: there is a Node');
  return was === 'True' && is !== 'True' ? lineOf(name, voice.bad('its Node is not Ready any more')) : undefined;
};

/** Tells what happens from now on, until the signal fires. */
export const tellStory = async (client: Client, voice: Voice, signal: AbortSignal): Promise<void> => {
  const known = new Map<string, Node>();
  const say = (line: string | undefined): void => {
    if (line !== undefined) voice.say(line);
  };
  await Promise.all([
    follow(client, events, signal, (_, event) => say(event && eventLine(event, voice))),
    follow(client, nodes, signal, (name, node) => {
      say(nodeLine(known.get(name), node, voice));
      if (node === undefined) known.delete(name);
      else known.set(name, node);
    }),
  ]);
};

const follow = async <T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  signal: AbortSignal,
  hear: (name: string, object: Live<T> | undefined) => void,
): Promise<void> => {
  let resourceVersion: string | undefined;
  while (!signal.aborted) {
    try {
      resourceVersion ??= (await client.list(resource, { signal })).resourceVersion;
      for await (const event of client.watch(resource, { resourceVersion, signal })) {
        if (event.type === 'BOOKMARK') {
          resourceVersion = event.resourceVersion;
          continue;
        }
        resourceVersion = event.object.metadata.resourceVersion;
        hear(event.object.metadata.name, event.type === 'DELETED' ? undefined : event.object);
      }
    } catch (error) {
      if (isKubeError(error, 'expired')) resourceVersion = undefined;
      await untilNextTry(error, signal);
    }
  }
};
