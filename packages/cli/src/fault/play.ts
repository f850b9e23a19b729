import { type Client, events, isKubeError, type KubeObject, type Live, nodes, type Resource } from '@tartan/kube';
import { sleep, systemClock as clock } from '@tartan/kube/clock';
import { eventLine, nodeLine } from '../up/event-log.ts';
import type { StyledLog } from '../up/live/up-view.ts';
import { CannotPlay, type Fault, type FaultContext } from './fault.ts';

export interface PlayOutcome {
  /** `not playable`: nothing was changed. */
  readonly kind: 'as expected' | 'not playable' | 'unexpected' | 'stopped';
  readonly text: string;
}

/** Plays one fault, and says beside it what happens in the cluster. Never rejects; what was broken is mended when it resolves. */
export const play = async ({ title, watch, play: begin }: Fault, context: FaultContext): Promise<PlayOutcome> => {
  const { simulation, signal } = context;
  // Messages of scripts have several.
  const report = (line: string): void => context.report(line.replaceAll(/\s*\n\s*/g, ' '));
  const over = new AbortController();
  const reporting = reportEvents(simulation.controlPlane.client, report, AbortSignal.any([signal, over.signal]));
  reporting.catch(() => {});
  try {
    report(title);
    report(`Watch it with: ${watch.join(', ')}`);
    return { kind: 'as expected', text: await begin({ ...context, report }) };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (signal.aborted) return { kind: 'stopped', text: 'Stopped. What was broken is repaired.' };
    return { kind: error instanceof CannotPlay ? 'not playable' : 'unexpected', text };
  } finally {
    over.abort();
    await reporting.catch(() => {});
  }
};

const unstyled = (text: string): string => text;
const plainLog = (report: (line: string) => void): StyledLog => ({
  writeLine: (line = '') => report(line),
  bold: unstyled,
  dim: unstyled,
  good: unstyled,
  bad: unstyled,
});

/** After an API server that did not answer. */
const retryAfterMs = 300;

/** Says what happens to machines, Macs, fleets and Nodes from now on, until the signal fires. What was there before is no news. */
const reportEvents = async (client: Client, report: (line: string) => void, signal: AbortSignal): Promise<void> => {
  const log = plainLog(report);
  const reportLine = (line: string | undefined): void => {
    if (line !== undefined) report(line);
  };
  await Promise.all([
    watchObjects(client, events, signal, (_, now) => reportLine(now && eventLine(now, log))),
    watchObjects(client, nodes, signal, (before, now) => reportLine(nodeLine(before, now, log))),
  ]);
};

/** By a list and a watch, and again after each end of either: an outage may be what is played. */
const watchObjects = async <T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  signal: AbortSignal,
  hear: (before: Live<T> | undefined, now: Live<T> | undefined) => void,
): Promise<void> => {
  let known: Map<string, Live<T>> | undefined;
  const keyOf = ({ metadata }: Live<T>): string => `${metadata.namespace}/${metadata.name}`;
  while (!signal.aborted) {
    try {
      const { items, resourceVersion } = await client.list(resource, { signal });
      const now = new Map(items.map((item) => [keyOf(item), item]));
      if (known !== undefined) for (const key of known.keys()) if (!now.has(key)) hear(known.get(key), undefined);
      const isNews = (key: string, { metadata }: Live<T>): boolean =>
        known?.get(key)?.metadata.resourceVersion !== metadata.resourceVersion;
      if (known !== undefined) for (const [key, item] of now) if (isNews(key, item)) hear(known.get(key), item);
      known = now;
      for await (const event of client.watch(resource, { resourceVersion, signal })) {
        if (event.type === 'BOOKMARK') continue;
        const key = keyOf(event.object);
        const gone = event.type === 'DELETED';
        hear(known.get(key), gone ? undefined : event.object);
        if (gone) known.delete(key);
        else known.set(key, event.object);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isKubeError(error)) throw error;
      await sleep(clock, retryAfterMs, signal);
    }
  }
};
