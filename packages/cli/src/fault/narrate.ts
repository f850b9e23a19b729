import { type Client, events, isKubeError, type KubeObject, type Live, nodes, type Resource } from '@tartan/kube';
import { sleep, systemClock as clock } from '@tartan/kube/clock';
import { eventLine, nodeLine } from '../up/story.ts';
import type { Voice } from '../up/voice.ts';

const asItIs = (text: string): string => text;
const plain = (say: (line: string) => void): Voice => ({
  say: (line = '') => say(line),
  bold: asItIs,
  dim: asItIs,
  good: asItIs,
  bad: asItIs,
});

/** After an API server that did not answer. */
const againAfterMs = 300;

/** Says what happens to machines, Macs, fleets and Nodes from now on, until the signal fires. What was there before is no news. */
export const narrate = async (client: Client, say: (line: string) => void, signal: AbortSignal): Promise<void> => {
  const voice = plain(say);
  const tell = (line: string | undefined): void => {
    if (line !== undefined) say(line);
  };
  await Promise.all([
    follow(client, events, signal, (_, now) => tell(now && eventLine(now, voice))),
    follow(client, nodes, signal, (before, now) => tell(nodeLine(before, now, voice))),
  ]);
};

/** By a list and a watch, and again after each end of either: an outage may be what is played. */
const follow = async <T extends KubeObject>(
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
      await sleep(clock, againAfterMs, signal);
    }
  }
};
